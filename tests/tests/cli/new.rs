//! `policy new`: what it writes, what it refuses, and that the crate is a module.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use toolwarden::module::{Component, Limits};
use toolwarden_harness::{cli, component, vectors};

use crate::{Files, exit, fails, run, stderr, stdout};

/// The files of a folder by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut wanted = vec![folder.to_owned()];
    while let Some(path) = wanted.pop() {
        if path.is_dir() {
            wanted.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

fn make(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let output = run(&["policy", "new", folder], "");
    assert_eq!(exit(&output), 0, "{}", stderr(&output));
    let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
    assert_eq!(cli::lines(&output).unwrap(), [json!({ "name": name, "path": folder })]);
    files(Path::new(folder))
}

#[test]
fn a_new_crate_has_all_that_it_needs() {
    let place = Files::new();
    let files = make(&place.argument("night-watch"));
    for file in [
        ".cargo/config.toml",
        ".gitignore",
        "Cargo.lock",
        "Cargo.toml",
        "README.md",
        "src/lib.rs",
        "toolwarden.toml",
        "vectors/cwd.jsonl",
        "vectors/gate.jsonl",
        "vendor/LICENSE",
        "vendor/README.md",
        "vendor/wit/policy.wit",
        "vendor/policy-guest/Cargo.toml",
        "vendor/policy-guest/build.rs",
        "vendor/policy-guest/src/lib.rs",
        "vendor/policy-guest/src/settings/schema.json",
        "vendor/crates/json/Cargo.toml",
        "vendor/crates/json/src/lib.rs",
        "vendor/crates/text/Cargo.toml",
        "vendor/crates/text/src/lib.rs",
    ] {
        assert!(files.contains_key(file), "{file}");
    }
    let text = |file: &str| String::from_utf8(files[file].clone()).unwrap();
    assert!(text("Cargo.toml").contains("name = \"night-watch\"\n"));
    for (file, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("{{name") && !text.contains("{{version"), "{file} has a gap that was not filled");
    }
    // What is written is what stands in this repository, and nothing beyond it.
    let root = vectors::folder().join("..");
    for (file, bytes) in files.iter().filter(|(f, _)| f.contains("/src/") || f.contains("/wit/")) {
        assert_eq!(fs::read(root.join(file.strip_prefix("vendor/").unwrap())).unwrap(), *bytes, "{file}");
    }
    assert!(!text("vendor/policy-guest/Cargo.toml").contains("proptest"), "a crate of the kit brings its tests' needs");
    // Nothing but the crate is there.
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1);
}

#[test]
fn an_empty_folder_will_do_and_anything_else_is_left_alone() {
    let place = Files::new();
    fs::create_dir(place.path("empty")).unwrap();
    assert!(!make(&place.argument("empty")).is_empty());
    let before = files(&place.path("empty"));
    fails(&["policy", "new", &place.argument("empty")], "", 2, &["folder-exists", "not an empty folder"]);
    assert_eq!(files(&place.path("empty")), before);

    let file = place.file("file", "mine");
    fails(&["policy", "new", &file], "", 2, &["folder-exists"]);
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    fails(&["policy", "new", &place.argument("none/demo")], "", 1, &["folder-unwritable", "demo"]);
    let mut left: Vec<_> = fs::read_dir(place.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["empty", "file"], "nothing is left behind");
}

#[test]
fn a_name_that_no_crate_can_have_is_refused() {
    let place = Files::new();
    let long = "a".repeat(65);
    for name in [
        "..",
        "1st",
        "-x",
        "_x",
        "Big",
        "a.b",
        "a b",
        "é",
        "a\u{202e}b",
        "fn",
        "self",
        "test",
        "con",
        "proc-macro",
        "toolwarden-policy",
        &long,
    ] {
        fails(&["policy", "new", "--", &place.argument(name)], "", 2, &["bad-crate-name", "cannot be the name"]);
    }
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 0);
    assert_eq!(exit(&run(&["policy", "new"], "")), 2);
    assert!(stdout(&run(&["policy", "--help"], "")).contains("toolwarden policy new my-policy"));
}

/// Makes `to` equal to `from` and leaves files alone that are equal already, so that cargo builds only what has changed.
fn mirror(from: &Path, to: &Path) {
    let (new, old) = (files(from), if to.is_dir() { files(to) } else { BTreeMap::new() });
    for gone in old.keys().filter(|file| !new.contains_key(*file)) {
        fs::remove_file(to.join(gone)).unwrap();
    }
    for (file, bytes) in new.iter().filter(|(file, bytes)| old.get(*file) != Some(bytes)) {
        fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
        fs::write(to.join(file), bytes).unwrap();
    }
}

/// The whole way of an author, with nothing but what `policy new` wrote: the tests, the module, and what stands in its vectors.
#[test]
fn a_new_crate_builds_and_decides_as_it_says() {
    let place = Files::new();
    make(&place.argument("demo"));
    let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("policy-new");
    let folder = base.join("demo");
    mirror(&place.path("demo"), &folder);
    let in_folder = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", base.join("target"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
        output
    };

    let tests = in_folder(Path::new("cargo"), &["test"]);
    assert!(stdout(&tests).contains("test result: ok. 3 passed"), "{}", stdout(&tests));
    assert!(!stderr(&tests).contains("warning"), "{}", stderr(&tests));
    let program = cli::program().unwrap();
    let built = base.join("demo.wasm");
    in_folder(&program, &["policy", "build", ".", "--out", built.to_str().unwrap()]);
    let checked = in_folder(&program, &["policy", "check", built.to_str().unwrap(), "--settings", "toolwarden.toml"]);
    let record = &cli::lines(&checked).unwrap()[0];
    assert_eq!((&record["ok"], &record["name"], &record["version"]), (&json!(true), &json!("demo"), &json!("0.1.0")));

    let bytes = fs::read(&built).unwrap();
    for path in [folder.as_path(), &std::env::home_dir().unwrap()] {
        let path = path.as_os_str().as_encoded_bytes();
        assert!(!bytes.windows(path.len()).any(|w| w == path), "the module names a path of this machine");
    }
    let module = Arc::new(Component::from_bytes(&bytes, Limits::default()).unwrap());
    let mismatches = |name: &str, record: fn(&Value) -> Value| -> Vec<String> {
        let text = fs::read_to_string(folder.join("vectors").join(name)).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(rows.len() >= 2);
        rows.iter().filter_map(|row| component::mismatch(&module, row, record)).collect()
    };
    assert_eq!(mismatches("gate.jsonl", vectors::gate_record), Vec::<String>::new());
    let cwd = |row: &Value| vectors::cwd_record(row);
    assert_eq!(mismatches("cwd.jsonl", cwd), Vec::<String>::new());
}
