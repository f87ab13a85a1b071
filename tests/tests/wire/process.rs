//! Processes: what they get to see, and that they are gone afterwards.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolwarden::mcp::config::ServerConfig;
use toolwarden::mcp::listing::{ListLimits, list_once, list_tools};
use toolwarden::mcp::{Connection, WireError};

use crate::fixture::{LONG, SCRIPTED, in_ms, options, quick, scripted, server, soon};

/// Whether a process is there, and no zombie.
fn lives(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Waits until a process is gone: the system takes its moments.
async fn gone(id: u32) {
    for _ in 0..2_000 {
        if !lives(id) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{id} is still there");
}

/// A server that ignores the end of its input, and TERM.
fn stubborn(habits: &[&str]) -> ServerConfig {
    let mut args = vec!["-c", "trap '' TERM; exec \"$0\" \"$@\"", SCRIPTED, "stays"];
    args.extend(habits);
    server(&json!({"command": "sh", "args": args}))
}

fn number(file: &Path) -> u32 {
    std::fs::read_to_string(file).expect("the file of the grandchild").parse().expect("a number")
}

#[tokio::test]
async fn a_server_ends_with_its_input() {
    let connection = Connection::open(&scripted(&[]), &options(), soon()).await.unwrap();
    let id = connection.process_id().unwrap();
    assert!(lives(id));
    assert_eq!(connection.close().await.as_deref(), Some("exit code 0"));
    assert!(!lives(id));
}

#[tokio::test]
async fn one_that_stays_is_asked_and_one_that_does_not_hear_is_killed() {
    let connection = Connection::open(&scripted(&["stays"]), &options(), soon()).await.unwrap();
    let id = connection.process_id().unwrap();
    let ending = toolwarden::mcp::Ending { after_term: LONG, ..quick() };
    assert_eq!(connection.close_within(ending).await.as_deref(), Some("signal 15"));
    assert!(!lives(id));

    let connection = Connection::open(&stubborn(&[]), &options(), soon()).await.unwrap();
    let id = connection.process_id().unwrap();
    assert_eq!(connection.close_within(quick()).await, None);
    assert!(!lives(id));
}

#[tokio::test]
async fn what_a_server_started_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let habit = format!("grandchild={}", file.display());
    // In order; dropped; out of time; the server itself long gone.
    let connection = Connection::open(&scripted(&[&habit]), &options(), soon()).await.unwrap();
    let grandchild = number(&file);
    assert!(lives(grandchild));
    connection.close().await;
    gone(grandchild).await;

    let connection = Connection::open(&stubborn(&[&habit]), &options(), soon()).await.unwrap();
    let (child, grandchild) = (connection.process_id().unwrap(), number(&file));
    drop(connection);
    gone(child).await;
    gone(grandchild).await;

    let silent = stubborn(&[&habit, "era=legacy", "silent=tools/list"]);
    let error = list_once(&silent, &options(), &ListLimits::default(), quick(), in_ms(1_000)).await.unwrap_err();
    assert_eq!(error.code(), "deadline-exceeded");
    gone(number(&file)).await;

    let dying = scripted(&[&habit, "era=legacy", "dies=tools/list"]);
    let connection = Connection::open(&dying, &options(), soon()).await.unwrap();
    // The grandchild holds the pipe open, so the end of the server is not seen by that.
    let listed = list_tools(&connection, &ListLimits::default(), soon()).await;
    assert!(
        matches!(&listed, Err(WireError::Closed(ended)) if ended.exit.as_deref() == Some("exit code 3")),
        "{listed:?}"
    );
    drop(connection);
    gone(number(&file)).await;
}

#[tokio::test]
async fn giving_up_a_probe_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let habit = format!("grandchild={}", file.display());
    let (server, options) = (stubborn(&[&habit, "silent=server/discover"]), options());
    let listing =
        tokio::spawn(
            async move { list_once(&server, &options, &ListLimits::default(), quick(), soon()).await.map(drop) },
        );
    while std::fs::read_to_string(&file).unwrap_or_default().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    listing.abort();
    assert!(listing.await.unwrap_err().is_cancelled());
    gone(number(&file)).await;
}

#[tokio::test]
async fn a_server_sees_the_least_of_our_environment() {
    let server = server(&json!({"command": SCRIPTED, "args": ["env"], "env": {"OWN": "x", "TERM": "dumb"}}));
    let listing = list_once(&server, &options(), &ListLimits::default(), quick(), soon()).await.unwrap();
    let names = listing.tools[0]["description"].as_str().unwrap();
    let allowed = |name: &str| name == "OWN" || toolwarden::mcp::config::INHERITED.contains(&name);
    assert!(names.split(',').all(allowed), "{names}");
    assert!(["OWN", "TERM", "PATH"].iter().all(|wanted| names.split(',').any(|name| name == *wanted)), "{names}");
}

#[tokio::test]
async fn no_secret_is_in_what_is_told_of_a_server() {
    let entry = json!({"command": "sh", "args": ["-c", "echo \"key is $KEY\" >&2; echo \"$KEY\"; exit 1"], "env": {"KEY": "s3cret-key"}});
    let server = server(&entry);
    let error = Connection::open(&server, &options(), soon()).await.unwrap_err();
    let WireError::Closed(ended) = &error else { panic!("{error}") };
    assert!(ended.stderr.iter().any(|line| line == "key is [hidden]"), "{ended:?}");
    let Value::Object(identity) = server.identity.to_value() else { panic!("no object") };
    assert_eq!(identity["env"], json!(["KEY"]));
    for shown in [format!("{error:?} {error}"), format!("{server:?}"), server.identity.to_value().to_string()] {
        assert!(!shown.contains("s3cret-key"), "{shown}");
    }
}
