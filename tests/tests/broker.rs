//! Questions in the store: in their order, bound to one call, used once, from any number of processes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use rusqlite::Connection;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwarden::approval::{Approval, Approver, Broker, Shown, Since, Ticket};
use toolwarden::audit::{AuditLog, AuditOptions, Filter, Mask, Trail};
use toolwarden::call::{Attendance, CallId};
use toolwarden::invoke::{Invoker, InvokerOptions, KeepArguments, NoEvents, Outcome, State};
use toolwarden::registry::Catalogue;
use toolwarden::store::Store;
use toolwarden_harness::agent::Agent;
use toolwarden_harness::{cli, component, question};

/// A store, and a clock that stands.
struct Place {
    folder: tempfile::TempDir,
    store: Arc<Store>,
    now: Arc<AtomicU64>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(&folder.path().join("data")).unwrap());
        Self { folder, store, now: Arc::new(AtomicU64::new(1_000_000)) }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn broker(&self) -> Broker {
        let now = Arc::clone(&self.now);
        let clock = move || UNIX_EPOCH + Duration::from_millis(now.load(Ordering::SeqCst));
        Broker::with_clock(Arc::clone(&self.store), Duration::from_mins(5), Arc::new(clock))
    }

    fn pass(&self, time: Duration) {
        self.now.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// Outcome and use of every question, in order.
    fn questions(&self) -> Vec<(Option<String>, bool)> {
        let connection = Connection::open(self.data().join("toolwarden.db")).unwrap();
        let mut statement = connection.prepare("SELECT outcome, used FROM question ORDER BY id").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

impl Place {
    /// Calls whose grant is used up.
    fn used(&self) -> BTreeSet<String> {
        let connection = Connection::open(self.data().join("toolwarden.db")).unwrap();
        let mut statement =
            connection.prepare("SELECT json_extract(body, '$.call') FROM question WHERE used = 1").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

fn asked(broker: &Broker, id: &str, arguments: &Value) -> tokio::task::JoinHandle<Approval> {
    let (broker, question) = (broker.clone(), question::of(id, arguments));
    tokio::spawn(async move { broker.ask(&question).await })
}

/// The question that is shown, once it is this call's.
async fn shown(broker: &Broker, call: &str) -> Shown {
    loop {
        if let (Some(shown), _) = broker.shown().unwrap()
            && shown.call == call
        {
            return shown;
        }
        tokio::task::yield_now().await;
    }
}

/// Waits until so many questions wait.
async fn waiting(broker: &Broker, number: u64) {
    while broker.shown().unwrap().1 != number {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn questions_are_answered_in_their_order_and_each_once() {
    let place = Place::new();
    let broker = place.broker();
    let first = asked(&broker, "c1", &json!({}));
    waiting(&broker, 1).await;
    let second = asked(&broker, "c2", &json!({}));
    waiting(&broker, 2).await;

    let one = shown(&broker, "c1").await;
    let code = |ticket: &Ticket, answer| broker.answer(ticket, answer).map_err(|error| error.code());
    assert_eq!(code(&Ticket::from("0"), Approval::AllowedOnce), Err("unknown-ticket"));
    for odd in [Approval::Cancelled, Approval::TimedOut, Approval::Unavailable] {
        assert_eq!(code(&one.ticket, odd), Err("bad-answer"));
    }
    assert_eq!(code(&one.ticket, Approval::AllowedOnce), Ok(()));
    assert_eq!(first.await.unwrap(), Approval::AllowedOnce);
    assert_eq!(code(&one.ticket, Approval::Rejected), Err("already-settled"));

    let two = shown(&broker, "c2").await;
    let third = asked(&broker, "c3", &json!({}));
    waiting(&broker, 2).await;
    let hidden: String = Connection::open(place.data().join("toolwarden.db"))
        .unwrap()
        .query_row("SELECT ticket FROM question WHERE id = 3", [], |row| row.get(0))
        .unwrap();
    assert_eq!(code(&Ticket::from(hidden.as_str()), Approval::AllowedOnce), Err("not-shown"));
    assert_eq!(code(&two.ticket, Approval::Rejected), Ok(()));
    assert_eq!(second.await.unwrap(), Approval::Rejected);
    let three = shown(&broker, "c3").await;
    assert_eq!(code(&three.ticket, Approval::Rejected), Ok(()));
    assert_eq!(third.await.unwrap(), Approval::Rejected);
    let settled = |outcome: &str, used| (Some(outcome.to_owned()), used);
    assert_eq!(
        place.questions(),
        [settled("allowed-once", true), settled("rejected", false), settled("rejected", false)]
    );
}

#[tokio::test]
async fn a_person_sees_what_would_run_and_what_changed() {
    let place = Place::new();
    let broker = place.broker();
    let call = asked(&broker, "c1", &json!({ "a": "x\u{202e}y", "b/c": 1, "d": 1 }));
    let one = shown(&broker, "c1").await;
    assert_eq!((one.server.as_deref(), one.tool.as_str(), &one.since), (Some("git"), "push", &Since::First));
    assert_eq!(one.arguments, json!({ "a": "x\u{202e}y", "b/c": 1, "d": 1 }));
    assert!(one.lines.join("\n").contains("\\u{202e}") && !one.lines.join("").contains('\u{202e}'), "{:?}", one.lines);
    assert!(one.risk.en.contains("third-party") && one.risk.zh.contains("第三方"));
    broker.answer(&one.ticket, Approval::AllowedOnce).unwrap();
    call.await.unwrap();

    let call = asked(&broker, "c2", &json!({ "a": "x\u{202e}y", "b/c": 2, "e": 1 }));
    let two = shown(&broker, "c2").await;
    let list = |name: &str| vec![name.to_owned()];
    assert_eq!(two.since, Since::Changed { added: list("/e"), removed: list("/d"), changed: list("/b~1c") });
    broker.answer(&two.ticket, Approval::Rejected).unwrap();
    call.await.unwrap();

    // What was declined is nothing to compare with.
    let call = asked(&broker, "c3", &json!({ "a": "x\u{202e}y", "b/c": 1, "d": 1 }));
    let three = shown(&broker, "c3").await;
    assert_eq!(three.since, Since::Same);
    call.abort();
}

#[tokio::test]
async fn who_is_taken_back_late_or_dead_stands_in_nobodys_way() {
    let place = Place::new();
    let broker = place.broker();
    let back = asked(&broker, "c1", &json!({}));
    waiting(&broker, 1).await;
    let late = asked(&broker, "c2", &json!({}));
    waiting(&broker, 2).await;
    // Taken back: the next one is shown.
    let one = shown(&broker, "c1").await;
    back.abort();
    let two = shown(&broker, "c2").await;
    assert_eq!(broker.answer(&one.ticket, Approval::AllowedOnce).unwrap_err().code(), "already-settled");
    // Late: nobody's answer counts any more.
    place.pass(Duration::from_mins(5));
    assert_eq!(broker.answer(&two.ticket, Approval::AllowedOnce).unwrap_err().code(), "already-settled");
    assert_eq!(late.await.unwrap(), Approval::TimedOut);

    // Dead: a row whose asker gives no sign of life.
    let dead = asked(&broker, "c3", &json!({}));
    shown(&broker, "c3").await;
    dead.abort();
    let connection = Connection::open(place.data().join("toolwarden.db")).unwrap();
    waiting(&broker, 0).await;
    connection.execute("UPDATE question SET outcome = NULL, settled = NULL WHERE id = 3", []).unwrap();
    assert_eq!(broker.shown().unwrap().1, 1);
    place.pass(Duration::from_secs(11));
    assert_eq!(broker.shown().unwrap(), (None, 0));
}

#[tokio::test]
async fn a_grant_counts_for_what_it_was_given_for() {
    let place = Place::new();
    let broker = place.broker();
    let call = asked(&broker, "c1", &json!({ "a": 1 }));
    let one = shown(&broker, "c1").await;
    // Somebody turns the row into one about another call before the answer comes.
    let connection = Connection::open(place.data().join("toolwarden.db")).unwrap();
    connection.execute("UPDATE question SET binding = zeroblob(32)", []).unwrap();
    broker.answer(&one.ticket, Approval::AllowedOnce).unwrap();
    assert_eq!(call.await.unwrap(), Approval::Unavailable);
    // Or uses it before.
    let call = asked(&broker, "c2", &json!({ "a": 1 }));
    let two = shown(&broker, "c2").await;
    connection.execute("UPDATE question SET used = 1", []).unwrap();
    broker.answer(&two.ticket, Approval::AllowedOnce).unwrap();
    assert_eq!(call.await.unwrap(), Approval::Unavailable);
    // Or removes it.
    let call = asked(&broker, "c3", &json!({ "a": 1 }));
    shown(&broker, "c3").await;
    connection.execute("DELETE FROM question", []).unwrap();
    assert_eq!(call.await.unwrap(), Approval::Unavailable);
}

#[test]
fn three_processes_ask_fifty_questions_each_and_each_is_settled_once() {
    let place = Place::new();
    let broker = Broker::new(Arc::clone(&place.store), Duration::from_mins(5));
    let mut children: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|name| {
            Command::new(env!("CARGO_BIN_EXE_approval-asker"))
                .arg(place.data())
                .args([name, "50"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    // A person who says yes to every third, and to the same one again.
    let (mut answers, mut counted) = (0, 0);
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        let Some(shown) = broker.shown().unwrap().0 else { continue };
        answers += 1;
        let answer = if answers % 3 == 0 { Approval::Rejected } else { Approval::AllowedOnce };
        counted += [0, 1].iter().filter(|_| broker.answer(&shown.ticket, answer).is_ok()).count();
    }
    let mut outcomes: BTreeMap<String, String> = BTreeMap::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (id, outcome) = line.split_once(' ').unwrap();
            assert!(outcomes.insert(id.into(), outcome.into()).is_none(), "{id} ended twice");
        }
    }
    assert_eq!(outcomes.len(), 150);
    let questions = place.questions();
    assert!(questions.iter().all(|(outcome, _)| outcome.is_some()), "{questions:?}");
    // Whoever goes on has used its own yes. One that is taken back at that very moment may have used it up, and does not go on.
    let allowed = outcomes.values().filter(|outcome| *outcome == "allowed-once").count();
    let used = place.used();
    for (id, outcome) in &outcomes {
        match outcome.as_str() {
            "allowed-once" => assert!(used.contains(id), "{id}"),
            "dropped" => {}
            _ => assert!(!used.contains(id), "{id} {outcome}"),
        }
    }
    let settled = |word: &str| questions.iter().filter(|(outcome, _)| outcome.as_deref() == Some(word)).count();
    assert_eq!(settled("allowed-once") + settled("rejected"), counted);
    assert!(allowed > 0 && settled("cancelled") > 0, "{allowed} allowed, {} cancelled", settled("cancelled"));
}

/// Runs a delete through an invoker that asks and records in a store.
async fn deletes(store: &Arc<Store>, broker: &Broker, keep: KeepArguments, log: AuditLog) -> Outcome {
    let _ = store;
    let settings = component::settings(&json!({ "system": { "toolApprovalMode": "dangerous" } })).unwrap();
    let policy = component::configured(component::embedded().unwrap(), &settings).unwrap();
    let judge = component::judge(policy, Catalogue::builtin(), settings.floors).unwrap();
    let agent = Arc::new(Agent::new().unwrap());
    std::fs::write(agent.root().join("x"), "x").unwrap();
    let invoker = Invoker::new(
        Arc::new(State::new(judge)),
        Arc::new(broker.clone()),
        Arc::clone(&agent) as _,
        Arc::new(NoEvents),
        InvokerOptions::default(),
    )
    .with_recorder(Arc::new(log), keep);
    let (caller, cancel) = (agent.caller(Attendance::Interactive), CancellationToken::new());
    let wire = br#"{"name":"Delete","arguments":{"path":"x"}}"#;
    let outcome = invoker.invoke_wire(CallId("c1".into()), wire, &caller, &cancel).await;
    let ran = !agent.root().join("x").exists();
    assert_eq!(ran, matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    outcome
}

#[tokio::test]
async fn what_is_asked_and_run_is_recorded_before_it_goes_on() {
    let place = Place::new();
    let broker = place.broker();
    let log = AuditLog::start(Arc::clone(&place.store), AuditOptions::default()).unwrap();
    let keep = KeepArguments::Masked(Mask::new(vec!["/path".into()]).unwrap());
    let person = {
        let broker = broker.clone();
        tokio::spawn(async move {
            let question = shown(&broker, "c1").await;
            broker.answer(&question.ticket, Approval::AllowedOnce).unwrap();
        })
    };
    let outcome = deletes(&place.store, &broker, keep, log).await;
    person.await.unwrap();
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    let entries = Trail::new(&place.store).newest(&Filter::default(), 10).unwrap();
    let told: Vec<Value> = entries.iter().map(|entry| serde_json::to_value(&entry.record).unwrap()).collect();
    let kinds: Vec<&str> = told.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["approval-required", "approval-settled", "executed"]);
    assert_eq!((&told[1]["approval"], &told[1]["reasonKind"]), (&json!("allowed-once"), &json!("delete")));
    assert!(told.iter().all(|record| record["arguments"] == json!({ "path": "[masked]" })), "{told:?}");
    assert!(told.iter().all(|record| record["argumentsDigest"] == told[0]["argumentsDigest"]));
}

#[tokio::test]
async fn no_audit_no_call() {
    let place = Place::new();
    let store = Arc::new(Store::open_with(&place.data(), Duration::from_millis(1)).unwrap());
    let log = AuditLog::start(Arc::clone(&store), AuditOptions::default()).unwrap();
    let lock = Connection::open(place.data().join("toolwarden.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = deletes(&store, &place.broker(), KeepArguments::Digest, log).await;
    let Outcome::Denied(verdict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((verdict.kind.unwrap().as_str(), verdict.detail.as_str()), ("audit-unavailable", "store-locked"));
    lock.execute_batch("ROLLBACK").unwrap();
    assert_eq!(place.questions(), [], "nobody was asked");
}

#[tokio::test]
async fn a_person_answers_on_the_command_line() {
    let place = Place::new();
    let data = place.data().display().to_string();
    let run = |arguments: &[&str]| {
        let output = cli::run(&[&["approvals"], arguments, &["--data", &data]].concat(), b"").unwrap();
        (output.status.code().unwrap(), cli::lines(&output).unwrap_or_default())
    };
    assert_eq!(run(&["show"]), (0, vec![json!({ "waiting": 0, "question": null })]));
    let broker = Broker::new(Arc::clone(&place.store), Duration::from_mins(5));
    let call = asked(&broker, "c1", &json!({ "a": 1 }));
    waiting(&broker, 1).await;
    let (_, shown) = run(&["show"]);
    let ticket = shown[0]["question"]["ticket"].as_str().unwrap().to_owned();
    assert_eq!(run(&["answer", "0", "allow"]).0, 1);
    assert_eq!(run(&["answer", &ticket, "perhaps"]).0, 2);
    assert_eq!(run(&["answer", &ticket, "allow"]), (0, vec![json!({ "answered": "allowed-once" })]));
    assert_eq!(call.await.unwrap(), Approval::AllowedOnce);
    assert_eq!(run(&["answer", &ticket, "allow"]).0, 1);
    let nowhere = place.folder.path().join("nowhere").display().to_string();
    assert_eq!(cli::run(&["approvals", "show", "--data", &nowhere], b"").unwrap().status.code(), Some(1));
}
