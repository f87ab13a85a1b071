//! Questions that wait for a person's answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use super::EmbedError;
use crate::approval::Ticket;
use crate::call::{Arguments, Attendance, Call, CallId, ServerName};
use crate::invoke::Grant;
use crate::module::Kind;

/// Questions that may wait at once. Source: ours; nobody answers so many, and whoever makes them up must not fill the memory.
const MOST: usize = 1_000;

/// A call that a person is asked about.
#[derive(Debug)]
pub(super) struct Question {
    /// Which question of this warden it is; the first is 1.
    number: u64,
    pub call: Call,
    pub grant: Grant,
    until: Instant,
}

impl Question {
    /// Whether the person had no more time.
    pub fn is_late(&self, now: Instant) -> bool {
        now >= self.until
    }

    fn shown(&self, ticket: &Ticket, now: Instant) -> Option<Shown> {
        let judged = self.grant.judged();
        let (effective, verdict) = (judged.effective.as_ref()?, &judged.verdict);
        Some(Shown {
            number: self.number,
            ticket: ticket.to_string(),
            id: self.call.id.clone(),
            server: effective.tool.server.clone(),
            tool: effective.tool.name.clone(),
            arguments: Arc::clone(&effective.arguments),
            attendance: self.call.attendance,
            kind: verdict.kind.clone(),
            reason: verdict.reason.clone(),
            detail: verdict.detail.clone(),
            seconds_left: self.until.saturating_duration_since(now).as_secs(),
        })
    }
}

/// All questions that wait.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Questions>);

#[derive(Debug, Default)]
struct Questions {
    waiting: HashMap<Ticket, Question>,
    asked: u64,
}

/// A question as a person, or the program that shows it to one, reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    number: u64,
    ticket: String,
    id: CallId,
    server: Option<ServerName>,
    tool: String,
    #[serde(serialize_with = "shared")]
    arguments: Arc<Arguments>,
    attendance: Attendance,
    kind: Option<Kind>,
    reason: String,
    detail: String,
    /// Whole seconds until nobody's answer counts any more.
    seconds_left: u64,
}

fn shared<S: Serializer>(arguments: &Arc<Arguments>, serializer: S) -> Result<S::Ok, S::Error> {
    arguments.as_ref().serialize(serializer)
}

impl Pending {
    /// Keeps a question; none where too many wait.
    pub fn keep(&self, call: Call, grant: Grant, time: Duration, now: Instant) -> Result<Option<Ticket>, EmbedError> {
        let ticket = Ticket::random().map_err(|error| EmbedError::new("no-randomness", error))?;
        let mut questions = self.lock();
        questions.waiting.retain(|_, question| !question.is_late(now));
        if questions.waiting.len() >= MOST {
            return Ok(None);
        }
        questions.asked += 1;
        let question = Question { number: questions.asked, call, grant, until: now + time };
        questions.waiting.insert(ticket.clone(), question);
        Ok(Some(ticket))
    }

    /// Takes a question out. Each is answered once.
    pub fn take(&self, ticket: &str) -> Option<Question> {
        self.lock().waiting.remove(&Ticket::from(ticket))
    }

    /// Whether there is such a question, and still time to answer it.
    pub fn is_waiting(&self, ticket: &str, now: Instant) -> bool {
        self.lock().waiting.get(&Ticket::from(ticket)).is_some_and(|question| !question.is_late(now))
    }

    /// How many wait.
    pub fn len(&self, now: Instant) -> usize {
        self.lock().waiting.values().filter(|question| !question.is_late(now)).count()
    }

    /// The questions that wait, the first one first.
    pub fn shown(&self, now: Instant) -> Vec<Shown> {
        let questions = self.lock();
        let waiting = questions.waiting.iter().filter(|(_, question)| !question.is_late(now));
        let mut shown: Vec<Shown> = waiting.filter_map(|(ticket, question)| question.shown(ticket, now)).collect();
        shown.sort_by_key(|question| question.number);
        shown
    }

    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
