//! One decision: the gate of a call, the class of its cwd, a line of `decide`.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use toolwarden::call::Call;
use toolwarden::invoke::{FactSource, Judge};
use toolwarden::module::{Isolation, Policy, PolicyModule};
use toolwarden_harness::native::{self, NativePolicy};
use toolwarden_policy as policy;

use crate::machine::Machine;
use crate::subject::{LINE, Subject};
use crate::table::{Cell, Row};
use crate::timing::{Figure, Measurement, Plan, Timed, samples, turns};

/// Nanoseconds of a warm gate.
const WARM: f64 = 2_000.0;
/// Times that a warm gate may take as long as the native function.
const RATIO: f64 = 3.0;
/// Nanoseconds of a warm line.
const LINE_NS: f64 = 6_000.0;

/// The rows on single decisions.
pub fn rows(subject: &Subject, machine: &Machine, plan: Plan) -> Result<Vec<Row>> {
    let ways = Ways::new(subject)?;
    ways.check(subject)?;
    let mut rows = gate(subject, &ways, machine, plan)?;
    rows.push(classify(subject, &ways, plan)?);
    rows.push(line(subject, &ways, plan)?);
    Ok(rows)
}

/// The ways to ask.
struct Ways {
    warm: Arc<PolicyModule>,
    fresh: Arc<PolicyModule>,
    /// The native functions behind the host's own trait.
    native: Arc<NativePolicy>,
    /// The native functions as they are.
    bare: policy::Module,
}

impl Ways {
    fn new(subject: &Subject) -> Result<Self> {
        let mut bare = policy::Module::new();
        bare.configure(subject.settings()).ok().context("the native policy does not take the settings")?;
        Ok(Self {
            warm: subject.policy(Isolation::Pooled)?,
            fresh: subject.policy(Isolation::PerCall)?,
            native: Arc::new(NativePolicy::new(subject.settings())?),
            bare,
        })
    }

    /// All ways must answer alike: a shorter policy would be a faster one.
    fn check(&self, subject: &Subject) -> Result<()> {
        let question = subject.question();
        let answer = self.native.is_approval_gated(&question)?;
        let texts = native::texts(&question);
        let bare = self.bare.is_approval_gated(&native::invocation(&question, &texts));
        ensure!(bare.effect == policy::Effect::Free, "the native function does not let the call through");
        let cwd = (question.call_arguments.get("cwd"), question.workspace, &question.facts.cwd);
        let place = self.native.classify_cwd(cwd.0, cwd.1, cwd.2, false)?;
        ensure!(answer.cwd == Some(place.judgement), "the gate and the class of the cwd differ");
        let inside = Some(policy::CwdJudgement::INSIDE);
        ensure!(native_cwd(&native::invocation(&question, &texts)) == inside, "the native class is not `inside`");
        for module in [&self.warm, &self.fresh] {
            ensure!(module.is_approval_gated(&question)? == answer, "module and native functions gate differently");
            ensure!(module.classify_cwd(cwd.0, cwd.1, cwd.2, false)? == place, "they class the cwd differently");
        }
        Ok(())
    }
}

fn gate(subject: &Subject, ways: &Ways, machine: &Machine, plan: Plan) -> Result<Vec<Row>> {
    let question = subject.question();
    let ask = |policy: &dyn Policy| policy.is_approval_gated(black_box(&question)).context("no answer");
    let texts = native::texts(&question);
    let invocation = native::invocation(&question, &texts);
    let [bare, native, warm, fresh] = turns(
        [
            Measurement::call(|| Ok(ways.bare.is_approval_gated(black_box(&invocation)))),
            Measurement::call(|| ask(&*ways.native)),
            Measurement::call(|| ask(&*ways.warm)),
            Measurement::call(|| ask(&*ways.fresh)),
        ],
        plan,
    )?;
    let cold = cold(plan, || {
        let policy = subject.compiled()?;
        Ok((ask(&*policy)?, policy))
    })?;
    let most_fresh = if machine.pagemap_scan { 8.0 } else { 25.0 };
    let ratio = |of: &Timed| Cell::Ratio(of.multiple_of(&bare));
    let multiple = warm.multiple_of(&bare);
    let (fresh_ratio, warm_ratio, native_ratio) = (ratio(&fresh), ratio(&warm), ratio(&bare));
    let (warm_ns, fresh_ns) = (warm.figure.median, fresh.figure.median);
    Ok(vec![
        Row {
            cold: cold.into(),
            warm: warm.into(),
            native: bare.into(),
            ..Row::new("gate of a Bash call, cwd and all")
        }
        .reach("warm <= 2 us", warm_ns <= WARM),
        Row { fresh: fresh.into(), ..Row::new("gate with an instance per call") }
            .reach(format!("fresh <= {most_fresh} us"), fresh_ns <= most_fresh * 1e3),
        Row { fresh: fresh_ratio, warm: warm_ratio, native: native_ratio, ..Row::new("gate as a multiple of native") }
            .reach("warm <= 3 x", multiple <= RATIO),
        Row { native: native.into(), ..Row::new("gate behind the host's trait") },
    ])
}

fn classify(subject: &Subject, ways: &Ways, plan: Plan) -> Result<Row> {
    let question = subject.question();
    let cwd = question.call_arguments.get("cwd");
    let texts = native::texts(&question);
    let invocation = native::invocation(&question, &texts);
    let ask = |policy: &dyn Policy| {
        policy.classify_cwd(black_box(cwd), question.workspace, &question.facts.cwd, false).context("no answer")
    };
    let [native, warm, fresh] = turns(
        [
            Measurement::call(|| native_cwd(black_box(&invocation)).context("no cwd")),
            Measurement::call(|| ask(&*ways.warm)),
            Measurement::call(|| ask(&*ways.fresh)),
        ],
        plan,
    )?;
    let cold = cold(plan, || {
        let policy = subject.compiled()?;
        Ok((ask(&*policy)?, policy))
    })?;
    Ok(Row {
        cold: cold.into(),
        fresh: fresh.into(),
        warm: warm.into(),
        native: native.into(),
        ..Row::new("class of its cwd alone")
    })
}

/// The native class of the cwd of a call.
fn native_cwd(call: &policy::Invocation) -> Option<policy::CwdJudgement> {
    let cwd = call.arguments.iter().find(|argument| argument.name == "cwd")?;
    Some(policy::classify_cwd(*cwd, &call.workspace, &call.facts.cwd, &mut policy::Trail::off()))
}

fn line(subject: &Subject, ways: &Ways, plan: Plan) -> Result<Row> {
    let [native, warm, fresh] =
        [subject.judge(ways.native.clone())?, subject.judge(ways.warm.clone())?, subject.judge(ways.fresh.clone())?];
    let [native, warm, fresh] = turns([decide(&native), decide(&warm), decide(&fresh)], plan)?;
    let cold = cold(plan, || {
        let judge = subject.judge(subject.compiled()?)?;
        let mut out = Vec::new();
        answer(&judge, &mut out)?;
        Ok((judge, out))
    })?;
    let warm_ns = warm.figure.median;
    let row = Row {
        cold: cold.into(),
        fresh: fresh.into(),
        warm: warm.into(),
        native: native.into(),
        ..Row::new("a line of `decide`, JSON to JSON")
    };
    Ok(row.reach("warm <= 6 us", warm_ns <= LINE_NS))
}

fn decide(judge: &Judge) -> Measurement<'_> {
    let mut out = Vec::with_capacity(1 << 10);
    Measurement::call(move || {
        out.clear();
        answer(judge, &mut out)?;
        Ok(black_box(out.len()))
    })
}

/// What `decide` does with one line.
fn answer(judge: &Judge, out: &mut Vec<u8>) -> Result<()> {
    let call = Call::from_json(black_box(LINE).as_bytes())?;
    let judged = judge.judge(&call, FactSource::Record, false);
    serde_json::to_writer(&mut *out, &judged.verdict.record(&call.id, judge.policy()))?;
    out.push(b'\n');
    Ok(())
}

/// A decision with the module compiled for it.
fn cold<T>(plan: Plan, mut decide: impl FnMut() -> Result<T>) -> Result<Figure> {
    let [figure] = samples([Measurement::prepared(|| (), |()| decide())], plan)?;
    Ok(figure)
}
