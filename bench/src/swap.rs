//! Swaps under load: policies are replaced while threads decide.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use toolwarden::call::Call;
use toolwarden::invoke::{Decision, FactSource, Judge, State};
use toolwarden::module::{Component, Isolation, PolicyModule};
use toolwarden::registry::{Catalogue, Generation, Registry};
use toolwarden::settings::Settings;

use crate::subject::{OUTSIDE, component};
use crate::table::{Cell, Row};
use crate::timing::{Figure, Plan, nanoseconds};

/// Threads that decide.
const THREADS: usize = 4;
/// Nanoseconds of the swap itself.
const SWAP: f64 = 1_000.0;

/// The rows on swaps.
pub fn rows(plan: Plan) -> Result<Vec<Row>> {
    let component = component(Isolation::Pooled)?;
    let begin = Instant::now();
    let (swaps, load) = under_load(&component, |state| {
        let mut swaps = Vec::new();
        for generation in 1..=plan.swaps {
            let next = judge(&component, generation)?;
            let begin = Instant::now();
            state.replace(black_box(next));
            swaps.push(nanoseconds(begin.elapsed()));
            // Others decide now and then, also where there are few cores.
            thread::yield_now();
        }
        Ok(swaps)
    })?;
    let as_long = begin.elapsed();
    let ((), calm) = under_load(&component, |_| {
        thread::sleep(as_long);
        Ok(())
    })?;
    let swap = Figure::of(swaps).context("nothing was swapped")?;
    let whole = load.lost == 0 && load.mixed == 0;
    let row = |what: String, load: &Load| Row { warm: load.figure.into(), ..Row::new(what) };
    let longest = |what: &str, load: &Load| Row { warm: Figure::single(load.longest).into(), ..Row::new(what) };
    Ok(vec![
        Row { warm: swap.into(), ..Row::new("swap of the policy while 4 threads decide") }
            .reach("<= 1 us", swap.median <= SWAP),
        Row { warm: Cell::Count(load.lost + load.mixed, "decisions"), ..Row::new("decisions lost or mixed meanwhile") }
            .reach("none", whole),
        row(format!("a decision during {} swaps, {} of them", plan.swaps, load.decisions), &load),
        longest("longest decision during swaps", &load),
        row(format!("a decision without swaps, {} of them", calm.decisions), &calm),
        longest("longest decision without swaps", &calm),
    ])
}

/// What threads saw that decided all the time.
struct Load {
    figure: Figure,
    longest: f64,
    decisions: usize,
    /// Decisions that a fault of the module made.
    lost: usize,
    /// Decisions that the policy which signs them would not make.
    mixed: usize,
}

/// Does something to a state while threads decide by it.
fn under_load<T>(component: &Arc<Component>, work: impl FnOnce(&State) -> Result<T>) -> Result<(T, Load)> {
    let call = Call::from_json(OUTSIDE.as_bytes())?;
    let state = State::new(judge(component, 0)?);
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
    let Seen { times, lost, mixed } = all;
    let (decisions, longest) = (times.len(), times.iter().copied().fold(0.0, f64::max));
    let figure = Figure::of(times).context("nothing was decided")?;
    Ok((done?, Load { figure, longest, decisions, lost, mixed }))
}

/// What one thread saw.
#[derive(Default)]
struct Seen {
    times: Vec<f64>,
    lost: usize,
    mixed: usize,
}

impl Seen {
    fn until(stop: &AtomicBool, state: &State, call: &Call) -> Self {
        let mut seen = Self::default();
        while !stop.load(Ordering::Relaxed) {
            let begin = Instant::now();
            let judge = state.current();
            let verdict = judge.judge(black_box(call), FactSource::Record, false).verdict;
            let took: Duration = begin.elapsed();
            seen.times.push(nanoseconds(took));
            let kind = verdict.kind.as_ref().map_or("", |kind| kind.as_str());
            seen.lost += usize::from(kind.starts_with("module-"));
            seen.mixed += usize::from((verdict.decision, kind) != expected(judge.registry().generation().0));
        }
        seen
    }

    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.lost += other.lost;
        self.mixed += other.mixed;
    }
}

/// Every other generation locks shells into the workspace; so a verdict shows which settings made it.
const fn is_locked(generation: u64) -> bool {
    generation % 2 == 1
}

const fn expected(generation: u64) -> (Decision, &'static str) {
    if is_locked(generation) { (Decision::Deny, "cwd-locked") } else { (Decision::Ask, "external-cwd") }
}

fn judge(component: &Arc<Component>, generation: u64) -> Result<Judge> {
    let mut settings = Settings::default();
    settings.make_dangerous();
    if is_locked(generation) {
        settings.lock_cwd();
    }
    let module = Arc::new(PolicyModule::new(Arc::clone(component), &settings.policy_json())?);
    let registry = Registry::build(&*module, Catalogue::builtin(), 0, Generation(generation))?;
    Ok(Judge::new(module, Arc::new(registry), settings.floors))
}
