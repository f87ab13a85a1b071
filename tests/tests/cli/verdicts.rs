//! Ways round a verdict that were once open.

use std::fmt::Write as _;

use serde_json::{Value, json};

use toolwarden_harness::cli;

use crate::{Files, call, delete, exit, fails, kinds, list, records, run};

/// A rule that denies a tool must not open the names that are almost its own.
#[test]
fn a_restriction_never_loosens_a_near_miss() {
    let files = Files::new();
    let tools = files.file("gh.json", list("gh", &["x"]).to_string());
    let deny = |tool: &str| json!({ "rules": [{ "tool": tool, "decision": "deny" }] });
    let enforce = json!({ "mcpSecurity": { "mode": "enforce" } });
    let rows: [(&[&str], Value); 3] = [
        (&["bash", "BASH", " Bash", "Bash ", "Bash\n"], deny("Bash")),
        (&["MCP__gh__x", "mcp__gh__X", " mcp__gh__x"], deny("mcp__gh__*")),
        (&["MCP__gh__x", "mcp__gh__X", " mcp__gh__x"], enforce),
    ];
    let mut loosened = Vec::new();
    for (names, settings) in rows {
        let input: String = names.iter().map(|name| format!("{}\n", call(name, name, &json!({})))).collect();
        let before = kinds(&run(&["decide", "--tools", &tools], &input));
        assert_eq!(before, vec![("deny".to_owned(), "unknown-tool".to_owned()); names.len()], "{names:?}");
        let file = files.file("settings.json", settings.to_string());
        let after = kinds(&run(&["decide", "--tools", &tools, "--settings", &file], &input));
        for (name, (verdict, _)) in names.iter().zip(after) {
            if verdict != "deny" {
                loosened.push(format!("{name:?} under {settings}: {verdict}"));
            }
        }
    }
    assert!(loosened.is_empty(), "{}", loosened.join("\n"));
}

/// What some language's trim takes off counts as an outer blank of a tool's name, as it does of a cwd.
#[test]
fn every_outer_blank_is_a_near_miss() {
    let names = ["Bash\u{feff}", "\u{200b}Bash", "Bash\u{1c}", "\u{180e}Bash", "Bash\u{a0}"];
    let input: String = names.iter().map(|name| format!("{}\n", call("x", name, &json!({ "cwd": "/etc" })))).collect();
    let files = Files::new();
    let settings = files.file("s.toml", "system.bashCwdPolicy = 'workspace-only'");
    let output = run(&["decide", "--settings", &settings], input);
    assert_eq!(kinds(&output), vec![("deny".to_owned(), "unknown-tool".to_owned()); names.len()]);
}

/// A rule that names a server also covers a tool that the registry does not hold, by whichever name it is called.
#[test]
fn a_rule_for_a_server_covers_both_names() {
    let files = Files::new();
    let settings = json!({ "rules": [{ "server": "gh", "tool": "delete_*", "decision": "deny" }] });
    let settings = files.file("s.json", settings.to_string());
    let mut by_pair = call("pair", "delete_repo", &json!({}));
    by_pair["server"] = json!("gh");
    let by_name = call("name", "mcp__gh__delete_repo", &json!({}));
    let output = run(&["decide", "--settings", &settings], format!("{by_pair}\n{by_name}\n"));
    let verdicts: Vec<String> = kinds(&output).into_iter().map(|(verdict, _)| verdict).collect();
    assert_eq!(verdicts, ["deny", "deny"]);
}

#[test]
fn the_locked_profile_refuses_where_dangerous_asks() {
    let input = [
        call("inside", "Bash", &json!({ "cwd": "src" })),
        call("outside", "Bash", &json!({ "cwd": "/etc" })),
        call("start", "ManagedProcess", &json!({ "action": "start", "cwd": ".." })),
        call("status", "ManagedProcess", &json!({ "action": "status", "cwd": ".." })),
        call("delete", "Delete", &json!({ "path": "x" })),
        call("ssh", "SSHManager", &json!({ "action": "EXEC" })),
        call("unknown", "Delte", &json!({})),
    ];
    let input: String = input.iter().map(|line| format!("{line}\n")).collect();
    let verdicts = |profile: &str| kinds(&run(&["decide", "--profile", profile], &input));
    let pair = |verdict: &str, kind: &str| (verdict.to_owned(), kind.to_owned());
    let mut expected = vec![
        pair("allow", ""),
        pair("ask", "external-cwd"),
        pair("ask", "external-cwd"),
        pair("allow", ""),
        pair("ask", "delete"),
        pair("ask", "ssh-mutation"),
        pair("deny", "unknown-tool"),
    ];
    assert_eq!(verdicts("dangerous"), expected);
    expected[1] = pair("deny", "cwd-locked");
    expected[2] = pair("deny", "cwd-locked");
    assert_eq!(verdicts("locked"), expected);
}

#[test]
fn a_profile_adds_to_the_settings() {
    let files = Files::new();
    let settings =
        files.file("s.toml", "[system]\ntoolApprovalMode = 'off'\n[[rules]]\ntool = 'Read'\ndecision = 'ask'\n");
    let read = call("r", "Read", &json!({ "path": "x" }));
    let output =
        run(&["decide", "--settings", &settings, "--profile", "dangerous"], format!("{}\n{read}", delete("d")));
    let pair = |verdict: &str, kind: &str| (verdict.to_owned(), kind.to_owned());
    assert_eq!(kinds(&output), [pair("ask", "delete"), pair("ask", "rule-ask")]);
}

#[cfg(unix)]
struct Tree {
    files: Files,
    root: String,
    skills: String,
}

#[cfg(unix)]
impl Tree {
    /// A workspace and a skills folder, and links of these names in both, which lead out.
    fn new(links: &[&str]) -> Self {
        let files = Files::new();
        for folder in ["repo/src", "skills/demo", "outside/x"] {
            std::fs::create_dir_all(files.path(folder)).unwrap();
        }
        for link in links {
            for folder in ["repo", "skills"] {
                std::os::unix::fs::symlink(files.path("outside"), files.path(folder).join(link)).unwrap();
            }
        }
        let path = |name: &str| files.path(name).canonicalize().unwrap().to_str().unwrap().to_owned();
        let (root, skills) = (path("repo"), path("skills"));
        Self { files, root, skills }
    }

    fn verdicts(&self, profile: &str, more: &[&str], cwds: &[&str]) -> Vec<(String, Value)> {
        let mut input = String::new();
        for cwd in cwds {
            let mut record = call("x", "Bash", &json!({ "cwd": cwd }));
            record["workspace"] = json!({ "root": self.root, "flavour": "posix", "skills": [self.skills] });
            writeln!(input, "{record}").unwrap();
        }
        let output = run(&[&["decide", "--profile", profile], more].concat(), input);
        let verdict = |r: &Value| (r["verdict"].as_str().unwrap().to_owned(), r["cwd"].clone());
        records(&output).iter().map(verdict).collect()
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_with_resolve() {
    let tree = Tree::new(&["link"]);
    let inside = json!({ "class": "inside" });
    let link = json!({ "class": "outside", "why": "link" });
    let cwds = ["src", "link", "link/x", "link/new", "new", "skill:link", "./link", " link ", "link\\x"];
    let named: Vec<(String, Value)> = tree.verdicts("dangerous", &[], &cwds);
    assert!(named.iter().all(|(verdict, _)| verdict == "allow"), "{named:?}");
    let skill = json!({ "class": "outside", "why": "link" });
    for (profile, word) in [("dangerous", "ask"), ("locked", "deny")] {
        let expected: Vec<(String, Value)> = vec![
            ("allow".into(), inside.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
            ("allow".into(), inside.clone()),
            (word.into(), skill.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
        ];
        assert_eq!(tree.verdicts(profile, &["--resolve"], &cwds), expected, "{profile}");
    }
    // Facts in the record are not believed then.
    let mut record = call("x", "Bash", &json!({ "cwd": "link" }));
    record["workspace"] = json!({ "root": tree.root, "flavour": "posix" });
    record["facts"] = json!({ "resolved": tree.files.path("repo/src"), "resolvedRoot": tree.root });
    let output = run(&["decide", "--profile", "locked", "--resolve"], record.to_string());
    assert_eq!(kinds(&output), [("deny".to_owned(), "cwd-locked".to_owned())]);
}

/// Whatever the cwd is called: a link out of the workspace is seen where the machine is asked.
#[cfg(unix)]
#[test]
fn no_name_hides_a_link() {
    let names = ["%link", "%1", "\u{1}", "-link", ".link", "..link", "link.", "a b", "é", "{link}", "!link"];
    let tree = Tree::new(&names);
    let cwds: Vec<String> = names
        .iter()
        .flat_map(|n| [(*n).to_owned(), format!("workspace:{n}"), format!("{n}/x"), format!("{n}//x")])
        .collect();
    let cwds: Vec<&str> = cwds.iter().map(String::as_str).collect();
    for profile in ["dangerous", "locked"] {
        let verdicts = tree.verdicts(profile, &["--resolve"], &cwds);
        let missed: Vec<&&str> =
            cwds.iter().zip(&verdicts).filter(|(_, v)| v.0 == "allow").map(|(cwd, _)| cwd).collect();
        assert!(missed.is_empty(), "{profile}: {missed:?}");
    }
}

/// Blanks behind a scheme may be trimmed or kept by whoever uses the text, so both places are looked at.
#[cfg(unix)]
#[test]
fn no_blank_behind_a_scheme_hides_a_link() {
    let kept = Tree::new(&[" kept", "kept "]);
    let trimmed = Tree::new(&["trimmed"]);
    for profile in ["dangerous", "locked"] {
        let mut missed = Vec::new();
        let looks: [(&Tree, &[&str]); 2] = [
            (&kept, &["workspace: kept", "workspace:kept "]),
            (&trimmed, &["workspace: trimmed", "skill: trimmed", "skill:/ trimmed", "skill:trimmed "]),
        ];
        for (tree, cwds) in looks {
            let verdicts = tree.verdicts(profile, &["--resolve"], cwds);
            missed.extend(cwds.iter().zip(verdicts).filter(|(_, v)| v.0 == "allow").map(|(cwd, _)| *cwd));
        }
        assert!(missed.is_empty(), "{profile}: {missed:?}");
    }
}

/// A folder in a skill that does not exist yet lies where its parent leads.
#[cfg(unix)]
#[test]
fn what_is_not_there_yet_lies_where_its_parent_leads() {
    let tree = Tree::new(&["link"]);
    for profile in ["dangerous", "locked"] {
        let verdicts = tree.verdicts(profile, &["--resolve"], &["link/new", "skill:link/new"]);
        let allowed: Vec<&(String, Value)> = verdicts.iter().filter(|v| v.0 == "allow").collect();
        assert!(allowed.is_empty(), "{profile}: {verdicts:?}");
    }
}

/// Whoever starts the shell may know no scheme, and then the file of that name counts.
#[test]
#[cfg(unix)]
fn a_file_that_is_called_like_a_scheme_is_one_more_way_to_read_a_cwd() {
    let files = Files::new();
    let root = files.0.path().canonicalize().unwrap().join("repo");
    let skills = files.0.path().canonicalize().unwrap().join("skills");
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::create_dir_all(skills.join("demo")).unwrap();
    let decided = |cwd: &str| {
        let workspace = json!({ "root": root, "flavour": "posix", "skills": [skills] });
        let call = json!({
            "id": "a", "tool": "Bash", "arguments": { "command": "ls", "cwd": cwd }, "route": "direct",
            "attendance": "interactive", "workspace": workspace,
        });
        let output = run(&["decide", "--profile", "locked", "--resolve"], call.to_string());
        cli::lines(&output).unwrap().remove(0)["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(["workspace:src", "skill:demo", "src"].map(decided), ["allow"; 3]);
    // A skill that no root holds is nowhere.
    assert_eq!(decided("skill:none"), "deny");
    for name in ["workspace:src", "skill:demo"] {
        std::os::unix::fs::symlink("/etc", root.join(name)).unwrap();
        assert_eq!(decided(name), "deny", "{name}");
    }
}

#[test]
#[cfg(unix)]
fn what_is_no_file_is_not_written_over() {
    let files = Files::new();
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/guests/habits.wasm");
    let key = files.argument("key.pem");
    let link = files.argument("link.sig");
    std::os::unix::fs::symlink(files.path("real.sig"), &link).unwrap();
    std::fs::write(files.path("real.sig"), "old").unwrap();
    assert_eq!(exit(&run(&["policy", "sign", module, "--key", &key, "--new-key", "--out", &link], "")), 0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(files.path("real.sig")).unwrap().starts_with("toolwarden-signature-v1 "));
    std::fs::create_dir(files.path("folder")).unwrap();
    let folder = files.argument("folder");
    fails(&["policy", "sign", module, "--key", &key, "--out", &folder], "", 1, &["no regular file"]);
}
