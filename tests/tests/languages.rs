//! The example policies in JavaScript and Python, each with vectors of its own, and all the cwd vectors: an example may be
//! stricter than the default module, never looser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use toolwarden::call::Call;
use toolwarden::invoke::{Decision, FactSource, Floors, Judge};
use toolwarden::lifecycle::{NoLifecycleEvents, Origin, Reloader, ReloaderOptions};
use toolwarden::module::{
    CachePolicy, Component, ConfigureError, CwdClass, Isolation, Limits, Policy, PolicyModule, Wasi,
};
use toolwarden::registry::Catalogue;
use toolwarden::settings::Settings;
use toolwarden_harness::{component, languages, vectors};

/// An example, as its own settings have it.
struct Example {
    language: &'static str,
    path: PathBuf,
    limits: Limits,
}

impl Example {
    fn of(language: &'static str) -> Option<Self> {
        let work = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = languages::component(language, work).unwrap()?;
        let settings = Settings::load(&languages::folder(language).join("toolwarden.toml")).unwrap();
        Some(Self { language, path, limits: settings.limits })
    }

    fn load(&self, limits: Limits) -> Result<Arc<Component>, toolwarden::module::LoadError> {
        let cache = CachePolicy::Folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules"));
        Component::from_file_with(&self.path, limits, &cache).map(Arc::new)
    }

    fn rows(&self, name: &str) -> Vec<Value> {
        let folder = languages::folder(self.language).join("vectors").join(name);
        vectors::rows(folder.to_str().unwrap()).unwrap()
    }
}

fn policy(component: &Arc<Component>, settings: &Value) -> Arc<dyn Policy> {
    component::configured(Arc::clone(component), &component::settings(settings).unwrap()).unwrap()
}

/// Verdicts on rows of gate vectors, and what is wrong with them.
fn verdicts(component: &Arc<Component>, rows: &[Value]) -> (Vec<Value>, Vec<String>) {
    let mut policies: BTreeMap<String, Arc<dyn Policy>> = BTreeMap::new();
    let verdict = |row: &Value| {
        let settings = component::settings(&row["settings"]).unwrap();
        let policy = policies.entry(row["settings"].to_string()).or_insert_with(|| policy(component, &row["settings"]));
        let judge = component::judge(Arc::clone(policy), vectors::catalogue(row).unwrap(), settings.floors).unwrap();
        component::verdict(&judge, &vectors::gate_record(row)).unwrap()
    };
    let verdicts: Vec<Value> = rows.iter().map(verdict).collect();
    let wrong = rows.iter().zip(&verdicts).filter_map(|(row, verdict)| vectors::mismatch(row, verdict)).collect();
    (verdicts, wrong)
}

fn judge(component: &Arc<Component>) -> Judge {
    component::judge(policy(component, &json!({})), Catalogue::builtin(), Floors::default()).unwrap()
}

fn cwds(judge: &Judge, rows: &[Value]) -> Vec<Value> {
    let cwd = |row: &Value| component::verdict(judge, &vectors::cwd_record(row)).unwrap()["cwd"].clone();
    rows.iter().map(cwd).collect()
}

fn class(judged: &Value) -> CwdClass {
    match judged["class"].as_str().unwrap() {
        "inside" => CwdClass::Inside,
        "skill" => CwdClass::Skill,
        "outside" => CwdClass::Outside,
        "invalid" => CwdClass::Invalid,
        other => panic!("{other}"),
    }
}

fn all_hold(example: &Example) {
    let loaded = example.load(example.limits).unwrap();
    let gate = example.rows("gate");
    let (verdicts_once, wrong) = verdicts(&loaded, &gate);
    assert!(wrong.is_empty() && gate.len() >= 10, "{}:\n{}", example.language, wrong.join("\n"));

    // Its own rows exactly, everybody's rows no looser.
    let judge_once = judge(&loaded);
    let (own, all) = (example.rows("cwd"), vectors::rows("cwd").unwrap());
    let expected: Vec<Value> = own.iter().map(|row| row["expect"].clone()).collect();
    assert_eq!(cwds(&judge_once, &own), expected);
    let judged = cwds(&judge_once, &all);
    let looser: Vec<String> = all
        .iter()
        .zip(&judged)
        .filter(|(row, judged)| class(judged) > class(&row["expect"]))
        .map(|(row, judged)| format!("{row}: {judged}"))
        .collect();
    assert!(looser.is_empty() && all.len() >= 174, "{}", looser.join("\n"));
    // A module that calls everything outside would pass that, too.
    assert!(judged.iter().filter(|cwd| class(cwd) == CwdClass::Inside).count() >= 25);

    // Another instance, and a fresh one for every call, in the other order, give equal answers.
    let fresh = example.load(Limits { isolation: Isolation::PerCall, ..example.limits }).unwrap();
    for other in [&loaded, &fresh] {
        let backwards: Vec<Value> = gate.iter().rev().cloned().collect();
        let (mut verdicts_again, _) = verdicts(other, &backwards);
        verdicts_again.reverse();
        assert_eq!(verdicts_once, verdicts_again);
        let some: Vec<Value> = all.iter().step_by(7).cloned().collect();
        let once: Vec<Value> = judged.iter().step_by(7).cloned().collect();
        assert_eq!(cwds(&judge(other), &some), once);
    }
    settings_are_read_to_the_key(&loaded);
    explains(&judge_once);
}

fn settings_are_read_to_the_key(loaded: &Arc<Component>) {
    let rows = [
        (json!({ "module": { "settings": { "dney": [] } } }), "/module/settings/dney"),
        (json!({ "module": { "settings": { "deny": "x" } } }), "/module/settings/deny"),
        (json!({ "module": { "settings": { "ask": ["x", 5] } } }), "/module/settings/ask/1"),
        (json!({ "module": { "settings": { "a/~b": 1 } } }), "/module/settings/a~1~0b"),
        (json!({ "rules": [] }), "/rules"),
    ];
    for (settings, pointer) in rows {
        let settings = component::settings(&settings).unwrap().policy_json();
        match PolicyModule::new(Arc::clone(loaded), &settings) {
            Err(ConfigureError::Rejected(issues)) => {
                assert_eq!(issues.iter().map(|i| i.pointer.as_str()).collect::<Vec<_>>(), [pointer]);
            }
            other => panic!("{settings}: {other:?}"),
        }
    }
}

fn explains(judge: &Judge) {
    let record = json!({
        "id": "x", "tool": "Bash", "arguments": { "command": "ls", "cwd": "/etc" }, "route": "direct",
        "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
    });
    let call = toolwarden::call::Call::from_json(record.to_string().as_bytes()).unwrap();
    let judged = judge.judge(&call, toolwarden::invoke::FactSource::Record, true);
    let text = format!("{judged:?}");
    for rule in ["rule-deny", "unknown-tool", "external-cwd"] {
        assert!(text.contains(rule), "{rule}: {text}");
    }
}

#[test]
fn javascript() {
    let Some(example) = Example::of("javascript") else { return };
    let loaded = example.load(Limits { wasi: Wasi::Refused, ..example.limits }).unwrap();
    assert_eq!(loaded.info().imports, Vec::<String>::new());
    assert_eq!(example.limits.wasi, Wasi::Refused);
    all_hold(&example);
}

#[test]
fn python() {
    let Some(example) = Example::of("python") else { return };
    let error = example.load(Limits { wasi: Wasi::Refused, ..example.limits }).unwrap_err();
    assert_eq!(error.code(), "module-imports");
    assert!(error.to_string().contains("allowInertWasi = true"), "{error}");
    let loaded = example.load(Limits { wasi: Wasi::Inert, ..example.limits }).unwrap();
    assert!(loaded.info().imports.iter().all(|name| name.starts_with("wasi:")) && !loaded.info().imports.is_empty());
    all_hold(&example);
}

/// One host, one module after the other, while a thread decides all the time: each passes the host's gate, and every decision
/// is somebody's.
#[test]
fn every_example_is_swapped_into_one_running_host() {
    let examples: Vec<Example> = ["cedar", "javascript", "python"].into_iter().filter_map(Example::of).collect();
    if examples.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwarden.toml");
    std::fs::write(&file, "").unwrap();
    let options = ReloaderOptions {
        catalogue: Catalogue::builtin(),
        context_window: 0,
        cache: CachePolicy::Folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules")),
    };
    let reloader = Reloader::start(Origin::file(&file), options, Arc::new(NoLifecycleEvents)).unwrap();
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let decides = scope.spawn(|| {
            let call = json!({
                "id": "c", "tool": "Bash", "arguments": { "command": "ls", "cwd": "src" }, "route": "direct",
                "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
            });
            let call = Call::from_json(call.to_string().as_bytes()).unwrap();
            let mut seen = BTreeMap::new();
            while !stop.load(Ordering::Relaxed) {
                let judge = reloader.state().current();
                let verdict = judge.judge(&call, FactSource::Record, false).verdict;
                assert_eq!(verdict.decision, Decision::Allow, "{} by {}", verdict.reason, judge.policy().name);
                *seen.entry(judge.policy().name.clone()).or_insert(0_u64) += 1;
            }
            seen
        });
        for example in &examples {
            let text = std::fs::read_to_string(languages::folder(example.language).join("toolwarden.toml")).unwrap();
            let placed = text.lines().map(|line| {
                if line.starts_with("path = ") {
                    format!("path = '{}'\n", example.path.display())
                } else {
                    format!("{line}\n")
                }
            });
            std::fs::write(&file, placed.collect::<String>()).unwrap();
            let before = reloader.state().current().policy().generation;
            reloader.reload().unwrap_or_else(|refusal| panic!("{}: {refusal}", example.language));
            let after = reloader.state().current();
            assert!(after.policy().generation > before);
            // Somebody has decided by it before the next one comes.
            while Arc::strong_count(&after) < 3 && !decides.is_finished() {
                std::thread::yield_now();
            }
        }
        stop.store(true, Ordering::Relaxed);
        decides.join().unwrap()
    });
    assert_eq!(seen.len(), examples.len() + 1, "{seen:?}");
}
