//! Appends records to an audit trail, and tells how many are on disk.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use toolwarden::audit::{AuditKind, AuditLog, AuditOptions, Record};
use toolwarden::store::Store;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let data = arguments.next().context("a folder")?;
    let records: u64 = arguments.next().context("a number")?.parse()?;
    let log = AuditLog::start(Arc::new(Store::open(Path::new(&data))?), AuditOptions::default())?;
    let mut out = std::io::stdout().lock();
    for number in 1..=records {
        log.write(Record::new(AuditKind::Executed))?;
        writeln!(out, "{number}")?;
        out.flush()?;
    }
    Ok(())
}
