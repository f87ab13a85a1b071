//! `doctor`, `policy check` and `policy build`.

use serde_json::json;
use toolwarden_harness::{cli, vectors};

use crate::{DECIDE, Files, asks, delete, exit, fails, records, run};

#[test]
fn doctor_says_what_is_set_up() {
    let findings = |arguments: &[&str]| {
        let output = run(&[&["doctor"], arguments].concat(), "");
        let findings: Vec<(String, String)> = cli::lines(&output)
            .unwrap()
            .iter()
            .filter(|f| f["what"] != "wasm target" && f["what"] != "module cache")
            .map(|f| (f["what"].as_str().unwrap().to_owned(), f["health"].as_str().unwrap().to_owned()))
            .collect();
        (exit(&output), findings)
    };
    let all = |health: &[(&str, &str)]| -> Vec<(String, String)> {
        health.iter().map(|(what, health)| ((*what).into(), (*health).into())).collect()
    };
    let files = Files::new();
    let good = files.file("good.toml", "[system]\ntoolApprovalMode = 'dangerous'\n");
    let bad = files.file("bad.toml", "system = 1");
    let no_module = files.file("no-module.toml", "module.path = 'none.wasm'");
    let module = [("policy module", "good"), ("registry", "good")];
    assert_eq!(findings(&[]), (0, all(&[&[("settings", "optional")][..], &module].concat())));
    for arguments in [&["--settings", &good][..], &["--profile", "locked"]] {
        assert_eq!(findings(arguments), (0, all(&[&[("settings", "good")][..], &module].concat())));
    }
    assert_eq!(findings(&["--settings", &bad]), (2, all(&[("settings", "bad")])));
    assert_eq!(findings(&["--settings", &no_module]), (3, all(&[("settings", "good"), ("policy module", "bad")])));

    // A rule that was meant for a tool, and spells it otherwise. What servers call their tools is theirs.
    let rules = ["tool = 'bash'", "tool = 'Bash'", "tool = 'bash*'", "tool = 'bash'\nserver = 's'"];
    let rules: String = rules.iter().map(|rule| format!("[[rules]]\ndecision = 'deny'\n{rule}\n")).collect();
    let idle = files.file("idle.toml", &rules);
    assert_eq!(
        findings(&["--settings", &idle]),
        (2, all(&[&[("settings", "good")][..], &module, &[("rule", "bad")]].concat()))
    );
}

#[test]
fn the_built_in_module_can_be_used() {
    let output = run(&["policy", "check"], "");
    let record = cli::lines(&output).unwrap().remove(0);
    assert_eq!(exit(&output), 0);
    assert_eq!((&record["ok"], &record["name"]), (&json!(true), &json!("toolwarden-default")));
    let digest = record["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:") && digest.len() == 7 + 64, "{digest}");

    // The same bytes from a file are the same module.
    let files = Files::new();
    let decided = cli::lines(&run(&DECIDE, delete("a"))).unwrap().remove(0);
    assert_eq!(decided["policy"]["digest"], digest);
    let bytes = std::fs::read(vectors::folder().join("../policy-guest/dist/toolwarden-policy.wasm")).unwrap();
    let file = files.file("m.wasm", bytes);
    let from_file = cli::lines(&run(&["policy", "check", &file], "")).unwrap().remove(0);
    assert_eq!(from_file, record);
    let output = run(&["decide", "--profile", "dangerous", "--module", &file], delete("a"));
    assert_eq!((exit(&output), records(&output)), (0, vec![asks("a")]));
}

#[test]
fn a_module_that_cannot_be_used_is_said() {
    let files = Files::new();
    let folder = files.0.path().to_str().unwrap().to_owned();
    let rows = [
        (files.argument("none.wasm"), "module-unreadable"),
        (folder, "module-unreadable"),
        (files.file("empty.wasm", ""), "module-not-a-component"),
        (files.file("text.wasm", "nothing of that kind"), "module-not-a-component"),
        (files.file("core.wasm", b"\0asm\x01\0\0\0"), "module-not-a-component"),
    ];
    for (module, code) in rows {
        let output = run(&["policy", "check", &module], "");
        let record = cli::lines(&output).unwrap().remove(0);
        assert_eq!(
            (exit(&output), &record["ok"], &record["error"]["code"]),
            (3, &json!(false), &json!(code)),
            "{module}"
        );
        fails(&["decide", "--module", &module], delete("a"), 3, &[code]);
    }
    let settings = files.file("s.toml", "deferral.mode = 'on'");
    let output = run(&["policy", "check", "--settings", &settings], "");
    let record = cli::lines(&output).unwrap().remove(0);
    assert_eq!((exit(&output), &record["error"]["code"]), (2, &json!("settings-rejected")));
}

#[test]
fn a_folder_without_a_crate_is_not_built() {
    let files = Files::new();
    let folder = files.0.path().to_str().unwrap().to_owned();
    let out = files.argument("out.wasm");
    for face in [&[][..], &["--core-module"]] {
        fails(&[&["policy", "build", &folder, "--out", &out], face].concat(), "", 2, &[&folder, "Cargo.toml"]);
    }
    fails(&["policy", "build", &files.argument("none")], "", 2, &["Cargo.toml"]);
    assert!(!files.path("out.wasm").exists());
}
