//! The modules that stand in the repository are made of the sources that stand beside them.

use std::path::{Path, PathBuf};
use std::process::Command;

use toolwarden::authoring::{digest_of, stored_digest};
use toolwarden_harness::{component, guests, vectors};

fn root() -> PathBuf {
    vectors::folder().parent().unwrap().to_owned()
}

fn is_fresh(module: &Path, sources: &str) {
    let bytes = std::fs::read(module).unwrap();
    assert_eq!(
        stored_digest(&bytes),
        Some(digest_of(&root().join(sources)).unwrap()),
        "{sources} has moved on; build {} again, as CONTRIBUTING.md says",
        module.display()
    );
}

#[test]
fn the_embedded_module_is_made_of_these_sources() {
    let dist = root().join("policy-guest/dist");
    is_fresh(&dist.join("toolwarden-policy.wasm"), "policy-guest");
    is_fresh(&dist.join("toolwarden-policy.core.wasm"), "policy-guest");
    assert_eq!(
        component::embedded().unwrap().info().size as u64,
        std::fs::metadata(dist.join("toolwarden-policy.wasm")).unwrap().len()
    );
}

#[test]
fn the_test_modules_are_made_of_these_sources() {
    let guests = vectors::folder().join("guests");
    is_fresh(&guests.join("habits.wasm"), "tests/guests/habits");
    is_fresh(&guests.join("wrong-contract.wasm"), "tests/guests/habits");
}

#[test]
fn modules_name_no_path_of_a_machine() {
    let dist = root().join("policy-guest/dist");
    let home = std::env::home_dir().unwrap();
    for module in ["toolwarden-policy.wasm", "toolwarden-policy.core.wasm"] {
        let bytes = std::fs::read(dist.join(module)).unwrap();
        for path in [&home, &root()] {
            let path = path.as_os_str().as_encoded_bytes();
            assert!(!bytes.windows(path.len()).any(|w| w == path), "{module}");
        }
    }
    assert!(!guests::load("habits").unwrap().is_empty());
}

/// The core module speaks the contract as JSON in a runtime that knows no components.
#[test]
fn the_core_module_passes_the_vectors_in_node() {
    let script = vectors::folder().join("core-module.mjs");
    let module = root().join("policy-guest/dist/toolwarden-policy.core.wasm");
    let run = Command::new("node").arg(script).arg(module).arg(vectors::folder().join("vectors")).output();
    let output = match run {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: Node.js is not installed ({error})");
            return;
        }
    };
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("174 cwd rows"), "{stdout}");
}
