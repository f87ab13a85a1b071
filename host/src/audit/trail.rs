//! Reading the trail.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::chain::{self, Head};
use super::error::AuditError;
use super::log;
use super::record::{AuditKind, Record};
use crate::digest::Digest;
use crate::store::Store;

/// Records that are read at once while the chain is checked.
const CHUNK: i64 = 1_000;

/// The trail, to be read.
#[derive(Debug)]
pub struct Trail<'s> {
    store: &'s Store,
}

/// A record as it stands in the trail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its number; the first is 1.
    pub seq: u64,
    /// When, in UTC, as RFC 3339 has it.
    pub time: String,
    /// The same in milliseconds since 1970.
    pub time_ms: i64,
    /// What it says.
    #[serde(flatten)]
    pub record: Record,
    /// Its hash.
    #[serde(serialize_with = "text")]
    pub hash: Digest,
}

fn text<S: serde::Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(digest)
}

/// The body of a record as it is stored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    time: String,
    time_ms: i64,
    #[serde(flatten)]
    record: serde_json::Map<String, serde_json::Value>,
}

/// Which records are wanted. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of these kinds; none: of any.
    pub kinds: Vec<AuditKind>,
    /// About this tool, by its raw name.
    pub tool: Option<String>,
    /// About a tool of this server.
    pub server: Option<String>,
}

/// What a check of the chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Records that are kept.
    pub records: u64,
    /// The record before the first of them.
    pub anchor: Head,
    /// The last of them: what to keep elsewhere.
    pub head: Head,
}

/// Where the chain is broken.
#[derive(Debug, Error)]
pub enum Break {
    /// A record is not the one that was written.
    #[error("record {0} was changed: its hash is another one")]
    Changed(u64),
    /// A record is missing.
    #[error("record {0} is missing")]
    Missing(u64),
    /// The trail goes on behind its head.
    #[error("record {0} stands behind the head of the chain")]
    Behind(u64),
    /// The head is not the last record's.
    #[error("the head of the chain is not the hash of its last record")]
    Head,
    /// A head that was kept elsewhere is not in the chain.
    #[error("the chain does not hold the head {0}, which was kept elsewhere")]
    Foreign(Head),
    /// A head that was kept elsewhere is older than the oldest record.
    #[error("the head {0} is older than the oldest record that is kept, so nothing can be said about it")]
    Older(Head),
    /// It cannot be read.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl Break {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Changed(_) => "record-changed",
            Self::Missing(_) => "record-missing",
            Self::Behind(_) => "record-behind-head",
            Self::Head => "head-changed",
            Self::Foreign(_) => "head-unknown",
            Self::Older(_) => "head-too-old",
            Self::Audit(error) => error.code(),
        }
    }
}

impl<'s> Trail<'s> {
    /// The trail in a store.
    #[must_use]
    pub const fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// The newest records that are wanted, up to so many, the oldest of them first.
    ///
    /// # Errors
    ///
    /// [`AuditError`].
    pub fn newest(&self, filter: &Filter, most: usize) -> Result<Vec<Entry>, AuditError> {
        let mut entries = self.select(filter, "seq > ?1", "DESC", 0, most)?;
        entries.reverse();
        Ok(entries)
    }

    /// The wanted records behind this one, up to so many, in order.
    ///
    /// # Errors
    ///
    /// [`AuditError`].
    pub fn after(&self, seq: u64, filter: &Filter, most: usize) -> Result<Vec<Entry>, AuditError> {
        self.select(filter, "seq > ?1", "ASC", seq, most)
    }

    /// The number of the last record; 0 where there is none.
    ///
    /// # Errors
    ///
    /// [`AuditError`].
    pub fn last(&self) -> Result<u64, AuditError> {
        Ok(self.store.read(log::head)?.seq)
    }

    fn select(
        &self,
        filter: &Filter,
        place: &str,
        order: &str,
        seq: u64,
        most: usize,
    ) -> Result<Vec<Entry>, AuditError> {
        // The words are our own; what the caller brings is bound.
        let kinds: Vec<String> = filter.kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!("AND kind IN ({})", kinds.join(",")) };
        let sql = format!(
            "SELECT seq, body, hash FROM audit WHERE {place} {kinds}
             AND (?2 IS NULL OR json_extract(body, '$.tool') = ?2)
             AND (?3 IS NULL OR json_extract(body, '$.server') = ?3)
             ORDER BY seq {order} LIMIT ?4"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows: Vec<(u64, String, Digest)> = self.store.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(rusqlite::params![seq, filter.tool, filter.server, most], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            rows.collect()
        })?;
        rows.into_iter().map(|(seq, body, hash)| entry(seq, &body, hash)).collect()
    }

    /// Checks the whole chain, and that it holds heads that were kept elsewhere.
    ///
    /// # Errors
    ///
    /// [`Break`]: the first place where it is broken.
    pub fn verify(&self, kept: &[Head]) -> Result<Report, Break> {
        let read = |error| Break::Audit(AuditError::Store(error));
        let (anchor, head) = self.store.read(|c| Ok((log::anchor(c)?, log::head(c)?))).map_err(read)?;
        if anchor.seq == 0 && anchor.hash != chain::START {
            return Err(Break::Head);
        }
        let mut last = anchor;
        let mut unseen: Vec<Head> = kept.to_vec();
        let mut seen = |at: Head| -> Result<(), Break> {
            match unseen.iter().position(|kept| kept.seq == at.seq) {
                Some(position) if unseen.swap_remove(position) != at => Err(Break::Foreign(at)),
                _ => Ok(()),
            }
        };
        seen(anchor)?;
        loop {
            let rows: Vec<(u64, String, Digest)> = self
                .store
                .read(|connection| {
                    let mut statement = connection
                        .prepare_cached("SELECT seq, body, hash FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2")?;
                    let rows = statement.query_map(rusqlite::params![last.seq, CHUNK], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                    })?;
                    rows.collect()
                })
                .map_err(read)?;
            if rows.is_empty() {
                break;
            }
            for (seq, body, hash) in rows {
                // Others may write meanwhile; what came behind the head that we saw is theirs.
                if last.seq == head.seq {
                    break;
                }
                if seq != last.seq + 1 {
                    return Err(Break::Missing(last.seq + 1));
                }
                if chain::then(last.hash, &body) != hash {
                    return Err(Break::Changed(seq));
                }
                last = Head { seq, hash };
                seen(last)?;
            }
            if last.seq == head.seq {
                break;
            }
        }
        if last.seq < head.seq {
            return Err(Break::Missing(last.seq + 1));
        }
        if last != head {
            return Err(Break::Head);
        }
        if let Some(missing) = unseen.first() {
            return Err(if missing.seq < anchor.seq { Break::Older(*missing) } else { Break::Foreign(*missing) });
        }
        self.nothing_behind(head)?;
        Ok(Report { records: head.seq - anchor.seq, anchor, head })
    }

    /// Whether what stands behind a head is what others wrote meanwhile: the head must have gone on with it.
    fn nothing_behind(&self, head: Head) -> Result<(), Break> {
        let read = |error| Break::Audit(AuditError::Store(error));
        let sql = "SELECT (SELECT max(seq) FROM audit), head_seq FROM audit_chain";
        let (newest, now): (Option<u64>, u64) = self
            .store
            .read(|connection| connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(read)?;
        match newest {
            Some(newest) if newest > now => Err(Break::Behind(now.max(head.seq) + 1)),
            _ => Ok(()),
        }
    }
}

fn entry(seq: u64, body: &str, hash: Digest) -> Result<Entry, AuditError> {
    let unreadable = |problem: &dyn std::fmt::Display| AuditError::Unreadable { seq, problem: problem.to_string() };
    let Body { time, time_ms, record } = serde_json::from_str(body).map_err(|error| unreadable(&error))?;
    let record = serde_json::from_value(record.into()).map_err(|error| unreadable(&error))?;
    Ok(Entry { seq, time, time_ms, record, hash })
}
