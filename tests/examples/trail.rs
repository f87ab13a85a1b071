//! How fast the audit trail is: appends, the newest hundred, a check of the chain.
//!
//!   cargo run --release -p toolwarden-harness --example trail [RECORDS]

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use toolwarden::audit::{AuditKind, AuditLog, AuditOptions, Filter, Record, Recorder as _, Retention, Trail};
use toolwarden::call::CallId;
use toolwarden::store::Store;

fn record(number: usize) -> Record {
    Record {
        call: Some(CallId(format!("call-{number}"))),
        server: Some("github".into()),
        tool: Some("create_issue".into()),
        reason: Some("every call of a covered MCP tool needs a person's word".into()),
        arguments_digest: Some(format!("sha256:{number:064x}")),
        generation: Some(7),
        more: Some(json!({ "number": number })),
        ..Record::new(if number.is_multiple_of(2) { AuditKind::Denied } else { AuditKind::Executed })
    }
}

fn main() -> Result<()> {
    let records: usize = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let store = Arc::new(Store::open(&folder.path().join("data"))?);
    let retention = Retention { records: u64::MAX, age: None };
    let log = AuditLog::start(Arc::clone(&store), AuditOptions { retention, ..AuditOptions::default() })?;

    let begun = Instant::now();
    for number in 0..records {
        log.note(record(number));
        // The queue is bounded, and this loop is faster than any disk.
        if number % 5_000 == 4_999 {
            log.write(record(number))?;
        }
    }
    log.write(record(records))?;
    let appended = begun.elapsed();
    let each = appended / u32::try_from(records)?;
    println!("{records} records appended in batches: {appended:.2?}, {each:.2?} each");

    let median = |mut times: Vec<Duration>| {
        times.sort();
        (times.get(times.len() / 2).copied().unwrap_or_default(), times.last().copied().unwrap_or_default())
    };
    let time = |work: &mut dyn FnMut() -> Result<()>| -> Result<(Duration, Duration)> {
        let mut times = Vec::new();
        for _ in 0..200 {
            let begun = Instant::now();
            work()?;
            times.push(begun.elapsed());
        }
        Ok(median(times))
    };
    let (half, worst) = time(&mut || Ok(log.write(record(1))?))?;
    println!("one record, on disk when it returns: median {half:.2?}, longest {worst:.2?}");
    let trail = Trail::new(&store);
    let (half, worst) = time(&mut || Ok(trail.newest(&Filter::default(), 100).map(drop)?))?;
    println!("the newest 100: median {half:.2?}, longest {worst:.2?}");
    let denied = Filter { kinds: vec![AuditKind::Denied], ..Filter::default() };
    let (half, worst) = time(&mut || Ok(trail.newest(&denied, 100).map(drop)?))?;
    println!("the newest 100 of one kind: median {half:.2?}, longest {worst:.2?}");
    let begun = Instant::now();
    let report = trail.verify(&[])?;
    println!("the chain of {} records is whole: {:.2?}", report.records, begun.elapsed());
    Ok(())
}
