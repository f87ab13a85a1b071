//! The example that brings Cedar: its vectors, what it wants of the machine, and what it says about wrong settings.
//!
//! Cedar takes minutes to compile, so this runs where `TOOLWARDEN_TEST_EXAMPLES=1` is set. The target folder is the example's
//! own and stays, so that only the first run is slow.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use toolwarden::authoring::{self, Face};
use toolwarden::module::{Component, ConfigureError, PolicyModule};
use toolwarden::settings::Settings;
use toolwarden_harness::{component, vectors};

fn folder() -> PathBuf {
    vectors::folder().join("../examples/policies/cedar").canonicalize().unwrap()
}

fn sample() -> Settings {
    Settings::load(&folder().join("toolwarden.toml")).unwrap()
}

/// The module under the limits of its own settings; none where examples are not to be built.
fn module() -> Option<Arc<Component>> {
    static MODULE: OnceLock<Option<Arc<Component>>> = OnceLock::new();
    let build = || {
        if std::env::var("TOOLWARDEN_TEST_EXAMPLES").as_deref() != Ok("1") {
            println!("skipped: Cedar takes minutes to compile; set TOOLWARDEN_TEST_EXAMPLES=1 to have it");
            return None;
        }
        let bytes = authoring::build(&folder(), Face::Component, &[]).unwrap();
        // A component that imports anything is refused here.
        Some(Arc::new(Component::from_bytes(&bytes, sample().limits).unwrap()))
    };
    MODULE.get_or_init(build).clone()
}

fn rows(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_sample_settings_hold_the_sample_policies() {
    let policies = fs::read_to_string(folder().join("policies.cedar")).unwrap();
    let settings: Value = serde_json::from_str(&sample().policy_json()).unwrap();
    assert_eq!(settings["module"]["settings"]["policies"], json!(policies));
}

#[test]
fn its_vectors_hold() {
    let Some(module) = module() else { return };
    let rows = rows(&folder().join("vectors/gate.jsonl"));
    let mismatches: Vec<String> =
        rows.iter().filter_map(|row| component::mismatch(&module, row, vectors::gate_record)).collect();
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    assert!(rows.len() >= 26);
}

#[test]
fn it_takes_its_sample_settings() {
    let Some(module) = module() else { return };
    PolicyModule::new(module, &sample().policy_json()).unwrap();
}

#[test]
fn wrong_settings_are_told_with_their_place() {
    let Some(module) = module() else { return };
    let permit = "permit (principal, action, resource);";
    let rows = [
        (json!({}), "/policies", "missing"),
        (json!({ "policies": 1 }), "/policies", "`1`"),
        (json!({ "policies": format!("{permit}\n\npermit (principal action);") }), "/policies", "line 3, column 19"),
        (
            json!({ "policies": format!("{permit}\n@verdict(\"maybe\")\nforbid (principal, action, resource);") }),
            "/policies",
            "`maybe`",
        ),
        (json!({ "policies": "@kind(\"Big\") forbid (principal, action, resource);" }), "/policies", "`Big`"),
        (json!({ "policies": "@kind(\"x\") permit (principal, action, resource);" }), "/policies", "on a permit"),
        (json!({ "policies": "permit (principal == ?principal, action, resource);" }), "/policies", "template"),
        (json!({ "policies": permit, "entities": [{ "uid": 1 }] }), "/entities", "entity"),
        (json!({ "policies": permit, "entities": {} }), "/entities", ""),
        (json!({ "policies": permit, "schema": "" }), "/schema", "unknown key"),
    ];
    for (settings, pointer, says) in rows {
        let text = json!({ "module": { "settings": settings } }).to_string();
        let issues = match PolicyModule::new(Arc::clone(&module), &text) {
            Err(ConfigureError::Rejected(issues)) => issues,
            Err(ConfigureError::Fault(fault)) => panic!("{text}: {fault}"),
            Ok(_) => panic!("{text} is taken"),
        };
        let found =
            issues.iter().any(|i| i.pointer == format!("/module/settings{pointer}") && i.problem.contains(says));
        assert!(found, "{text}: {issues:?}");
    }
    // Faults of the default sections come with them.
    let text = json!({ "system": { "toolApprovalMode": "on" }, "module": { "settings": { "policies": "permit" } } });
    let Err(ConfigureError::Rejected(issues)) = PolicyModule::new(module, &text.to_string()) else { panic!("{text}") };
    assert_eq!(issues.len(), 2, "{issues:?}");
}
