//! Output that nobody takes.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use toolwarden_harness::cli;

use crate::{Files, delete, exit, list, stderr};

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let files = Files::new();
    let calls = files.file("calls.jsonl", (delete("a") + "\n").repeat(5000));
    let call = files.file("call.json", delete("a"));
    let list = files.file("list.json", list("gh", &["a", "b"]).to_string());
    let commands: [&[&str]; 8] = [
        &["decide", &calls],
        &["explain", &call],
        &["explain", "--json", &call],
        &["registry", "--all", &list],
        &["doctor"],
        &["policy", "check"],
        &["completions", "bash"],
        &["--help"],
    ];
    for arguments in commands {
        let mut child = Command::new(cli::program().unwrap())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
fn with_full_disk(arguments: &[&str], input: &str, full: &str) -> Output {
    let sink = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let other = |name: &str| if full == name { sink() } else { Stdio::piped() };
    let mut child = Command::new(cli::program().unwrap())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(other("stdout"))
        .stderr(other("stderr"))
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may end before it has read all.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let files = Files::new();
    let list = files.file("list.json", list("gh", &["a", "b"]).to_string());
    let many = (delete("a") + "\n").repeat(2000);
    let commands: [(&[&str], &str); 8] = [
        (&["decide"], &delete("a")),
        (&["decide"], &many),
        (&["explain"], &delete("a")),
        (&["explain", "--json"], &delete("a")),
        (&["registry", &list], ""),
        (&["doctor"], ""),
        (&["policy", "check"], ""),
        (&["completions", "zsh"], ""),
    ];
    for (arguments, input) in commands {
        let output = with_full_disk(arguments, input, "stdout");
        let text = stderr(&output);
        assert_eq!(exit(&output), 1, "{arguments:?}: {text}");
        assert!(text.starts_with("error: cannot write the output: "), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_that_cannot_be_written_keeps_its_exit_code() {
    for (arguments, code) in [(&["decide", "/nowhere/calls"][..], 1), (&["decide", "--settings", "/nowhere/s"], 2)] {
        let output = with_full_disk(arguments, "", "stderr");
        assert_eq!(exit(&output), code, "{arguments:?}");
    }
}
