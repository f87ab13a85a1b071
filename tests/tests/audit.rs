//! The store and the audit trail: several processes, faults of the disk, cuts and edits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use serde_json::{Value, json};
use toolwarden::audit::{AuditKind, AuditLog, AuditOptions, Filter, Head, Record, Recorder as _, Retention, Trail};
use toolwarden::call::CallId;
use toolwarden::store::Store;
use toolwarden_harness::cli;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn store(&self) -> Arc<Store> {
        Arc::new(Store::open(&self.data()).unwrap())
    }

    fn log(&self) -> AuditLog {
        AuditLog::start(self.store(), AuditOptions::default()).unwrap()
    }

    /// The database itself, past all that guards it.
    fn raw(&self) -> Connection {
        Connection::open(self.data().join("toolwarden.db")).unwrap()
    }

    fn verify(&self, heads: &[Head]) -> Result<u64, &'static str> {
        let report = Trail::new(&self.store()).verify(heads);
        report.map(|report| report.records).map_err(|broken| broken.code())
    }

    fn command(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let data = self.data();
        let output = cli::run(&[arguments, &["--data", data.to_str().unwrap()]].concat(), b"").unwrap();
        (output.status.code().unwrap(), cli::lines(&output).unwrap_or_default())
    }
}

fn record(number: usize) -> Record {
    let kind = AuditKind::ALL[number % AuditKind::ALL.len()];
    Record { call: Some(CallId(format!("c{number}"))), tool: Some(format!("t{}", number % 3)), ..Record::new(kind) }
}

fn filled(records: usize) -> Place {
    let place = Place::new();
    let log = place.log();
    (0..records).for_each(|number| log.note(record(number)));
    drop(log);
    place
}

#[test]
fn records_come_back_as_they_went_and_the_chain_is_whole() {
    let place = Place::new();
    let log = place.log();
    let full = Record {
        server: Some("s".into()),
        reason: Some("because \u{202e}".into()),
        arguments: Some(json!({ "a": [1.5, null, "é"] })),
        lost: None,
        ..record(2)
    };
    log.note(record(0));
    log.write(full.clone()).unwrap();
    // What was noted before is on disk too.
    let entries = Trail::new(&place.store()).newest(&Filter::default(), 100).unwrap();
    let told: Vec<(u64, &Record)> = entries.iter().map(|entry| (entry.seq, &entry.record)).collect();
    assert_eq!(told, [(1, &record(0)), (2, &full)]);
    assert!(entries[0].time.ends_with('Z') && entries[0].time.len() == 24, "{}", entries[0].time);
    drop(log);
    assert_eq!(place.verify(&[]), Ok(2));
}

#[test]
fn filters_and_the_command_line() {
    let place = filled(40);
    let (code, all) = place.command(&["audit", "tail"]);
    assert_eq!((code, all.len(), &all[39]["seq"]), (0, 40, &json!(40)));
    let (_, denied) = place.command(&["audit", "tail", "--kind", "denied", "--kind", "executed", "-n", "3"]);
    assert!(denied.len() == 3 && denied.iter().all(|e| e["kind"] == "denied" || e["kind"] == "executed"), "{denied:?}");
    let (_, tool) = place.command(&["audit", "export", "--tool", "t1", "--after", "20"]);
    assert!(!tool.is_empty() && tool.iter().all(|e| e["tool"] == "t1" && e["seq"].as_u64() > Some(20)), "{tool:?}");
    let (_, events) = place.command(&["audit", "export", "--format", "ocsf"]);
    assert_eq!(events.len(), 40);
    for (event, entry) in events.iter().zip(&all) {
        assert_eq!((&event["class_uid"], &event["type_uid"]), (&json!(6003), &json!(600_399)));
        assert_eq!((&event["metadata"]["uid"], &event["activity_name"]), (&entry["hash"], &entry["kind"]));
    }
    let (code, verified) = place.command(&["audit", "verify"]);
    assert_eq!((code, &verified[0]["ok"], &verified[0]["records"]), (0, &json!(true), &json!(40)));
    assert_eq!(place.command(&["audit", "tail", "--kind", "none"]).0, 2);
    let nowhere = Place::new();
    assert_eq!(nowhere.command(&["audit", "verify"]).0, 1);
    assert!(!nowhere.data().exists(), "looking makes nothing");
}

#[test]
fn whatever_is_done_to_a_record_shows() {
    let cases: [(&str, &str); 9] = [
        ("UPDATE audit SET body = replace(body, '\"c7\"', '\"c8\"') WHERE seq = 8", "record-changed"),
        ("UPDATE audit SET hash = zeroblob(32) WHERE seq = 8", "record-changed"),
        ("UPDATE audit SET body = body || ' ' WHERE seq = 20", "record-changed"),
        ("DELETE FROM audit WHERE seq = 8", "record-missing"),
        ("DELETE FROM audit WHERE seq = 1", "record-missing"),
        ("DELETE FROM audit WHERE seq = 20", "record-missing"),
        ("DELETE FROM audit", "record-missing"),
        ("UPDATE audit_chain SET head_hash = zeroblob(32)", "head-changed"),
        ("INSERT INTO audit (seq, body, hash) SELECT 21, body, hash FROM audit WHERE seq = 20", "record-behind-head"),
    ];
    for (sql, code) in cases {
        let place = filled(20);
        assert_eq!(place.verify(&[]), Ok(20));
        place.raw().execute_batch(sql).unwrap();
        assert_eq!(place.verify(&[]), Err(code), "{sql}");
        assert_eq!(place.command(&["audit", "verify"]).0, 1, "{sql}");
    }
    // Two records changed places.
    let place = filled(20);
    place
        .raw()
        .execute_batch("UPDATE audit SET seq = 99 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 6; UPDATE audit SET seq = 6 WHERE seq = 99")
        .unwrap();
    assert_eq!(place.verify(&[]), Err("record-changed"));
}

#[test]
fn a_chain_that_was_written_anew_lacks_the_head_that_was_kept_elsewhere() {
    let place = filled(20);
    let kept: Head = place.command(&["audit", "verify"]).1[0]["head"].as_str().unwrap().parse().unwrap();
    assert_eq!(place.verify(&[kept]), Ok(20));
    // A tail that is cut off with its head leaves a chain that is whole.
    place
        .raw()
        .execute_batch("DELETE FROM audit WHERE seq > 15; UPDATE audit_chain SET head_seq = 15, head_hash = (SELECT hash FROM audit WHERE seq = 15)")
        .unwrap();
    assert_eq!(place.verify(&[]), Ok(15));
    assert_eq!(place.verify(&[kept]), Err("head-unknown"));
    // And goes on with others.
    let log = place.log();
    (0..10).for_each(|number| log.note(record(number)));
    drop(log);
    assert_eq!((place.verify(&[]), place.verify(&[kept])), (Ok(25), Err("head-unknown")));
    assert_eq!(place.command(&["audit", "verify", "--head", &kept.to_string()]).0, 1);
}

#[test]
fn old_records_go_and_the_chain_goes_on_from_where_they_were() {
    let place = Place::new();
    let now = Arc::new(AtomicU64::new(1_000_000));
    let clock = {
        let now = Arc::clone(&now);
        move || UNIX_EPOCH + Duration::from_millis(now.load(Ordering::SeqCst))
    };
    let options = |records, age| AuditOptions { retention: Retention { records, age }, clock: Arc::new(clock.clone()) };
    let log = AuditLog::start(place.store(), options(50, None)).unwrap();
    for number in 0..200 {
        log.write(record(number)).unwrap();
    }
    drop(log);
    assert_eq!(place.verify(&[]), Ok(50));
    let oldest = Head {
        seq: 3,
        hash: "sha256:0000000000000000000000000000000000000000000000000000000000000000".parse().unwrap(),
    };
    assert_eq!(place.verify(&[oldest]), Err("head-too-old"));

    // By age: what is older than an hour goes, once another record comes.
    now.store(5_000_000, Ordering::SeqCst);
    let log = AuditLog::start(place.store(), options(1_000, Some(Duration::from_hours(1)))).unwrap();
    log.write(record(1)).unwrap();
    assert_eq!(place.verify(&[]), Ok(1));
    // A clock that goes back lets nothing go out of turn.
    now.store(1_000, Ordering::SeqCst);
    log.write(record(2)).unwrap();
    assert_eq!(place.verify(&[]), Ok(2));
}

#[test]
fn several_processes_write_one_chain() {
    let place = Place::new();
    drop(place.store());
    let children: Vec<_> = (0..3).map(|_| appender(&place.data(), 100)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(place.verify(&[]), Ok(300));
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    for round in 0..10 {
        let place = Place::new();
        drop(place.store());
        let mut child = appender(&place.data(), 100_000);
        // A while later, at another place each time.
        let acknowledged = {
            let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            let mut last = 0;
            for _ in 0..=(round * 7) {
                line.clear();
                std::io::BufRead::read_line(&mut out, &mut line).unwrap();
                last = line.trim().parse::<u64>().unwrap();
            }
            child.kill().unwrap();
            last
        };
        child.wait().unwrap();
        let records = place.verify(&[]).unwrap();
        assert!(records >= acknowledged, "{records} of {acknowledged}");
    }
}

/// A process that appends records, and tells the number of each once it is on disk.
fn appender(data: &Path, records: usize) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_audit-appender"))
        .arg(data)
        .arg(records.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_store_that_cannot_be_used_says_why() {
    let code = |data: &Path| Store::open(data).map(|_| "opened").map_err(|error| error.code());
    // From the future, and no store at all.
    let place = filled(1);
    place.raw().pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(code(&place.data()), Err("store-newer"));
    assert_eq!(place.command(&["audit", "verify"]).0, 1);
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    place.raw().execute_batch("CREATE TABLE mine (x)").unwrap();
    private(&place.data());
    assert_eq!(code(&place.data()), Err("store-corrupt"));
    let place = filled(1);
    std::fs::write(place.data().join("toolwarden.db"), vec![7; 5000]).unwrap();
    for side in ["toolwarden.db-wal", "toolwarden.db-shm"] {
        let _ = std::fs::remove_file(place.data().join(side));
    }
    assert_eq!(code(&place.data()), Err("store-corrupt"));
    // A file in the place of the folder.
    let place = Place::new();
    std::fs::write(place.data(), "").unwrap();
    assert!(code(&place.data()).is_err());
}

/// The file's mode, as the store wants it.
fn private(data: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::set_permissions(data.join("toolwarden.db"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn a_store_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let place = Place::new();
    let log = place.log();
    log.write(record(0)).unwrap();
    let file = place.data().join("toolwarden.db");
    assert_eq!((mode(&place.data()), mode(&file)), (0o700, 0o600));
    for side in ["toolwarden.db-wal", "toolwarden.db-shm"] {
        assert_eq!(mode(&place.data().join(side)), 0o600, "{side}");
    }
    drop(log);
    let code = || Store::open(&place.data()).map(|_| "opened").map_err(|error| error.code());
    set(&file, 0o640);
    assert_eq!(code(), Err("store-exposed"));
    set(&file, 0o600);
    set(&place.data(), 0o770);
    assert_eq!(code(), Err("store-exposed"));
    set(&place.data(), 0o700);
    assert_eq!(code(), Ok("opened"));
    // A second name, and a link in its place.
    std::fs::hard_link(&file, place.folder.path().join("second")).unwrap();
    assert_eq!(code(), Err("store-exposed"));
    std::fs::rename(&file, place.folder.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(place.folder.path().join("elsewhere"), &file).unwrap();
    assert_eq!(code(), Err("store-exposed"));
}

#[test]
fn a_locked_store_lets_nothing_go_on_and_keeps_what_was_noted() {
    let place = Place::new();
    drop(place.store());
    let store = Arc::new(Store::open_with(&place.data(), Duration::from_millis(1)).unwrap());
    let log = AuditLog::start(store, AuditOptions::default()).unwrap();
    let raw = place.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    log.note(record(1));
    assert_eq!(log.write(record(2)).unwrap_err().code(), "store-locked");
    raw.execute_batch("ROLLBACK").unwrap();
    log.write(record(3)).unwrap();
    drop(log);
    let calls: Vec<String> = Trail::new(&place.store())
        .newest(&Filter::default(), 10)
        .unwrap()
        .into_iter()
        .map(|entry| entry.record.call.unwrap().0)
        .collect();
    // What was told that it failed is not there; what was only noted is.
    assert_eq!(calls, ["c1", "c3"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_lets_nothing_go_on_and_harms_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=400k,mode=0700", "none"])
        .arg(place.data())
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: only root may mount a small file system");
        return;
    }
    let log = place.log();
    let large = Record { reason: Some("x".repeat(20_000)), ..record(0) };
    let mut written = 0;
    let code = loop {
        match log.write(large.clone()) {
            Ok(()) => written += 1,
            Err(error) => break error.code().to_owned(),
        }
        assert!(written < 100);
    };
    drop(log);
    let records = Trail::new(&place.store()).verify(&[]).map(|report| report.records).map_err(|broken| broken.code());
    // Lazily: a test beside this one may be starting a program, which holds our files open until it is another one.
    assert!(Command::new("umount").arg("-l").arg(place.data()).status().unwrap().success());
    assert_eq!((code.as_str(), records), ("store-full", Ok(written)));
}

#[test]
fn whoever_follows_sees_what_comes() {
    let place = filled(3);
    let data = place.data();
    let mut child = Command::new(cli::program().unwrap())
        .args(["audit", "tail", "--follow", "-n", "1", "--data", data.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["seq"].as_u64().unwrap()
    };
    assert_eq!(next(), 3);
    let log = place.log();
    log.write(record(9)).unwrap();
    log.write(record(10)).unwrap();
    assert_eq!((next(), next()), (4, 5));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn tasks_wait_for_the_disk_without_holding_a_thread() {
    let place = Place::new();
    let log = Arc::new(place.log());
    let done = Arc::new(Mutex::new(0));
    let tasks: Vec<_> = (0..50)
        .map(|number| {
            let (log, done) = (Arc::clone(&log), Arc::clone(&done));
            tokio::spawn(async move {
                log.record(record(number)).await.unwrap();
                *done.lock().unwrap() += 1;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!((*done.lock().unwrap(), place.verify(&[])), (50, Ok(50)));
    assert!(SystemTime::now() > UNIX_EPOCH);
}
