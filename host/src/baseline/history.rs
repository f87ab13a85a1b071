//! What was accepted before.

use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;

use super::fingerprint::Fingerprint;
use super::table::Revision;

/// What a revision did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// Put a baseline in force.
    Accepted,
    /// Took it out of force.
    Withdrawn,
}

/// One revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its number.
    pub revision: Revision,
    /// What it did.
    pub kind: EntryKind,
    /// When, in milliseconds since 1970, UTC.
    pub time_ms: i64,
    /// Who did it.
    pub who: String,
    /// Of what was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// All revisions, the newest first; at most so many.
///
/// # Errors
///
/// Those of the database.
pub fn history(connection: &Connection, most: u32) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT revision, kind, time, who, fingerprint FROM baseline ORDER BY revision DESC LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([most], |row| {
        let kind: String = row.get(1)?;
        Ok(Entry {
            revision: Revision(row.get(0)?),
            kind: if kind == "accepted" { EntryKind::Accepted } else { EntryKind::Withdrawn },
            time_ms: row.get(2)?,
            who: row.get(3)?,
            fingerprint: row.get::<_, Option<_>>(4)?.map(Fingerprint),
        })
    })?;
    rows.collect()
}

/// The text of a revision, as it was accepted; it is not validated.
///
/// # Errors
///
/// Those of the database.
pub fn accepted_text(connection: &Connection, revision: Revision) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT body FROM baseline WHERE revision = ?1";
    connection.query_row(sql, [revision.0], |row| row.get(0)).optional().map(Option::flatten)
}
