//! Policy modules that misbehave: every one ends in a refusal with a reason code of its own, and the host lives on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwarden::call::CwdFacts;
use toolwarden::invoke::{Floors, Judge};
use toolwarden::module::{Component, ConfigureError, Isolation, Limits, LoadError, Policy as _, PolicyModule};
use toolwarden::registry::{BuildError, Catalogue, Generation, Registry};
use toolwarden_harness::{cli, component, guests};

fn limits() -> Limits {
    Limits { deadline: Duration::from_millis(20), ..Limits::default() }
}

fn habits() -> Arc<Component> {
    Arc::new(Component::from_bytes(&guests::load("habits").unwrap(), limits()).unwrap())
}

/// Settings that choose a habit; `WELL` chooses none.
fn settings(habit: &str) -> String {
    if habit == WELL {
        return "{}".into();
    }
    json!({ "module": { "settings": { "habit": habit } } }).to_string()
}

const WELL: &str = "";

fn with_habit(component: &Arc<Component>, habit: &str, floors: Floors) -> Judge {
    let module = PolicyModule::new(Arc::clone(component), &settings(habit)).unwrap();
    component::judge(Arc::new(module), Catalogue::builtin(), floors).unwrap()
}

fn bash(cwd: &str) -> Value {
    json!({
        "id": "x", "tool": "Bash", "arguments": { "command": "ls", "cwd": cwd }, "route": "direct",
        "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
    })
}

fn verdict(judge: &Judge, record: &Value) -> (String, String) {
    let verdict = component::verdict(judge, record).unwrap();
    (verdict["verdict"].as_str().unwrap().into(), verdict["kind"].as_str().unwrap_or_default().into())
}

#[test]
fn whatever_goes_wrong_in_a_call_is_a_denial() {
    let component = habits();
    let rows = [
        ("endless-loop", "module-deadline-exceeded"),
        ("memory-hog", "module-out-of-memory"),
        ("hungry", "module-out-of-memory"),
        ("panic", "module-trapped"),
        ("deep-recursion", "module-stack-overflow"),
        ("huge-answer", "module-bad-answer"),
        ("many-steps", "module-bad-answer"),
        ("bad-utf8", "module-bad-answer"),
        ("bad-enum", "module-bad-answer"),
        ("free-with-kind", "module-bad-answer"),
        ("gated-without-kind", "module-bad-answer"),
        ("bad-kind", "module-bad-answer"),
    ];
    for (habit, kind) in rows {
        let judge = with_habit(&component, habit, Floors::default());
        // Three times: the host and the module's other instances live on.
        for _ in 0..3 {
            assert_eq!(verdict(&judge, &bash("src")), ("deny".into(), kind.into()), "{habit}");
        }
    }
    let well = with_habit(&component, WELL, Floors::default());
    assert_eq!(verdict(&well, &bash("src")), ("allow".into(), String::new()));
}

#[test]
fn a_module_cannot_lower_a_floor() {
    let component = habits();
    let floors = Floors { cwd_locked: true, mcp_enforced: true };
    let judge = with_habit(&component, WELL, floors);
    let expect = |record: &Value, decision: &str, kind: &str| {
        assert_eq!(verdict(&judge, record), (decision.into(), kind.into()), "{record}");
    };
    expect(&bash("src"), "allow", "");
    for cwd in ["/etc", "..", "~", "//srv/x", "a:b", " /etc", "workspace:/etc"] {
        expect(&bash(cwd), "deny", "cwd-locked");
    }
    let mut link = bash("link");
    link["facts"] = json!({ "resolved": "/etc", "resolvedRoot": "/repo" });
    expect(&link, "deny", "cwd-locked");
    let mut lost = bash("link");
    lost["facts"] = json!({ "unresolvable": true });
    expect(&lost, "deny", "cwd-locked");

    let mut covered = bash("src");
    covered["tool"] = "mcp__github__create_issue".into();
    expect(&covered, "deny", "snapshot-unavailable");
    covered["facts"] = json!({ "trust": "definition-drift", "trustSummary": "description changed" });
    expect(&covered, "deny", "definition-drift");
    covered["facts"] = json!({ "trust": "matching" });
    expect(&covered, "allow", "");

    // A gated call that nobody attends does not run, whatever the module is.
    let gating = with_habit(&component, "bidi-detail", Floors::default());
    for attendance in ["remote", "delegated", "scheduled"] {
        let mut record = bash("src");
        record["attendance"] = attendance.into();
        assert_eq!(verdict(&gating, &record), ("deny".into(), "odd".into()));
    }
}

#[test]
fn a_modules_text_deceives_nobody() {
    let judge = with_habit(&habits(), "bidi-detail", Floors::default());
    let verdict = component::verdict(&judge, &bash("src")).unwrap();
    let shown = |field: &str| verdict[field].as_str().unwrap().to_owned();
    assert!(!(shown("detail") + &shown("reason")).chars().any(toolwarden_text::is_deceptive), "{verdict}");
}

#[test]
fn a_broken_instance_is_never_used_again() {
    let component = habits();
    let judge = with_habit(&component, "second-call-panics", Floors::default());
    let decisions: Vec<String> = (0..6).map(|_| verdict(&judge, &bash("src")).0).collect();
    assert_eq!(decisions, ["allow", "deny", "allow", "deny", "allow", "deny"]);
}

#[test]
fn a_worn_instance_makes_room_for_a_fresh_one() {
    // 256 KiB a call: without that, 16 MiB would be gone after some sixty.
    let judge = with_habit(&habits(), "leaks", Floors::default());
    let denied: Vec<usize> = (0..500).filter(|_| verdict(&judge, &bash("src")).0 != "allow").collect();
    assert_eq!(denied, Vec::<usize>::new());
}

#[test]
fn a_fresh_instance_for_each_call_remembers_nothing() {
    let bytes = guests::load("habits").unwrap();
    let fresh = Limits { isolation: Isolation::PerCall, ..limits() };
    for (limits, second) in [(limits(), "ask"), (fresh, "allow")] {
        let component = Arc::new(Component::from_bytes(&bytes, limits).unwrap());
        let judge = with_habit(&component, "stateful", Floors::default());
        assert_eq!(verdict(&judge, &bash("src")).0, "allow");
        assert_eq!(verdict(&judge, &bash("src")).0, second, "{limits:?}");
    }
}

#[test]
fn a_module_that_fails_at_build_publishes_no_registry() {
    let component = habits();
    for (habit, code) in [("wrong-count", "module-bad-answer"), ("loops-on-build", "module-deadline-exceeded")] {
        let module = PolicyModule::new(Arc::clone(&component), &settings(habit)).unwrap();
        match Registry::build(&module, Catalogue::builtin(), 0, Generation(1)) {
            Err(BuildError::Fault(fault)) => assert_eq!(fault.code(), code, "{habit}"),
            other => panic!("{habit}: {other:?}"),
        }
    }
}

#[test]
fn a_module_that_fails_on_settings_is_not_used() {
    let component = habits();
    let configure = |habit: &str| PolicyModule::new(Arc::clone(&component), &settings(habit)).map(|_| ()).unwrap_err();
    match configure("traps-on-configure") {
        ConfigureError::Fault(fault) => assert_eq!(fault.code(), "module-trapped"),
        other @ ConfigureError::Rejected(_) => panic!("{other}"),
    }
    match configure("rejects-settings") {
        ConfigureError::Rejected(issues) => assert_eq!(issues.len(), 1),
        other @ ConfigureError::Fault(_) => panic!("{other}"),
    }
    match configure("accepts-with-issues") {
        ConfigureError::Fault(fault) => assert_eq!(fault.code(), "module-bad-answer"),
        other @ ConfigureError::Rejected(_) => panic!("{other}"),
    }
}

#[test]
fn what_does_not_fit_the_contract_is_not_loaded() {
    let refused = |name: &str| Component::from_bytes(&guests::load(name).unwrap(), limits()).unwrap_err();
    let expect = |error: LoadError, code: &str, words: &[&str]| {
        assert_eq!(error.code(), code, "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "`{error}` lacks `{word}`");
        }
    };
    expect(refused("imports-wasi"), "module-imports", &["`wasi:cli/environment@0.2.0`"]);
    expect(
        refused("wrong-version"),
        "module-missing-interface",
        &["`toolwarden:policy/decisions@0.1.0`", "`toolwarden:policy/decisions@9.0.0`"],
    );
    expect(refused("missing-function"), "module-missing-functions", &["`classify-cwd`", "`is-approval-gated`"]);
    expect(refused("wrong-type"), "module-wrong-type", &["type mismatch"]);
    expect(refused("nothing"), "module-missing-interface", &["nor anything else"]);
    expect(refused("core"), "module-not-a-component", &["core module"]);
    expect(refused("wrong-contract"), "module-wrong-contract", &["`9.9.9`", "`0.1.0`"]);

    let whole = guests::load("habits").unwrap();
    for bytes in [&whole[..whole.len() / 2], &whole[..7], b"", b"not a module at all", &whole[1..]] {
        let error = Component::from_bytes(bytes, limits()).unwrap_err();
        assert_eq!(error.code(), "module-not-a-component", "{error}");
    }
}

#[test]
fn the_command_line_refuses_a_bad_module_with_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("wasi.wasm"), guests::load("imports-wasi").unwrap()).unwrap();
    std::fs::write(path("cut.wasm"), &guests::load("habits").unwrap()[..1000]).unwrap();
    std::fs::create_dir(path("folder.wasm")).unwrap();
    for (module, code) in [
        ("wasi.wasm", "module-imports"),
        ("cut.wasm", "module-not-a-component"),
        ("folder.wasm", "module-unreadable"),
        ("none.wasm", "module-unreadable"),
    ] {
        let output = cli::run(&["policy", "check", "--json", &path(module)], b"").unwrap();
        assert_eq!(output.status.code(), Some(3), "{module}");
        assert_eq!(cli::lines(&output).unwrap()[0]["error"]["code"], code, "{module}");
        let output = cli::run(&["decide", "--module", &path(module)], b"").unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{module}");
    }
}

#[test]
fn no_cwd_is_no_answer_to_a_question_about_one() {
    let module = PolicyModule::new(habits(), &settings("cwd-not-applicable")).unwrap();
    let workspace = serde_json::from_value(json!({ "root": "/repo", "flavour": "posix" })).unwrap();
    let fault = module.classify_cwd(Some(&json!("src")), &workspace, &CwdFacts::NOT_ATTEMPTED, false).unwrap_err();
    assert_eq!(fault.code(), "module-bad-answer");
}
