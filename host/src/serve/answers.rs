//! Answers that somebody else than the caller gave, until the caller fetches them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Answers that may wait at once. Source: as many as questions may.
const MOST: usize = 1_000;

/// Answers by ticket, and a bell that rings when there is a new question or answer. An answer that was fetched leaves its place
/// taken until its question is settled: a second one must not be told that it counts.
#[derive(Debug, Default)]
pub(super) struct Answers {
    given: Mutex<HashMap<String, Option<String>>>,
    bell: Notify,
}

/// Why an answer is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotKept {
    /// There is one already.
    Answered,
    /// Too many wait to be fetched.
    TooMany,
}

impl Answers {
    /// Keeps an answer. The first one counts.
    pub fn give(&self, ticket: &str, answer: String) -> Result<(), NotKept> {
        let mut given = self.lock();
        if given.contains_key(ticket) {
            return Err(NotKept::Answered);
        }
        if given.len() >= MOST {
            return Err(NotKept::TooMany);
        }
        given.insert(ticket.into(), Some(answer));
        drop(given);
        self.ring();
        Ok(())
    }

    /// Takes an answer out.
    pub fn take(&self, ticket: &str) -> Option<String> {
        self.lock().get_mut(ticket)?.take()
    }

    /// Whether somebody has answered.
    pub fn is_given(&self, ticket: &str) -> bool {
        self.lock().contains_key(ticket)
    }

    /// Forgets answers to what is asked no more.
    pub fn keep_only(&self, waits: impl Fn(&str) -> bool) {
        self.lock().retain(|ticket, _| waits(ticket));
    }

    /// Wakes whoever waits.
    pub fn ring(&self) {
        self.bell.notify_waiters();
    }

    /// Waits until it rings. Whoever looks between making this and awaiting it misses nothing.
    pub fn rung(&self) -> tokio::sync::futures::Notified<'_> {
        self.bell.notified()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<String>>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
