//! Baselines from and for elsewhere. One that was brought is a proposal: it comes into force only as any other does, by a person who
//! accepts what the servers here show.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Transaction};

use super::error::ImportError;
use super::fingerprint::Fingerprint;
use super::history::accepted_text;
use super::record::Stored;
use super::table::BaselineCache;
use crate::store::StoreFault;

/// The text of the baseline in force; none where there is no valid one.
///
/// # Errors
///
/// Those of the database.
pub fn export(connection: &Connection) -> rusqlite::Result<Option<String>> {
    match BaselineCache::default().load(connection)? {
        (Some(revision), stored) if matches!(*stored, Stored::Accepted(_)) => accepted_text(connection, revision),
        _ => Ok(None),
    }
}

/// Keeps a baseline from elsewhere, to be looked at, in the place of one that was brought before. Nothing comes into force.
///
/// # Errors
///
/// [`ImportError`].
pub fn import(transaction: &Transaction, text: &[u8], time_ms: i64) -> Result<Fingerprint, StoreFault<ImportError>> {
    let fingerprint = match Stored::read(text) {
        Stored::Accepted(baseline) => baseline.fingerprint(),
        Stored::FingerprintInvalid(place) => return Err(StoreFault::Own(ImportError::FingerprintInvalid(place))),
        Stored::Malformed(problem) => return Err(StoreFault::Own(ImportError::Malformed(problem))),
        Stored::Missing => return Err(StoreFault::Own(ImportError::Malformed("it is empty".into()))),
    };
    // What is a baseline is UTF-8.
    let text = String::from_utf8_lossy(text);
    transaction
        .execute("INSERT OR REPLACE INTO baseline_import (one, time, body) VALUES (1, ?1, ?2)", (time_ms, text))?;
    Ok(fingerprint)
}

/// What was brought from elsewhere. It is nothing to compare a call with.
///
/// # Errors
///
/// Those of the database.
pub fn imported(connection: &Connection) -> rusqlite::Result<Stored> {
    let found = connection.query_row("SELECT body FROM baseline_import", [], |row| {
        Ok(match row.get_ref(0)? {
            ValueRef::Text(text) => Stored::read(text),
            _ => Stored::Malformed("it is no text".into()),
        })
    });
    Ok(found.optional()?.unwrap_or(Stored::Missing))
}
