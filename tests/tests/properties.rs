//! P1 to P4 and P7: what holds for every call, setting and catalogue. On the native functions and the component.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwarden::invoke::{Floors, Judge};
use toolwarden::module::{Policy, PolicyModule};
use toolwarden::registry::{Catalogue, Servers};
use toolwarden_harness::component;
use toolwarden_harness::native::NativePolicy;

const SERVERS: [&str; 3] = ["alpha", "beta", "alpha__beta"];
const NAMES: [&str; 4] = ["read", "write_file", "beta__read", "Delete"];

/// All pairs whose public names differ.
fn servers() -> Vec<Value> {
    SERVERS
        .iter()
        .map(|server| {
            let own = NAMES.iter().filter(|name| !(**name == "beta__read" && *server == "alpha"));
            let tools: Vec<Value> =
                own.map(|name| json!({ "name": name, "description": "d", "inputSchema": {} })).collect();
            json!({ "server": server, "tools": tools })
        })
        .collect()
}

fn catalogue(lists: &[Value]) -> Catalogue {
    Catalogue::with_servers(Servers::from_json(json!(lists).to_string().as_bytes(), None).unwrap()).unwrap()
}

fn rule() -> impl Strategy<Value = Value> {
    let tool = prop::sample::select(vec![
        "Bash",
        "Delete",
        "SSHManager",
        "*",
        "mcp__*",
        "mcp__alpha__*",
        "mcp__alpha__read",
        "mcp__*__write*",
        "tool_*",
        "Re?d",
        "D*",
    ]);
    let decision = prop::sample::select(vec!["deny", "ask", "allow"]);
    (tool, decision).prop_map(|(tool, decision)| json!({ "tool": tool, "decision": decision }))
}

fn settings() -> impl Strategy<Value = Value> {
    let word = |words: [&'static str; 2]| prop::sample::select(words.to_vec());
    (
        word(["off", "dangerous"]),
        word(["unrestricted", "workspace-only"]),
        word(["off", "enforce"]),
        prop::sample::select(vec!["auto", "always", "off"]),
        prop::collection::vec(rule(), 0..4),
    )
        .prop_map(|(mode, cwd, mcp, deferral, rules)| {
            json!({
                "system": { "toolApprovalMode": mode, "bashCwdPolicy": cwd }, "mcpSecurity": { "mode": mcp },
                "deferral": { "mode": deferral }, "rules": rules,
            })
        })
}

fn call() -> impl Strategy<Value = Value> {
    let arguments = prop::sample::select(vec![
        json!({}),
        json!({ "command": "ls" }),
        json!({ "command": "ls", "cwd": "/etc" }),
        json!({ "cwd": 7, "action": "start" }),
        json!({ "cwd": "src/../..", "action": "status" }),
        json!({ "action": "exec", "command": "id", "path": "/x" }),
        json!({ "action": "sftp_list" }),
        json!({ "path": "/repo/a" }),
    ]);
    let tool = prop::sample::select(vec![
        "Bash",
        "bash",
        "ManagedProcess",
        "Delete",
        "SSHManager",
        "Read",
        "Nothing",
        "tool_search",
        "mcp__alpha__read",
        "mcp__alpha__write_file",
        "mcp__beta__Delete",
        "mcp__alpha__beta__read",
        "mcp__alpha__none",
    ]);
    let attendance = prop::sample::select(vec!["interactive", "remote", "delegated", "scheduled"]);
    let trust = prop::sample::select(vec!["matching", "definition-drift", "snapshot-unavailable"]);
    let flavour = prop::sample::select(vec!["posix", "windows"]);
    (tool, arguments, attendance, trust, flavour).prop_map(|(tool, arguments, attendance, trust, flavour)| {
        let root = if flavour == "posix" { "/repo" } else { "C:\\repo" };
        json!({
            "id": "p", "tool": tool, "arguments": arguments, "route": "direct", "attendance": attendance,
            "workspace": { "root": root, "flavour": flavour }, "facts": { "trust": trust },
        })
    })
}

fn bridged(call: &Value) -> Value {
    let mut bridged = call.clone();
    bridged["arguments"] = json!({ "name": call["tool"], "arguments": call["arguments"] });
    bridged["tool"] = "tool_invoke".into();
    bridged["route"] = "bridge".into();
    bridged
}

fn judge(settings: &Value, lists: &[Value]) -> Judge {
    let settings = component::settings(settings).unwrap();
    let policy = Arc::new(NativePolicy::new(&settings.policy_json()).unwrap());
    component::judge(policy, catalogue(lists), settings.floors).unwrap()
}

fn severity(verdict: &Value) -> usize {
    ["deny", "ask", "allow"].iter().position(|word| verdict["verdict"] == *word).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// P1: a deferred tool meets the same gate through the bridge.
    #[test]
    fn the_bridge_changes_no_gate(settings in settings(), call in call()) {
        let judge = judge(&settings, &servers());
        let deferred = judge.registry().describe(call["tool"].as_str().unwrap()).is_some();
        let direct = component::verdict(&judge, &call).unwrap();
        let through = component::verdict(&judge, &bridged(&call)).unwrap();
        if deferred {
            prop_assert_eq!(direct, through);
        } else {
            // Nothing becomes looser by the detour either.
            prop_assert!(severity(&through) <= severity(&direct), "{} {}", direct, through);
        }
    }

    /// P2: one more restriction loosens nothing.
    #[test]
    fn a_restriction_never_loosens(settings in settings(), call in call(), rule in rule(), lock: bool) {
        let mut stricter = settings.clone();
        if lock {
            stricter["system"] = json!({ "toolApprovalMode": "dangerous", "bashCwdPolicy": "workspace-only" });
        }
        if rule["decision"] != "allow" {
            stricter["rules"].as_array_mut().unwrap().push(rule);
        }
        let before = component::verdict(&judge(&settings, &servers()), &call).unwrap();
        let after = component::verdict(&judge(&stricter, &servers()), &call).unwrap();
        prop_assert!(severity(&after) <= severity(&before), "{} became {}", before, after);
    }

    /// P3: the order of the catalogue changes no answer. P4: deferral changes no gate.
    #[test]
    fn neither_order_nor_deferral_changes_a_gate(settings in settings(), call in call(), turn in 0..3_usize, mode in prop::sample::select(vec!["auto", "always", "off"])) {
        let mut turned = servers();
        turned.rotate_left(turn);
        let (one, other) = (judge(&settings, &servers()), judge(&settings, &turned));
        prop_assert_eq!(component::verdict(&one, &call).unwrap(), component::verdict(&other, &call).unwrap());
        for registered in one.registry().tools() {
            let same = other.registry().by_public_name(&registered.tool.tool.public_name).unwrap();
            prop_assert_eq!((registered.exposure, &registered.reason), (same.exposure, &same.reason));
        }
        let mut elsewhere = settings.clone();
        elsewhere["deferral"] = json!({ "mode": mode });
        prop_assert_eq!(
            component::verdict(&one, &call).unwrap(),
            component::verdict(&judge(&elsewhere, &servers()), &call).unwrap()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// P7: the same answer on any instance, in any order, natively and as the component.
    #[test]
    fn every_instance_answers_alike(settings in settings(), calls in prop::collection::vec(call(), 1..8)) {
        let parsed = component::settings(&settings).unwrap();
        let native = judge(&settings, &servers());
        let policy = component::configured(component::embedded().unwrap(), &parsed).unwrap();
        let one = component::judge(Arc::clone(&policy), catalogue(&servers()), parsed.floors).unwrap();
        let fresh = component::configured(component::embedded().unwrap(), &parsed).unwrap();
        let other = component::judge(fresh, catalogue(&servers()), parsed.floors).unwrap();
        for call in &calls {
            prop_assert_eq!(component::verdict(&native, call).unwrap(), component::verdict(&one, call).unwrap());
        }
        for call in calls.iter().rev() {
            prop_assert_eq!(component::verdict(&native, call).unwrap(), component::verdict(&other, call).unwrap());
        }
    }
}

/// Many threads on one module: every answer is the one that a single thread gets.
#[test]
fn threads_do_not_mix_answers() {
    let settings = component::settings(&json!({ "system": { "toolApprovalMode": "dangerous" } })).unwrap();
    let policy = component::configured(component::embedded().unwrap(), &settings).unwrap();
    let judge = component::judge(policy, Catalogue::builtin(), Floors::default()).unwrap();
    let record = |n: usize| {
        json!({
            "id": "t", "tool": "Delete", "arguments": { "path": format!("/repo/{n}") }, "route": "direct",
            "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
        })
    };
    std::thread::scope(|scope| {
        for thread in 0..48 {
            let judge = &judge;
            scope.spawn(move || {
                for n in 0..200 {
                    let verdict = component::verdict(judge, &record(thread * 1000 + n)).unwrap();
                    let detail = verdict["detail"].as_str().unwrap();
                    assert!(detail.starts_with(&format!("/repo/{} ", thread * 1000 + n)), "{detail}");
                }
            });
        }
    });
}

/// What a module was configured with is a matter of the module, not of the component.
#[test]
fn two_settings_live_side_by_side() {
    let embedded = component::embedded().unwrap();
    let off = PolicyModule::new(Arc::clone(&embedded), "{}").unwrap();
    let on = PolicyModule::new(embedded, r#"{"system":{"toolApprovalMode":"dangerous"}}"#).unwrap();
    assert_eq!(off.info(), on.info());
    let verdict = |policy: PolicyModule| {
        let judge = component::judge(Arc::new(policy), Catalogue::builtin(), Floors::default()).unwrap();
        let record = json!({
            "id": "t", "tool": "Delete", "arguments": { "path": "x" }, "route": "direct", "attendance": "interactive",
            "workspace": { "root": "/repo", "flavour": "posix" },
        });
        component::verdict(&judge, &record).unwrap()["verdict"].clone()
    };
    assert_eq!((verdict(off), verdict(on)), (json!("allow"), json!("ask")));
}
