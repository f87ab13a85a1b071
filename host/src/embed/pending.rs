//! Questions that wait for a person's answer.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::EmbedError;
use crate::call::Call;
use crate::invoke::Grant;

/// Questions that may wait at once. Source: ours; nobody answers so many, and whoever makes them up must not fill the memory.
const MOST: usize = 1_000;

/// What a question is answered by: 128 random bits, so that nobody answers one that he was not shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ticket(String);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ticket {
    fn new() -> Result<Self, EmbedError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| EmbedError::new("no-randomness", error))?;
        let mut text = String::with_capacity(32);
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }
}

/// A call that a person is asked about.
#[derive(Debug)]
pub(super) struct Question {
    pub call: Call,
    pub grant: Grant,
    until: Instant,
}

impl Question {
    /// Whether the person had no more time.
    pub fn is_late(&self, now: Instant) -> bool {
        now >= self.until
    }
}

/// All questions that wait.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<HashMap<Ticket, Question>>);

impl Pending {
    /// Keeps a question; none where too many wait.
    pub fn keep(&self, call: Call, grant: Grant, time: Duration, now: Instant) -> Result<Option<Ticket>, EmbedError> {
        let ticket = Ticket::new()?;
        let mut questions = self.lock();
        questions.retain(|_, question| !question.is_late(now));
        if questions.len() >= MOST {
            return Ok(None);
        }
        questions.insert(ticket.clone(), Question { call, grant, until: now + time });
        Ok(Some(ticket))
    }

    /// Takes a question out. Each is answered once.
    pub fn take(&self, ticket: &str) -> Option<Question> {
        self.lock().remove(&Ticket(ticket.into()))
    }

    /// How many wait.
    pub fn len(&self, now: Instant) -> usize {
        self.lock().values().filter(|question| !question.is_late(now)).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Ticket, Question>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
