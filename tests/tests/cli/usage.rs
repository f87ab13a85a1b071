//! Usage, help and completions.

use crate::{exit, fails, run, stderr, stdout};

#[test]
fn wrong_usage_ends_with_two() {
    let rows: [(&[&str], &str); 12] = [
        (&["nonsense"], "nonsense"),
        (&["decide", "--nonsense"], "--nonsense"),
        (&["decide", "a", "b"], "'b'"),
        (&["decide", "--profile", "safe"], "dangerous, locked"),
        (&["decide", "--profile"], "--profile"),
        (&["decide", "--server", "a b"], "1 to 32"),
        (&["registry", "--server", ""], "--server"),
        (&["registry", "--context-window", "many"], "many"),
        (&["policy", "nonsense"], "nonsense"),
        (&["policy", "build"], "<FOLDER>"),
        (&["completions", "cmd"], "bash"),
        (&["completions"], "<SHELL>"),
    ];
    for (arguments, says) in rows {
        fails(arguments, "", 2, &[says, "--help"]);
    }
    for arguments in [&[][..], &["policy"]] {
        let output = run(arguments, "");
        assert_eq!((exit(&output), stdout(&output).as_str()), (2, ""));
        assert!(stderr(&output).contains("Usage: "), "{}", stderr(&output));
    }
}

/// Walks through the commands as the help lists them, so that a new one is not forgotten.
#[test]
fn every_command_has_help_with_an_example() {
    fn walk(path: &[&str], seen: &mut Vec<String>) {
        let output = run(&[path, &["--help"]].concat(), "");
        let help = stdout(&output);
        assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{path:?}");
        let listed = help.split_once("Commands:\n").map_or("", |(_, rest)| rest);
        let commands: Vec<&str> = listed
            .lines()
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_whitespace().next())
            .filter(|command| *command != "help")
            .collect();
        if commands.is_empty() || path.is_empty() {
            let name = [&["toolwarden"], path].concat().join(" ");
            let example = help.split_once("Example").map_or("", |(_, rest)| rest);
            assert!(example.contains(&name), "{name} --help has no example:\n{help}");
            seen.push(name);
        }
        for command in commands {
            walk(&[path, &[command]].concat(), seen);
        }
    }
    let mut seen = Vec::new();
    walk(&[], &mut seen);
    for name in [
        "toolwarden",
        "toolwarden decide",
        "toolwarden explain",
        "toolwarden registry",
        "toolwarden policy build",
        "toolwarden policy check",
        "toolwarden doctor",
        "toolwarden completions",
    ] {
        assert!(seen.iter().any(|s| s == name), "{name} is not in {seen:?}");
    }
}

#[test]
fn the_version_is_told() {
    for flag in ["--version", "-V"] {
        let output = run(&[flag], "");
        assert_eq!(
            (exit(&output), stdout(&output), stderr(&output)),
            (0, format!("toolwarden {}\n", env!("CARGO_PKG_VERSION")), String::new())
        );
    }
}

#[test]
fn every_shell_gets_its_completions() {
    for (shell, sign) in
        [("bash", "complete -F _toolwarden"), ("zsh", "#compdef toolwarden"), ("fish", "complete -c toolwarden")]
    {
        let output = run(&["completions", shell], "");
        let script = stdout(&output);
        assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{shell}");
        for word in [sign, "decide", "explain", "registry", "policy", "doctor", "profile"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}
