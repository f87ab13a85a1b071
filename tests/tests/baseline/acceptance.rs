//! What comes into force, and what does not.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Barrier;

use crate::common::{accepted, database, echo, survey, written};
use serde_json::json;
use toolwarden::baseline::{
    Acceptance, BaselineCache, Entry, EntryKind, Exclusion, Exclusions, Fingerprint, Reach, Revision, State, Stored,
    Survey, Tolerance, accept, accepted_text, check, export, history, import, imported, load, revision, withdraw,
};
use toolwarden::store::Store;

fn none() -> Exclusions {
    Exclusions::default()
}

fn fingerprint(survey: &Survey) -> Fingerprint {
    survey.fingerprint(&none()).expect("a fingerprint")
}

fn in_force(connection: &rusqlite::Connection) -> Option<Fingerprint> {
    match load(connection).expect("a baseline") {
        Stored::Accepted(baseline) => Some(baseline.fingerprint()),
        _ => None,
    }
}

fn code<T>(result: Result<T, toolwarden::baseline::AcceptError>) -> &'static str {
    result.err().map_or("accepted", |error| error.code())
}

#[test]
fn only_what_was_looked_at_comes_into_force() {
    let mut connection = database();
    let (one, two) = (survey(vec![echo("x")]), survey(vec![echo("y")]));
    let first = accepted(&mut connection, None, &one, &none()).expect("accepted");
    let try_ = |connection: &mut rusqlite::Connection, acceptance: Acceptance| {
        code(written(connection, |transaction| accept(transaction, &acceptance)))
    };
    let exclusions = none();
    let base = Acceptance {
        seen: fingerprint(&two),
        base: Some(first),
        survey: &two,
        again: &two,
        exclusions: &exclusions,
        who: "terminal",
        time_ms: 2,
    };
    // The list changed after the person looked.
    assert_eq!(try_(&mut connection, Acceptance { survey: &one, again: &one, ..base }), "fingerprint-mismatch");
    // Somebody else was faster.
    assert_eq!(try_(&mut connection, Acceptance { base: None, ..base }), "baseline-overtaken");
    // The second listing shows something else.
    assert_eq!(try_(&mut connection, Acceptance { again: &one, ..base }), "unstable-fields");
    let twice = survey(vec![echo("x"), echo("x")]);
    assert_eq!(try_(&mut connection, Acceptance { survey: &twice, again: &twice, ..base }), "duplicate-tools");
    let absent = Exclusion::MetaKey { server: "security_demo".into(), key: "k".into() };
    let absent = Exclusions::new([absent]).expect("exclusions");
    assert_eq!(try_(&mut connection, Acceptance { exclusions: &absent, ..base }), "exclusion-absent");
    assert_eq!(in_force(&connection), Some(fingerprint(&one)), "what was refused changed nothing");
    assert_eq!(try_(&mut connection, base), "accepted");
    assert_eq!(in_force(&connection), Some(fingerprint(&two)));
}

#[test]
fn nothing_is_forgotten() {
    let mut connection = database();
    let (one, two) = (survey(vec![echo("x")]), survey(vec![echo("y")]));
    let first = accepted(&mut connection, None, &one, &none()).expect("accepted");
    let second = accepted(&mut connection, Some(first), &two, &none()).expect("accepted");
    let third =
        written(&mut connection, |transaction| withdraw(transaction, Some(second), "terminal", 3)).expect("withdrawn");
    assert_eq!(load(&connection).expect("a state"), Stored::Missing);
    let entry =
        |revision, kind, time_ms, fingerprint| Entry { revision, kind, time_ms, who: "terminal".into(), fingerprint };
    let expected = [
        entry(third, EntryKind::Withdrawn, 3, None),
        entry(second, EntryKind::Accepted, 1, Some(fingerprint(&two))),
        entry(first, EntryKind::Accepted, 1, Some(fingerprint(&one))),
    ];
    assert_eq!(history(&connection, 100).expect("a history"), expected);
    assert_eq!(history(&connection, 1).expect("a history"), expected[..1]);
    let text = accepted_text(&connection, first).expect("a text").expect("a text");
    assert!(matches!(Stored::read(text.as_bytes()), Stored::Accepted(b) if b.fingerprint() == fingerprint(&one)));
    // Withdrawn, and accepted again: from the withdrawal on.
    assert_eq!(code(accepted(&mut connection, Some(second), &two, &none())), "baseline-overtaken");
    accepted(&mut connection, Some(third), &two, &none()).expect("accepted");
    assert_eq!(in_force(&connection), Some(fingerprint(&two)));
}

#[test]
fn what_was_tampered_with_is_no_baseline() {
    let tampered = |sql: &str| {
        let mut connection = database();
        let first = accepted(&mut connection, None, &survey(vec![echo("x")]), &none()).expect("accepted");
        accepted(&mut connection, Some(first), &survey(vec![echo("y")]), &none()).expect("accepted");
        let untouched = in_force(&connection);
        if connection.execute_batch(sql).is_ok() {
            return "not refused";
        }
        assert_eq!(in_force(&connection), untouched);
        // Whoever can write the file can do more.
        connection
            .execute_batch(
                "DROP TRIGGER baseline_stays; DROP TRIGGER baseline_is_final; PRAGMA ignore_check_constraints = 1",
            )
            .expect("open");
        connection.execute_batch(sql).expect("tampered");
        match load(&connection).expect("a state") {
            Stored::Missing => "missing",
            Stored::Malformed(_) => "malformed",
            Stored::FingerprintInvalid(_) => "invalid",
            Stored::Accepted(_) => "accepted",
        }
    };
    let rows = [
        ("UPDATE baseline SET body = replace(body, '\"y\"', '\"z\"') WHERE revision = 2", "invalid"),
        ("UPDATE baseline SET body = (SELECT body FROM baseline WHERE revision = 1) WHERE revision = 2", "invalid"),
        ("UPDATE baseline SET fingerprint = zeroblob(32) WHERE revision = 2", "invalid"),
        ("UPDATE baseline SET fingerprint = zeroblob(3) WHERE revision = 2", "invalid"),
        ("UPDATE baseline SET body = '{}' WHERE revision = 2", "malformed"),
        ("UPDATE baseline SET body = CAST(x'ff' AS TEXT) WHERE revision = 2", "malformed"),
        ("UPDATE baseline SET body = NULL WHERE revision = 2", "malformed"),
        ("UPDATE baseline SET kind = 'maybe' WHERE revision = 2", "malformed"),
        ("UPDATE baseline SET kind = 'withdrawn' WHERE revision = 2", "malformed"),
        ("DELETE FROM baseline WHERE revision = 2", "malformed"),
        ("DELETE FROM baseline", "malformed"),
        ("UPDATE baseline SET revision = 9 WHERE revision = 1", "malformed"),
    ];
    for (sql, expected) in rows {
        assert_eq!(tampered(sql), expected, "{sql}");
    }
}

#[test]
fn what_was_brought_is_nothing_to_compare_with() {
    let (mut here, mut there) = (database(), database());
    let shown = survey(vec![echo("x")]);
    accepted(&mut there, None, &shown, &none()).expect("accepted");
    let text = export(&there).expect("a text").expect("a text");
    assert_eq!(export(&here).expect("nothing"), None);

    let brought = written(&mut here, |transaction| import(transaction, text.as_bytes(), 1)).expect("brought");
    assert_eq!(brought, fingerprint(&shown));
    assert!(matches!(imported(&here).expect("a state"), Stored::Accepted(b) if b.fingerprint() == brought));
    let state = check(&shown, &load(&here).expect("a state"), Reach::Catalogue, Tolerance::Notation);
    assert_eq!(state, State::BaselineMissing);
    assert_eq!(revision(&here).expect("a revision"), None);
    // It comes into force as any other does.
    accepted(&mut here, None, &shown, &none()).expect("accepted");
    assert_eq!(export(&here).expect("a text"), Some(text.clone()));

    for (bad, code) in [
        (text.replace("\"x\"", "\"y\""), "fingerprint-invalid"),
        (String::new(), "baseline-malformed"),
        ("[]".into(), "baseline-malformed"),
    ] {
        let error = written(&mut here, |transaction| import(transaction, bad.as_bytes(), 2)).expect_err("refused");
        assert_eq!(error.code(), code);
    }
    assert!(matches!(imported(&here).expect("a state"), Stored::Accepted(b) if b.fingerprint() == brought));
}

#[test]
fn of_two_who_accept_at_once_one_wins() {
    let folder = tempfile::tempdir().expect("a folder");
    let stores = [0, 1].map(|_| Store::open(folder.path()).expect("a store"));
    let surveys = [survey(vec![echo("x")]), survey(vec![echo("y")])];
    for round in 0..20 {
        let base = stores[0].read(revision).expect("a revision");
        let start = Barrier::new(2);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let runs: Vec<_> = stores
                .iter()
                .zip(&surveys)
                .map(|(store, survey)| {
                    let start = &start;
                    scope.spawn(move || {
                        let exclusions = none();
                        let acceptance = Acceptance {
                            seen: fingerprint(survey),
                            base,
                            survey,
                            again: survey,
                            exclusions: &exclusions,
                            who: "terminal",
                            time_ms: 1,
                        };
                        start.wait();
                        code(store.write(|transaction| accept(transaction, &acceptance)))
                    })
                })
                .collect();
            runs.into_iter().map(|run| run.join().expect("a thread")).collect()
        });
        let winners: Vec<_> =
            outcomes.iter().enumerate().filter(|(_, code)| **code == "accepted").map(|(at, _)| at).collect();
        assert_eq!(winners.len(), 1, "{round}: {outcomes:?}");
        assert!(outcomes.contains(&"baseline-overtaken"), "{outcomes:?}");
        let last = stores[1].read(|connection| Ok(in_force(connection))).expect("a baseline");
        assert_eq!(last, Some(fingerprint(&surveys[winners[0]])));
    }
}

#[test]
fn who_is_killed_while_accepting_leaves_the_old_or_the_new_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(Store::open(folder.path()).expect("a store"));
    let mut seen = Revision::new(0);
    for round in 0..12 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_baseline-accepter"))
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        // After so many accepted it is somewhere in the next one.
        let mut told = Vec::new();
        let lines = BufReader::new(child.stdout.take().expect("an output")).lines();
        for line in lines.take(1 + round % 5) {
            told.push(line.expect("a line"));
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        let store = Store::open(folder.path()).expect("a store");
        let (revision, stored) = store.read(|c| BaselineCache::default().load(c)).expect("a baseline");
        let revision = revision.expect("a revision");
        assert!(matches!(&*stored, Stored::Accepted(_)), "{stored:?}");
        let last = told.last().and_then(|line| line.parse().ok()).map(Revision::new).expect("a number");
        assert!(revision >= last && revision > seen, "what was told as accepted is there");
        seen = revision;
        let whole: String =
            store.read(|c| c.query_row("PRAGMA integrity_check", [], |row| row.get(0))).expect("a database");
        assert_eq!(whole, "ok");
    }
}

#[test]
fn what_is_unchanged_is_not_read_anew() {
    let mut connection = database();
    let first = accepted(&mut connection, None, &survey(vec![echo("x")]), &none()).expect("accepted");
    let mut cache = BaselineCache::default();
    let one = cache.load(&connection).expect("a baseline");
    let two = cache.load(&connection).expect("a baseline");
    assert!(std::sync::Arc::ptr_eq(&one.1, &two.1));
    accepted(&mut connection, Some(first), &survey(vec![json!({ "name": "other" })]), &none()).expect("accepted");
    let three = cache.load(&connection).expect("a baseline");
    assert_ne!(one.1, three.1);
    assert_ne!(one.0, three.0);
}
