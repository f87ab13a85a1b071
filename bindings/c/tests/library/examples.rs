//! The lines that the README files show, built and run as they say.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use toolwarden::embed::Warden;

use crate::install::installed;
use crate::support::{HERE, Language, Linking, run};

/// The calls that the project's README begins with.
fn calls() -> Result<String> {
    Ok(std::fs::read_to_string(Path::new(HERE).join("../../examples/calls.jsonl"))?)
}

/// Whether a text shows a file, all of it, as an indented block.
fn shows(text: &str, source: &str) -> Result<bool> {
    let file = std::fs::read_to_string(Path::new(HERE).join(source))?;
    let indented = |line: &str| if line.is_empty() { "\n".into() } else { format!("    {line}\n") };
    Ok(text.contains(&file.lines().map(indented).collect::<Vec<_>>().concat()))
}

#[test]
fn the_readme_files_show_these_very_lines() -> Result<()> {
    let own = std::fs::read_to_string(Path::new(HERE).join("README.md"))?;
    let root = std::fs::read_to_string(Path::new(HERE).join("../../README.md"))?;
    assert!(shows(&own, "examples/decide.c")? && shows(&own, "examples/invoke.cpp")?);
    assert!(shows(&root, "examples/decide.c")?);
    Ok(())
}

#[test]
fn the_c_lines_decide_as_the_library_does() -> Result<()> {
    let installed = installed()?;
    let warden = Warden::open(br#"{"profile":"dangerous"}"#)?;
    let calls = calls()?;
    let mut expected = String::new();
    for call in calls.lines() {
        let answer = warden.decide(call.as_bytes())?;
        let word = if answer.contains(r#","verdict":"allow","#) { "run" } else { "stop" };
        writeln!(expected, "{word} {answer}")?;
    }
    expected.push_str("stop no answer\n");
    for linking in [Linking::Shared, Linking::Static] {
        let program = installed.build(Language::C11, "examples/decide.c", linking)?;
        let output = run(&mut Command::new(program), format!("{calls}no call\n").as_bytes())?;
        assert_eq!(String::from_utf8(output.stdout)?, expected, "{linking:?}");
    }
    assert!(expected.contains("run {") && expected.contains("stop {"), "{expected}");
    Ok(())
}

#[test]
fn the_cpp_lines_run_what_a_person_allowed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let call = |tool: &str, path: &str| {
        let arguments = serde_json::json!({ "path": path });
        serde_json::json!({
            "id": "c", "tool": tool, "arguments": arguments, "route": "direct", "attendance": "interactive",
            "workspace": { "root": folder.path(), "flavour": "posix" },
        })
        .to_string()
    };
    let (first, second, read) = (call("Delete", "first"), call("Delete", "second"), call("Read", "third"));
    let input = format!("{first}\nallowed-once\n{second}\nrejected\n{read}\n{first}\n");
    for linking in [Linking::Shared, Linking::Static] {
        let program = installed()?.build(Language::Cpp17, "examples/invoke.cpp", linking)?;
        let output = run(&mut Command::new(program), input.as_bytes())?;
        let text = String::from_utf8(output.stdout)?;
        let lines: Vec<&str> = text.lines().collect();
        let [allowed, rejected, free, unanswered] = lines.as_slice() else {
            anyhow::bail!("not four lines: {text}");
        };
        let allowed = allowed.strip_prefix("run ").context("not allowed")?;
        let answer: serde_json::Value = serde_json::from_str(allowed)?;
        let run = serde_json::json!({ "server": null, "tool": "Delete", "arguments": { "path": "first" } });
        assert_eq!(answer["run"], run, "{allowed}");
        assert!(rejected.starts_with("stop {") && rejected.contains("approval-rejected"), "{rejected}");
        assert!(free.starts_with("run {") && free.contains("third"), "{free}");
        // Where nobody answers, nothing runs.
        assert_eq!(*unanswered, "stop ");
    }
    Ok(())
}
