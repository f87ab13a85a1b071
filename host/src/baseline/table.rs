//! Where the baseline is kept.

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;

use super::record::Stored;

/// The tables, as one step of the store's schema.
pub const MIGRATION: &str = include_str!("tables.sql");

/// The last revision, and what the counter says it is.
const LAST: &str = "SELECT revision, kind, fingerprint, body, \
                    (SELECT seq FROM sqlite_sequence WHERE name = 'baseline') \
                    FROM baseline ORDER BY revision DESC LIMIT 1";

/// Number of a revision. Whoever accepts says which one it was compared with, so that of two who accept at once one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Revision(pub(super) i64);

impl Revision {
    /// The number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The revision of a number.
    #[must_use]
    pub const fn new(number: i64) -> Self {
        Self(number)
    }
}

/// The last revision; none where nothing was ever accepted.
///
/// # Errors
///
/// Those of the database.
pub fn revision(connection: &Connection) -> rusqlite::Result<Option<Revision>> {
    // The counter, not the rows: a row that somebody took away does not make an earlier one the last.
    let counter = connection
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'baseline'")?
        .query_row([], |row| row.get(0));
    counter.optional().map(|number| number.map(Revision))
}

/// Reads the baseline that is in force, and validates all of it.
///
/// # Errors
///
/// Those of the database. Whatever is stored where a baseline should be is no error but an answer.
pub fn load(connection: &Connection) -> rusqlite::Result<Stored> {
    BaselineCache::default().load(connection).map(|stored| Arc::unwrap_or_clone(stored.1))
}

/// The baseline as it was read last. It is read anew each time, and validated anew where a single byte differs.
#[derive(Debug, Default)]
pub struct BaselineCache {
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    text: Vec<u8>,
    fingerprint: Vec<u8>,
    stored: Arc<Stored>,
}

impl BaselineCache {
    /// The baseline that is in force, and its revision.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn load(&mut self, connection: &Connection) -> rusqlite::Result<(Option<Revision>, Arc<Stored>)> {
        let mut statement = connection.prepare_cached(LAST)?;
        if let Some(found) = statement.query_row([], |row| self.read(row)).optional()? {
            return Ok(found);
        }
        let stored = match revision(connection)? {
            None => Stored::Missing,
            Some(_) => Stored::Malformed("revisions were taken away".into()),
        };
        Ok((revision(connection)?, Arc::new(stored)))
    }

    fn read(&mut self, row: &Row) -> rusqlite::Result<(Option<Revision>, Arc<Stored>)> {
        let malformed = |problem: &str| Arc::new(Stored::Malformed(problem.into()));
        let revision = match row.get_ref(0)? {
            ValueRef::Integer(number) => Some(Revision(number)),
            _ => None,
        };
        if row.get_ref(4)? != row.get_ref(0)? {
            return Ok((revision, malformed("revisions were taken away")));
        }
        let stored = match (row.get_ref(1)?, row.get_ref(2)?, row.get_ref(3)?) {
            (ValueRef::Text(b"withdrawn"), ValueRef::Null, ValueRef::Null) => Arc::new(Stored::Missing),
            (ValueRef::Text(b"accepted"), ValueRef::Blob(fingerprint), ValueRef::Text(text)) => {
                self.validated(fingerprint, text)
            }
            _ => malformed("the row is none of a baseline"),
        };
        Ok((revision, stored))
    }

    fn validated(&mut self, fingerprint: &[u8], text: &[u8]) -> Arc<Stored> {
        if let Some(last) = self.last.as_ref().filter(|last| last.text == text && last.fingerprint == fingerprint) {
            return Arc::clone(&last.stored);
        }
        let stored = match Stored::read(text) {
            Stored::Accepted(baseline) if baseline.fingerprint().0.as_bytes() != fingerprint => {
                Stored::FingerprintInvalid("the whole".into())
            }
            stored => stored,
        };
        let stored = Arc::new(stored);
        self.last = Some(Last { text: text.into(), fingerprint: fingerprint.into(), stored: Arc::clone(&stored) });
        stored
    }
}
