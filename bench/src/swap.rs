//! Swaps under load: policies are replaced while threads decide.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use cpu_time::ThreadTime;
use toolwarden::call::Call;
use toolwarden::invoke::{Decision, FactSource, Floors, Judge, State};
use toolwarden::module::{Component, Isolation, Limits, PolicyModule};
use toolwarden::registry::{Catalogue, Generation, Registry};
use toolwarden::settings::Settings;

use crate::subject::{OUTSIDE, component};
use crate::table::{Cell, Row};
use crate::timing::{Figure, Plan, nanoseconds};

/// Threads that decide.
const THREADS: usize = 8;
/// A decision is long when it takes as much processor time as so many ordinary ones. By the clock many are: there are more
/// threads than cores, and each waits its turn.
const LONG: f64 = 10.0;
/// Long decisions that happen without any swap, as one in so many: interrupts and page faults are somebody's processor time.
const RARE: f64 = 1.0 / 10_000.0;
/// A module that asks about everything: it answers otherwise than the default one.
static OTHER: &[u8] = include_bytes!("../../tests/guests/habits.wasm");
/// Nanoseconds of the swap itself.
const SWAP: f64 = 1_000.0;

/// The rows on swaps.
pub fn rows(plan: Plan) -> Result<Vec<Row>> {
    let modules = Modules::load()?;
    let begin = Instant::now();
    let (swaps, load) = under_load(&modules, |state| {
        let mut swaps = Vec::new();
        for generation in 1..=plan.swaps {
            let next = modules.judge(generation)?;
            let begin = Instant::now();
            state.replace(black_box(next));
            swaps.push(nanoseconds(begin.elapsed()));
            // Others decide now and then, also where there are few cores.
            thread::yield_now();
        }
        Ok(swaps)
    })?;
    let as_long = begin.elapsed();
    let ((), calm) = under_load(&modules, |_| {
        thread::sleep(as_long);
        Ok(())
    })?;
    let swap = Figure::of(swaps).context("nothing was swapped")?;
    let whole = load.lost == 0 && load.mixed == 0;
    let row = |what: String, load: &Load| Row { warm: load.figure.into(), ..Row::new(what) };
    let long = |what: &str, load: &Load| Row {
        warm: Cell::Count(load.long, "decisions"),
        ..Row::new(format!("decisions as long as ten ordinary ones, {what}"))
    };
    let as_rare = load.share_of_long() <= calm.share_of_long().max(RARE);
    Ok(vec![
        Row { warm: swap.into(), ..Row::new(format!("swap of the module while {THREADS} threads decide")) }
            .reach("<= 1 us", swap.median <= SWAP),
        Row { warm: Cell::Count(load.lost + load.mixed, "decisions"), ..Row::new("decisions lost or mixed meanwhile") }
            .reach("none", whole),
        row(format!("a decision during {} swaps, {} of them", plan.swaps, load.decisions), &load),
        row(format!("a decision without swaps, {} of them", calm.decisions), &calm),
        long("during swaps", &load).reach("<= without, or 0.01 %", as_rare),
        long("without swaps", &calm),
    ])
}

/// What threads saw that decided all the time.
struct Load {
    figure: Figure,
    decisions: usize,
    /// Decisions that took as much processor time as ten ordinary ones.
    long: usize,
    /// Decisions that a fault of the module made.
    lost: usize,
    /// Decisions that the policy which signs them would not make.
    mixed: usize,
}

impl Load {
    #[allow(clippy::cast_precision_loss, reason = "counts of what a benchmark does")]
    fn share_of_long(&self) -> f64 {
        self.long as f64 / self.decisions as f64
    }
}

/// Does something to a state while threads decide by it.
fn under_load<T>(modules: &Modules, work: impl FnOnce(&State) -> Result<T>) -> Result<(T, Load)> {
    let call = Call::from_json(OUTSIDE.as_bytes())?;
    let state = State::new(modules.judge(0)?);
    let stop = AtomicBool::new(false);
    let (done, threads) = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| Seen::until(&stop, &state, &call))).collect();
        let done = work(&state);
        stop.store(true, Ordering::Relaxed);
        let seen: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        (done, seen)
    });
    let mut all = Seen::default();
    for seen in threads {
        all.add(seen.map_err(|_| anyhow!("a thread that decides panicked"))?);
    }
    let Seen { times, processor, lost, mixed } = all;
    let decisions = times.len();
    let figure = Figure::of(times).context("nothing was decided")?;
    let ordinary = Figure::of(processor.clone()).context("nothing was decided")?.median;
    let long = processor.iter().filter(|&&took| took > LONG * ordinary).count();
    Ok((done?, Load { figure, decisions, long, lost, mixed }))
}

/// What one thread saw.
#[derive(Default)]
struct Seen {
    /// By the clock.
    times: Vec<f64>,
    /// Of the thread's processor time.
    processor: Vec<f64>,
    lost: usize,
    mixed: usize,
}

impl Seen {
    fn until(stop: &AtomicBool, state: &State, call: &Call) -> Self {
        let mut seen = Self::default();
        while !stop.load(Ordering::Relaxed) {
            let (begin, worked) = (Instant::now(), ThreadTime::now());
            let judge = state.current();
            let verdict = judge.judge(black_box(call), FactSource::Record, false).verdict;
            let (worked, took) = (worked.elapsed(), begin.elapsed());
            seen.times.push(nanoseconds(took));
            seen.processor.push(nanoseconds(worked));
            let kind = verdict.kind.as_ref().map_or("", |kind| kind.as_str());
            seen.lost += usize::from(kind.starts_with("module-"));
            seen.mixed += usize::from((verdict.decision, kind) != expected(judge.registry().generation().0));
        }
        seen
    }

    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.processor.extend(other.processor);
        self.lost += other.lost;
        self.mixed += other.mixed;
    }
}

/// Every other generation is the other module's, so a verdict shows which module made it.
const fn is_other(generation: u64) -> bool {
    generation % 2 == 1
}

const fn expected(generation: u64) -> (Decision, &'static str) {
    if is_other(generation) { (Decision::Ask, "habit") } else { (Decision::Ask, "external-cwd") }
}

/// Two modules that answer differently.
struct Modules {
    default: Arc<Component>,
    other: Arc<Component>,
}

impl Modules {
    fn load() -> Result<Self> {
        let other = Component::from_bytes(OTHER, Limits::default())?;
        Ok(Self { default: component(Isolation::Pooled)?, other: Arc::new(other) })
    }

    /// A judge as a reload makes it: with as many instances as there are threads that may ask at once.
    fn judge(&self, generation: u64) -> Result<Judge> {
        let mut settings = Settings::default();
        settings.make_dangerous();
        let (component, settings) = if is_other(generation) {
            (&self.other, r#"{"module":{"settings":{"habit":"asks-always"}}}"#.to_owned())
        } else {
            (&self.default, settings.policy_json())
        };
        let module = PolicyModule::new(Arc::clone(component), &settings)?;
        module.prepare(u32::try_from(THREADS)?);
        let module = Arc::new(module);
        let registry = Registry::build(&*module, Catalogue::builtin(), 0, Generation(generation))?;
        Ok(Judge::new(module, Arc::new(registry), Floors::default()))
    }
}
