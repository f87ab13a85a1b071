//! A module's life: what is put in force, what is refused, and what is taken back.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolwarden::call::Call;
use toolwarden::invoke::{Decision, FactSource};
use toolwarden::lifecycle::{LifecycleEvent, Origin, Reload, Reloader, ReloaderOptions, Safety, Watch, WatchOptions};
use toolwarden::module::CachePolicy;
use toolwarden::registry::Catalogue;
use toolwarden::signature::SigningKey;
use toolwarden_harness::{guests, vectors};

/// A folder with settings and a module, and a reloader over it.
struct Service {
    folder: tempfile::TempDir,
    events: Mutex<Receiver<Value>>,
    reloader: Arc<Reloader>,
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn habits() -> Vec<u8> {
    guests::load("habits").unwrap()
}

fn default_module() -> Vec<u8> {
    std::fs::read(vectors::folder().join("../policy-guest/dist/toolwarden-policy.wasm")).unwrap()
}

/// The same module with other bytes: a custom section more.
fn variant(mut module: Vec<u8>, mark: u8) -> Vec<u8> {
    module.extend([0, 3, 1, b'x', mark]);
    module
}

impl Service {
    fn start(settings: &str, files: &[(&str, &[u8])]) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            write(folder.path(), name, bytes);
        }
        let settings = write(folder.path(), "toolwarden.toml", settings);
        let (told, events) = channel();
        let sink = move |event: &LifecycleEvent| {
            let _ = told.send(serde_json::to_value(event).unwrap());
        };
        let options = ReloaderOptions { catalogue: Catalogue::builtin(), context_window: 0, cache: CachePolicy::Off };
        let reloader =
            Reloader::start(Origin::file(&settings), options, Arc::new(sink)).map_err(|refusal| refusal.to_string())?;
        Ok(Self { folder, events: Mutex::new(events), reloader })
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        write(self.folder.path(), name, bytes)
    }

    /// The next event. It comes, or the test fails.
    fn event(&self) -> Value {
        self.events.lock().unwrap().recv_timeout(Duration::from_mins(2)).unwrap()
    }

    fn quiet(&self) {
        assert_eq!(self.events.lock().unwrap().try_recv().ok(), None);
    }

    fn refused(&self, code: &str) {
        let kept = self.digest();
        assert_eq!(self.reloader.reload().map_err(|refusal| refusal.code), Err(code));
        let event = self.event();
        assert_eq!((&event["event"], &event["refusal"]["code"]), (&json!("module-refused"), &json!(code)));
        assert_eq!(event["kept"]["digest"], json!(kept));
        assert_eq!(self.reloader.refusal().unwrap().code, code);
        assert_eq!(self.digest(), kept, "the one before stays");
    }

    fn swapped(&self, cause: &str) {
        let event = self.event();
        assert_eq!((&event["event"], &event["cause"]), (&json!("module-swapped"), &json!(cause)), "{event}");
    }

    fn digest(&self) -> String {
        self.reloader.state().current().policy().digest.clone()
    }

    fn generation(&self) -> u64 {
        self.reloader.state().current().policy().generation.0
    }

    fn decide(&self, command: &str) -> (Decision, String) {
        let call = json!({
            "id": "c", "tool": "Bash", "arguments": { "command": command }, "route": "direct",
            "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
        });
        let call = Call::from_json(call.to_string().as_bytes()).unwrap();
        let verdict = self.reloader.state().current().judge(&call, FactSource::Record, false).verdict;
        (verdict.decision, verdict.kind.map(|kind| kind.to_string()).unwrap_or_default())
    }
}

fn with_habit(habit: &str) -> String {
    format!("module.path = 'm.wasm'\nmodule.settings.habit = '{habit}'\n")
}

#[test]
fn a_module_is_swapped_and_rolled_back() {
    let service = Service::start("module.path = 'm.wasm'", &[("m.wasm", &habits())]).unwrap();
    let first = service.digest();
    assert_eq!((service.generation(), service.reloader.reload().unwrap()), (1, Reload::Unchanged));

    service.write("m.wasm", default_module());
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(to) if to.generation.0 == 2));
    service.swapped("reload");
    assert_ne!(service.digest(), first);

    // Back is forward: another generation, so that no grant and no record of the old one is mistaken for one of the new.
    let back = service.reloader.rollback().unwrap();
    service.swapped("rollback");
    assert_eq!((back.generation.0, back.digest.as_str()), (3, first.as_str()));
    // The file that was left still lies there, and does not come back by itself.
    assert_eq!(service.reloader.reload().unwrap(), Reload::Unchanged);
    assert_eq!(service.digest(), first);
    // Another one does.
    service.write("m.wasm", variant(default_module(), 1));
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");
    assert_eq!(service.reloader.rollback().unwrap().digest, first);
    service.swapped("rollback");
    assert_eq!(service.reloader.rollback().unwrap_err().code, "nothing-before");
}

#[test]
fn settings_go_through_the_same_gate() {
    let service = Service::start("", &[]).unwrap();
    assert_eq!(service.decide("ls").0, Decision::Allow);
    service.write("toolwarden.toml", "[[rules]]\ntool = 'Bash'\ndecision = 'ask'\n");
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");
    assert_eq!(service.decide("ls"), (Decision::Ask, "rule-ask".into()));
    for (text, code) in [
        ("[[rules]]\ntool = 'Bash'\ndecision = 'perhaps'\n", "settings-rejected"),
        ("[system]\ntoolApprovalMode = 'on'\n", "settings-invalid"),
        ("[[rules]\n", "settings-invalid"),
        ("module.path = 'none.wasm'\n", "module-unreadable"),
        ("", "settings-empty"),
        ("# all gone\n\n", "settings-empty"),
    ] {
        service.write("toolwarden.toml", text);
        service.refused(code);
        assert_eq!(service.decide("ls"), (Decision::Ask, "rule-ask".into()));
    }
    std::fs::remove_file(service.folder.path().join("toolwarden.toml")).unwrap();
    service.refused("settings-invalid");
}

#[test]
fn whatever_is_no_good_module_leaves_the_old_one_in_force() {
    let service = Service::start("module.path = 'm.wasm'", &[("m.wasm", &default_module())]).unwrap();
    let path = service.folder.path().join("m.wasm");
    let whole = default_module();
    for length in [0, 7, 9, 100, whole.len() / 2, whole.len() - 1] {
        service.write("m.wasm", &whole[..length]);
        service.refused("module-not-a-component");
    }
    // A header alone is a component with nothing in it.
    service.write("m.wasm", &whole[..8]);
    service.refused("module-missing-interface");
    for (guest, code) in [
        ("imports-wasi", "module-imports"),
        ("wrong-contract", "module-wrong-contract"),
        ("missing-function", "module-missing-functions"),
    ] {
        service.write("m.wasm", guests::load(guest).unwrap());
        service.refused(code);
    }
    std::fs::remove_file(&path).unwrap();
    service.refused("module-unreadable");
    std::fs::create_dir(&path).unwrap();
    service.refused("module-unreadable");
}

#[test]
fn what_the_host_insists_on_is_seen_before_a_module_is_in_force() {
    let service = Service::start("module.path = 'm.wasm'", &[("m.wasm", &habits())]).unwrap();
    for (habit, code) in [
        ("everything-inside", "safety-looser"),
        ("undecided", "safety-impure"),
        ("stateful", "safety-impure"),
        ("cwd-not-applicable", "module-bad-answer"),
        ("panic", "module-trapped"),
        ("second-call-panics", "module-trapped"),
        ("endless-loop", "module-deadline-exceeded"),
        ("wrong-count", "safety-failed"),
        ("traps-on-configure", "module-trapped"),
        ("rejects-settings", "settings-rejected"),
    ] {
        service.write("toolwarden.toml", with_habit(habit));
        let reloaded = service.reloader.reload();
        assert_eq!(reloaded.map_err(|refusal| refusal.code), Err(code), "{habit}");
        assert_eq!(service.event()["refusal"]["code"], code, "{habit}");
    }
    assert!(Service::start(&with_habit("everything-inside"), &[("m.wasm", &habits())]).is_err());
    assert_eq!(Safety::every_module().calls().count(), Safety::every_module().len());
}

#[test]
fn a_module_passes_its_own_vectors_or_stays_out() {
    let row = |verdict: &str| {
        json!({
            "id": "own-1", "expect": { "verdict": verdict },
            "call": { "tool": "Bash", "arguments": {}, "route": "direct", "attendance": "interactive",
                      "workspace": { "root": "/repo", "flavour": "posix" } },
        })
        .to_string()
    };
    let settings = "module.vectors = ['own.jsonl']";
    let service = Service::start(settings, &[("own.jsonl", row("allow").as_bytes())]).unwrap();
    service.write("own.jsonl", row("deny"));
    // The vectors alone are no other policy; with the next one they count.
    assert_eq!(service.reloader.reload().unwrap(), Reload::Unchanged);
    service.write("toolwarden.toml", format!("{settings}\nsystem.toolApprovalMode = 'dangerous'\n"));
    service.refused("vector-failed");
    assert!(service.reloader.refusal().unwrap().message.contains("own-1"));
    service.write("own.jsonl", "{");
    service.refused("vectors-unreadable");
    std::fs::remove_file(service.folder.path().join("own.jsonl")).unwrap();
    service.refused("vectors-unreadable");
}

#[test]
fn digest_and_signature_are_looked_at_before_anything_else() {
    let (ours, other) = (SigningKey::from_seed(&[1; 32]), SigningKey::from_seed(&[2; 32]));
    let settings = format!("[module]\npath = 'm.wasm'\nkeys = ['{}']\n", ours.public());
    let signed = |key: &SigningKey, module: &[u8]| key.sign(module).to_string();
    let module = habits();
    let service =
        Service::start(&settings, &[("m.wasm", &module), ("m.wasm.sig", signed(&ours, &module).as_bytes())]).unwrap();

    let next = default_module();
    service.write("m.wasm", &next);
    service.refused("signature-mismatch");
    service.write("m.wasm.sig", signed(&other, &next));
    service.refused("signature-unknown-key");
    service.write("m.wasm.sig", "hello");
    service.refused("bad-signature-file");
    std::fs::remove_file(service.folder.path().join("m.wasm.sig")).unwrap();
    service.refused("signature-missing");
    service.write("m.wasm.sig", signed(&ours, &next));
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");

    let pinned = format!("{settings}sha256 = '{}'\n", service.digest());
    service.write("toolwarden.toml", &pinned);
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");
    // Well signed, and yet not the one that is pinned.
    service.write("m.wasm", &module);
    service.write("m.wasm.sig", signed(&ours, &module));
    service.refused("module-digest-mismatch");
}

#[test]
fn a_module_that_traps_later_is_taken_back_by_itself() {
    let service = Service::start("module.path = 'm.wasm'", &[("m.wasm", &default_module())]).unwrap();
    let good = service.digest();
    service.write("m.wasm", habits());
    service.write("toolwarden.toml", with_habit("panics-when-told"));
    // The default module takes no such setting, so nobody could go back to it.
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");
    service.reloader.rollback().unwrap();
    service.swapped("rollback");
    assert_eq!(service.digest(), good);
}

#[test]
fn faults_bring_the_module_before_back_under_the_settings_in_force() {
    let settings = with_habit("panics-when-told");
    let service = Service::start(&settings, &[("m.wasm", &habits())]).unwrap();
    let good = service.digest();
    service.write("m.wasm", variant(habits(), 1));
    service.write("toolwarden.toml", format!("{settings}system.bashCwdPolicy = 'workspace-only'\n"));
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");

    for _ in 0..10 {
        assert_eq!(service.decide("panic"), (Decision::Deny, "module-trapped".into()));
    }
    service.swapped("faults");
    assert_eq!((service.digest(), service.generation()), (good.clone(), 3));
    // The module is the former one, the settings are not: the lock holds.
    let outside = json!({
        "id": "c", "tool": "Bash", "arguments": { "command": "ls", "cwd": "/etc" }, "route": "direct",
        "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
    });
    let call = Call::from_json(outside.to_string().as_bytes()).unwrap();
    let judged = service.reloader.state().current().judge(&call, FactSource::Record, false);
    assert_eq!(judged.verdict.kind.unwrap().as_str(), "cwd-locked");

    // Its file brings it back neither by itself nor with other settings, and those settings hold all the same.
    assert_eq!(service.reloader.reload().unwrap(), Reload::Unchanged);
    service.write("toolwarden.toml", format!("{settings}approval.timeoutMs = 1000\n"));
    assert!(matches!(service.reloader.reload().unwrap(), Reload::Swapped(_)));
    service.swapped("reload");
    assert_eq!(service.digest(), good);

    // There is none before it now: it stays, and its faults stay denials.
    for _ in 0..10 {
        service.decide("panic");
    }
    assert_eq!(service.event()["event"], "module-unhealthy");
    assert_eq!(service.decide("ls").0, Decision::Allow);
}

#[test]
fn a_trial_counts_how_a_candidate_differs_and_may_be_promoted() {
    let settings = "module.path = 'm.wasm'\nmodule.trial.path = 'next.wasm'\n";
    let files: &[(&str, &[u8])] = &[("m.wasm", &habits()), ("next.wasm", &default_module())];
    let service = Service::start(settings, files).unwrap();
    assert_eq!(service.event()["event"], "trial-started");
    let active = service.digest();
    for _ in 0..50 {
        // The habits' own class of a cwd differs from the default's, and nothing else.
        assert_eq!(service.decide("ls").0, Decision::Allow);
    }
    let report = loop {
        let (_, report) = service.reloader.trial().unwrap();
        if report.comparison.calls + report.left_out == 50 {
            break report;
        }
        std::thread::yield_now();
    };
    assert_eq!((report.comparison.looser, report.comparison.stricter, report.faults), (0, 0, 0));
    assert_eq!(report.comparison.other_reason, report.comparison.calls - report.comparison.same);
    assert_eq!(service.digest(), active, "a trial decides nothing");

    let promoted = service.reloader.promote().unwrap();
    service.swapped("promotion");
    assert_ne!(promoted.digest, active);
    assert_eq!(service.event()["event"], "trial-ended");
    assert!(service.reloader.trial().is_none());
    assert_eq!(service.reloader.promote().unwrap_err().code, "no-trial");
    // The settings still name the former one. That alone does not bring it back.
    assert_eq!(service.reloader.reload().unwrap(), Reload::Unchanged);
    service.quiet();
}

#[test]
fn a_candidate_is_promoted_by_rule_only_while_it_is_never_looser() {
    let rule = "module.trial.promoteAfter = 20\n";
    let settings = format!("module.path = 'm.wasm'\nmodule.trial.path = 'next.wasm'\n{rule}");
    let service =
        Service::start(&settings, &[("m.wasm", &default_module()), ("next.wasm", &variant(default_module(), 1))]);
    let service = service.unwrap();
    assert_eq!(service.event()["event"], "trial-started");
    while service.generation() == 1 {
        service.decide("ls");
    }
    service.swapped("promotion");

    // The candidate knows nothing of the rule that asks, so it is looser, and stays a candidate.
    let settings = format!("{settings}[[rules]]\ntool = 'Bash'\ndecision = 'ask'\n");
    let service = Service::start(&settings, &[("m.wasm", &default_module()), ("next.wasm", &habits())]).unwrap();
    assert_eq!(service.event()["event"], "trial-started");
    let report = loop {
        service.decide("ls");
        let (_, report) = service.reloader.trial().unwrap();
        if report.comparison.calls >= 40 {
            break report;
        }
    };
    assert_eq!(report.comparison.looser, report.comparison.calls);
    assert_eq!((report.disagreements.len(), service.generation()), (20, 1));
    assert_eq!(service.reloader.end_trial().unwrap().comparison.stricter, 0);
}

#[test]
fn a_candidate_that_fails_the_gate_gets_no_trial() {
    let settings = "module.trial.path = 'next.wasm'\n";
    let service = Service::start(settings, &[("next.wasm", b"hello there")]).unwrap();
    let event = service.event();
    assert_eq!(
        (&event["event"], &event["refusal"]["code"]),
        (&json!("trial-refused"), &json!("module-not-a-component"))
    );
    assert!(service.reloader.trial().is_none());
}

#[test]
fn another_list_of_tools_is_another_generation_of_the_same_policy() {
    let service = Service::start("", &[]).unwrap();
    let before = service.digest();
    let tools = br#"{"server":"demo","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
    let servers = toolwarden::registry::Servers::from_json(tools, None).unwrap();
    service.reloader.replace_tools(Catalogue::with_servers(servers).unwrap()).unwrap();
    service.swapped("tools");
    assert_eq!((service.digest(), service.generation()), (before, 2));
    assert!(service.reloader.state().current().registry().by_public_name("mcp__demo__echo").is_some());
    assert_eq!(service.reloader.rollback().unwrap_err().code, "nothing-before");
}

#[test]
fn files_are_watched_whichever_way_they_are_written() {
    let service = Service::start("module.path = 'm.wasm'", &[("m.wasm", &default_module())]).unwrap();
    let options = WatchOptions { quiet: Duration::from_millis(20), ..WatchOptions::default() };
    let watch = Watch::start(&service.reloader, options).unwrap();
    let path = service.folder.path().join("m.wasm");

    // Written beside and renamed.
    let part = service.write("m.wasm.part", habits());
    std::fs::rename(part, &path).unwrap();
    service.swapped("reload");

    // Written in place, in pieces.
    let next = variant(default_module(), 1);
    let mut file = std::fs::File::create(&path).unwrap();
    for piece in next.chunks(10_000) {
        std::io::Write::write_all(&mut file, piece).unwrap();
        file.sync_all().unwrap();
    }
    drop(file);
    // Where the system does not tell when a file is closed, a piece may have been looked at, and refused.
    loop {
        let event = service.event();
        if event["event"] == "module-swapped" {
            break;
        }
        assert_eq!(event["event"], "module-refused");
        assert_ne!(std::env::consts::OS, "linux", "{event}");
    }
    let served = service.digest();

    // Half a module, and then a folder in its place: both are refused, and the last good one serves.
    service.write("m.wasm", &next[..next.len() / 2]);
    assert_eq!(service.event()["event"], "module-refused");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(service.event()["event"], "module-refused");
    assert_eq!(service.digest(), served);

    // Called for.
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(service.write("m.wasm.part", habits()), &path).unwrap();
    watch.reload();
    loop {
        if service.event()["event"] == "module-swapped" {
            break;
        }
    }
    assert_eq!(service.decide("ls").0, Decision::Allow);
}
