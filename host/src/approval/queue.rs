//! The queue in the store: questions, answers, grants. Every step is one transaction, so any number of processes may take part.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::{Value, json};
use thiserror::Error;

use super::shown::Shown;
use super::{Approval, Question, Ticket};
use crate::digest::Digest;
use crate::store::{Store, StoreError, StoreFault};

/// How long an asker may be silent before its question counts as taken back. Source: ours; an asker gives a sign of life every
/// second.
const LEASE: Duration = Duration::from_secs(10);

/// How long settled questions are kept, so that the next one can say what changed.
const KEPT: Duration = Duration::from_hours(24 * 30);

/// What is hashed first in a binding.
const PURPOSE: &[u8] = b"toolwarden approval v1\n";

/// The queue.
#[derive(Clone, Debug)]
pub struct Queue {
    store: Arc<Store>,
}

/// Milliseconds since 1970.
pub(super) type Millis = i64;

/// Why an answer does not count.
#[derive(Debug, Error)]
pub enum AnswerError {
    /// There is no such question.
    #[error("no question waits under this ticket")]
    Unknown,
    /// It is settled.
    #[error("the question is settled already: {}", .0.as_str())]
    Settled(Approval),
    /// Another one is shown.
    #[error("another question is shown before this one; they are answered in their order")]
    NotShown,
    /// Only a yes or a no is an answer.
    #[error("a person answers `allowed-once` or `rejected`")]
    NoAnswer,
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What stands there is no question.
    #[error("the question cannot be read: {0}")]
    Unreadable(String),
    /// The system gives no random bits.
    #[error("no random bits: {0}")]
    NoRandomness(String),
}

impl AnswerError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown-ticket",
            Self::Settled(_) => "already-settled",
            Self::NotShown => "not-shown",
            Self::NoAnswer => "bad-answer",
            Self::Store(error) => error.code(),
            Self::Unreadable(_) => "question-unreadable",
            Self::NoRandomness(_) => "no-randomness",
        }
    }
}

/// What binds a grant to one call: tool, arguments, policy and call.
pub(super) fn binding(question: &Question) -> Option<Digest> {
    let arguments = crate::audit::arguments_digest(&*question.arguments)?;
    // As a list in JSON, so that no part passes for two.
    let parts = json!([
        question.tool.server.as_ref().map(ToString::to_string),
        question.tool.name,
        arguments.to_string(),
        question.policy.generation.0,
        question.policy.digest,
        question.id.0,
    ]);
    Some(Digest::of_parts(&[PURPOSE, parts.to_string().as_bytes()]))
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

impl Queue {
    /// The queue in a store.
    #[must_use]
    pub const fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    /// Puts a question at the end.
    pub(super) fn put(
        &self,
        question: &Question,
        binding: Digest,
        now: Millis,
        time: Duration,
    ) -> Result<i64, AnswerError> {
        let ticket = Ticket::random().map_err(|error| AnswerError::NoRandomness(error.to_string()))?;
        let server = question.tool.server.as_ref().map(ToString::to_string).unwrap_or_default();
        let tool = &question.tool.name;
        self.store.write(|transaction| {
            forget(transaction, now)?;
            let last: Option<String> = transaction
                .prepare_cached(
                    "SELECT body FROM question WHERE server = ?1 AND tool = ?2 AND outcome = 'allowed-once'
                     ORDER BY id DESC LIMIT 1",
                )?
                .query_row(params![server, tool], |row| row.get(0))
                .optional()?;
            let last = last.and_then(|body| serde_json::from_str::<Shown>(&body).ok()).map(|shown| shown.arguments);
            let shown = Shown::new(ticket.clone(), question, last.as_ref());
            let body = serde_json::to_string(&shown)
                .map_err(|error| StoreFault::Own(AnswerError::Unreadable(error.to_string())))?;
            transaction
                .prepare_cached(
                    "INSERT INTO question (ticket, binding, server, tool, body, asked, until, alive)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6)",
                )?
                .execute(params![
                    ticket.as_str(),
                    binding,
                    server,
                    tool,
                    body,
                    now,
                    now.saturating_add(millis(time))
                ])?;
            Ok(transaction.last_insert_rowid())
        })
    }

    /// What came of a question; nothing while it waits. Gives a sign of life.
    pub(super) fn look(&self, id: i64, now: Millis) -> Result<Option<Approval>, AnswerError> {
        self.store.write(|transaction| {
            settle_late(transaction, now)?;
            transaction
                .prepare_cached("UPDATE question SET alive = ?2 WHERE id = ?1 AND outcome IS NULL")?
                .execute(params![id, now])?;
            Ok(outcome(transaction, id)?)
        })
    }

    /// The same, without a word about ourselves.
    pub(super) fn peek(&self, id: i64) -> Result<Option<Approval>, AnswerError> {
        Ok(self.store.read(|connection| outcome(connection, id))?)
    }

    /// Uses a grant up. Whoever gets a yes here is the only one.
    pub(super) fn use_up(&self, id: i64, binding: Digest) -> Result<bool, AnswerError> {
        self.store.write(|transaction| {
            let used = transaction
                .prepare_cached(
                    "UPDATE question SET used = 1
                     WHERE id = ?1 AND binding = ?2 AND outcome = 'allowed-once' AND used = 0",
                )?
                .execute(params![id, binding])?;
            Ok(used == 1)
        })
    }

    /// Settles a question that still waits.
    pub(super) fn settle(&self, id: i64, approval: Approval, now: Millis) -> Result<(), AnswerError> {
        self.store.write(|transaction| {
            settle_late(transaction, now)?;
            transaction
                .prepare_cached("UPDATE question SET outcome = ?2, settled = ?3 WHERE id = ?1 AND outcome IS NULL")?
                .execute(params![id, approval.as_str(), now])?;
            Ok(())
        })
    }

    /// The question that is shown: the first one whose asker still waits. And how many wait in all.
    ///
    /// # Errors
    ///
    /// [`AnswerError`].
    pub fn shown(&self, now: Millis) -> Result<(Option<Shown>, u64), AnswerError> {
        let (body, waiting): (Option<String>, u64) = self.store.write(|transaction| {
            settle_late(transaction, now)?;
            let body = first(transaction)?.map(|(_, body)| body);
            let sql = "SELECT count(*) FROM question WHERE outcome IS NULL";
            Ok::<_, StoreFault<AnswerError>>((body, transaction.query_row(sql, [], |row| row.get(0))?))
        })?;
        let shown = body.map(|body| serde_json::from_str(&body)).transpose();
        Ok((shown.map_err(|error| AnswerError::Unreadable(error.to_string()))?, waiting))
    }

    /// A person's answer to the question that is shown: [`Approval::AllowedOnce`] or [`Approval::Rejected`].
    ///
    /// # Errors
    ///
    /// [`AnswerError`].
    pub fn answer(&self, ticket: &Ticket, answer: Approval, now: Millis) -> Result<(), AnswerError> {
        if !matches!(answer, Approval::AllowedOnce | Approval::Rejected) {
            return Err(AnswerError::NoAnswer);
        }
        self.store.write(|transaction| {
            settle_late(transaction, now)?;
            let found: Option<i64> = transaction
                .prepare_cached("SELECT id FROM question WHERE ticket = ?1")?
                .query_row([ticket.as_str()], |row| row.get(0))
                .optional()?;
            let Some(id) = found else { return Err(StoreFault::Own(AnswerError::Unknown)) };
            if let Some(settled) = outcome(transaction, id)? {
                return Err(StoreFault::Own(AnswerError::Settled(settled)));
            }
            if first(transaction)?.is_none_or(|(first, _)| first != id) {
                return Err(StoreFault::Own(AnswerError::NotShown));
            }
            transaction
                .prepare_cached("UPDATE question SET outcome = ?2, settled = ?3 WHERE id = ?1")?
                .execute(params![id, answer.as_str(), now])?;
            Ok(())
        })
    }

    /// The arguments of the question under a ticket, to be compared with what is about to run.
    ///
    /// # Errors
    ///
    /// [`AnswerError`].
    pub fn arguments(&self, ticket: &Ticket) -> Result<Option<Value>, AnswerError> {
        let body: Option<String> = self.store.read(|connection| {
            connection
                .prepare_cached("SELECT body FROM question WHERE ticket = ?1")?
                .query_row([ticket.as_str()], |row| row.get(0))
                .optional()
        })?;
        let shown = body.map(|body| serde_json::from_str::<Shown>(&body)).transpose();
        Ok(shown.map_err(|error| AnswerError::Unreadable(error.to_string()))?.map(|shown| shown.arguments))
    }
}

/// Settles what nobody answered in time, and what its asker gave up without a word: one that was killed, say. Nothing of that
/// stands in the way of the next question.
fn settle_late(transaction: &Transaction, now: Millis) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE question SET outcome = 'timed-out', settled = ?1 WHERE outcome IS NULL AND until <= ?1",
        )?
        .execute([now])?;
    transaction
        .prepare_cached("UPDATE question SET outcome = 'cancelled', settled = ?1 WHERE outcome IS NULL AND alive < ?2")?
        .execute([now, now.saturating_sub(millis(LEASE))])?;
    Ok(())
}

/// Forgets old questions; of each tool the last one that was allowed stays.
fn forget(transaction: &Transaction, now: Millis) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "DELETE FROM question WHERE settled < ?1 AND id NOT IN
             (SELECT max(id) FROM question WHERE outcome = 'allowed-once' GROUP BY server, tool)",
        )?
        .execute([now.saturating_sub(millis(KEPT))])?;
    Ok(())
}

fn first(transaction: &Transaction) -> rusqlite::Result<Option<(i64, String)>> {
    transaction
        .prepare_cached("SELECT id, body FROM question WHERE outcome IS NULL ORDER BY id LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn outcome(connection: &rusqlite::Connection, id: i64) -> rusqlite::Result<Option<Approval>> {
    let word: Option<Option<String>> = connection
        .prepare_cached("SELECT outcome FROM question WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(match word {
        Some(None) => None,
        // A word that is none, and a question that is gone, are no yes.
        Some(Some(word)) => Some(word.parse().unwrap_or(Approval::Unavailable)),
        None => Some(Approval::Unavailable),
    })
}
