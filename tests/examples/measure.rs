//! What a policy module costs: `cargo run --release -p toolwarden-harness --example measure -- MODULE SETTINGS`.
//!
//! Prints its size, how long compiling, loading from the cache, a fresh instance and a warm decision take, and the least
//! memory that it decides in. The settings are the file that it is to run under.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use toolwarden::call::Call;
use toolwarden::invoke::{FactSource, Judge};
use toolwarden::module::{CachePolicy, Compilation, Component, Isolation, Limits, PolicyModule};
use toolwarden::registry::Catalogue;
use toolwarden::settings::Settings;
use toolwarden_harness::component;

/// Rounds of a measurement; the median counts.
const ROUNDS: usize = 15;
/// Calls of a round, where a call is short.
const CALLS: u32 = 200;
const MIB: usize = 1 << 20;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let module = arguments.next().context("which module?")?;
    let settings = Settings::load(&arguments.next().context("which settings?")?)?;
    let folder = tempfile::tempdir()?;
    let cache = CachePolicy::Folder(folder.path().join("modules"));
    let load = |limits| Component::from_file_with(&module, limits, &cache);

    let start = Instant::now();
    let first = load(settings.limits)?;
    let compiled = start.elapsed();
    ensure!(first.compilation() == Compilation::Now, "it was compiled before");
    println!("size                {} bytes", first.info().size);
    println!("machine code        {} bytes", cache.report()?.bytes);
    println!("imports             {}", first.info().imports.len());
    println!("compile             {compiled:.1?}");
    println!("cached load         {:.1?}", median(1, || load(settings.limits).map(drop))?);

    let warm = judge(Arc::new(first), &settings)?;
    let call = call()?;
    println!("warm decision       {:.1?}", median(CALLS, || decide(&warm, &call))?);
    let component = load(Limits { isolation: Isolation::PerCall, ..settings.limits })?;
    let fresh = judge(Arc::new(component), &settings)?;
    println!("fresh decision      {:.1?}  (instance, settings and call)", median(5, || decide(&fresh, &call))?);
    println!("least memory        {} MiB", least_memory(&module, &settings, &cache)?);
    println!(
        "least deadline      {} ms (fresh instances and a registry of 1000 tools)",
        least_deadline(&load, &settings)?
    );
    Ok(())
}

fn judge(component: Arc<Component>, settings: &Settings) -> Result<Judge> {
    let module = PolicyModule::new(component, &settings.policy_json())?;
    component::judge(Arc::new(module), Catalogue::builtin(), settings.floors)
}

fn call() -> Result<Call> {
    let record = json!({
        "id": "x", "tool": "Bash", "arguments": { "command": "cargo test --workspace --locked", "cwd": "packages/web" },
        "route": "direct", "attendance": "interactive", "workspace": { "root": "/home/u/repo", "flavour": "posix" },
        "facts": { "resolved": "/home/u/repo/packages/web", "resolvedRoot": "/home/u/repo" },
    });
    Ok(Call::from_json(record.to_string().as_bytes())?)
}

fn decide(judge: &Judge, call: &Call) -> Result<()> {
    let verdict = judge.judge(call, FactSource::Record, false).verdict;
    let kind = verdict.kind.map(|kind| kind.to_string()).unwrap_or_default();
    ensure!(!kind.starts_with("module-"), "{kind}: {}", verdict.reason);
    Ok(())
}

/// Median time of one of so many calls.
fn median<E>(calls: u32, mut run: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (0..calls).try_for_each(|_| run())?;
        times.push(start.elapsed() / calls);
    }
    times.sort_unstable();
    Ok(times[ROUNDS / 2])
}

fn least_memory(module: &Path, settings: &Settings, cache: &CachePolicy) -> Result<usize> {
    let call = call()?;
    let fits = |mib: &usize| {
        let limits = Limits { memory: mib * MIB, ..settings.limits };
        let component = Component::from_file_with(module, limits, cache).map(Arc::new);
        // Many calls, so that a garbage collector has to come round.
        component.is_ok_and(|component| {
            judge(component, settings).is_ok_and(|judge| (0..20_000).all(|_| decide(&judge, &call).is_ok()))
        })
    };
    (2..=settings.limits.memory / MIB).find(fits).context("not even its own settings are enough")
}

fn least_deadline<E: std::error::Error + Send + Sync + 'static>(
    load: &dyn Fn(Limits) -> Result<Component, E>,
    settings: &Settings,
) -> Result<u64> {
    let tool = |number: u32| json!({ "name": format!("tool_{number}"), "inputSchema": { "type": "object" } });
    let tools: Vec<_> = (0..1000).map(tool).collect();
    let list = json!({ "server": "many", "tools": tools }).to_string();
    let fits = |millis: &u64| {
        let limits =
            Limits { deadline: Duration::from_millis(*millis), isolation: Isolation::PerCall, ..settings.limits };
        let Ok(component) = load(limits).map(Arc::new) else { return false };
        let Ok(module) = PolicyModule::new(component, &settings.policy_json()) else { return false };
        let servers = toolwarden::registry::Servers::from_json(list.as_bytes(), None);
        let catalogue = servers.ok().and_then(|servers| Catalogue::with_servers(servers).ok());
        let judge = catalogue.map(|catalogue| component::judge(Arc::new(module), catalogue, settings.floors));
        judge.is_some_and(|judge| judge.is_ok())
    };
    let steps = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000];
    steps.into_iter().find(fits).context("five seconds are not enough")
}
