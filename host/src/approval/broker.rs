//! Asks through the queue in the store: whoever is asked may sit in front of another process.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::queue::{AnswerError, Millis, Queue, binding};
use super::{Approval, Approver, Question, Shown, Ticket};
use crate::digest::Digest;
use crate::store::Store;

/// How often an asker looks for an answer of another process. Source: ours; a person does not notice it, and a look is a read.
const PAUSE: Duration = Duration::from_millis(100);
/// Looks between two signs of life.
const LOOKS: u32 = 10;

type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Asks through a queue that all processes on one store share: first in, first out, one question shown at a time. A yes is a
/// grant for this one call, and is used up before the call goes on.
#[derive(Clone)]
pub struct Broker {
    queue: Queue,
    time: Duration,
    clock: Clock,
    /// Rung when somebody answers in this process.
    bell: Arc<Notify>,
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("queue", &self.queue).field("time", &self.time).finish_non_exhaustive()
    }
}

impl Broker {
    /// A broker over a store. A person has so long to answer.
    #[must_use]
    pub fn new(store: Arc<Store>, time: Duration) -> Self {
        Self::with_clock(store, time, Arc::new(SystemTime::now))
    }

    /// The same, with another clock.
    #[must_use]
    pub fn with_clock(store: Arc<Store>, time: Duration, clock: Clock) -> Self {
        Self { queue: Queue::new(store), time, clock, bell: Arc::new(Notify::new()) }
    }

    /// The question that is shown, and how many wait in all.
    ///
    /// # Errors
    ///
    /// [`AnswerError`].
    pub fn shown(&self) -> Result<(Option<Shown>, u64), AnswerError> {
        self.queue.shown(self.now())
    }

    /// A person's answer to the question that is shown.
    ///
    /// # Errors
    ///
    /// [`AnswerError`].
    pub fn answer(&self, ticket: &Ticket, answer: Approval) -> Result<(), AnswerError> {
        let answered = self.queue.answer(ticket, answer, self.now());
        self.bell.notify_waiters();
        answered
    }

    fn now(&self) -> Millis {
        let since = (self.clock)().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    }

    /// Does something with the queue on a thread that may wait for the disk.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, AnswerError> + Send + 'static,
    ) -> Result<T, AnswerError> {
        let broker = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&broker)).await;
        done.unwrap_or_else(|error| Err(AnswerError::Unreadable(error.to_string())))
    }

    async fn asked(&self, question: &Question) -> Result<Approval, AnswerError> {
        // Arguments without a canonical form cannot be bound to anything.
        let Some(binding) = binding(question) else { return Ok(Approval::Unavailable) };
        let owned = question.clone();
        let open = Open { broker: self.clone(), at: Arc::default() };
        let at = Arc::clone(&open.at);
        let id = self.with(move |broker| put(broker, &owned, binding, &at)).await?;
        let approval = self.outcome(id).await?;
        open.close();
        match approval {
            Approval::AllowedOnce => self.used_up(id, binding).await,
            other => Ok(other),
        }
    }

    async fn outcome(&self, id: i64) -> Result<Approval, AnswerError> {
        let mut looks = 0_u32;
        loop {
            let rung = self.bell.notified();
            let is_sign = looks.is_multiple_of(LOOKS);
            let found = self.with(
                move |broker| {
                    if is_sign { broker.queue.look(id, broker.now()) } else { broker.queue.peek(id) }
                },
            );
            if let Some(approval) = found.await? {
                return Ok(approval);
            }
            looks = looks.wrapping_add(1);
            tokio::select! {
                () = rung => {}
                () = sleep(PAUSE) => {}
            }
        }
    }

    async fn used_up(&self, id: i64, binding: Digest) -> Result<Approval, AnswerError> {
        let used = self.with(move |broker| broker.queue.use_up(id, binding)).await?;
        Ok(if used { Approval::AllowedOnce } else { Approval::Unavailable })
    }
}

#[async_trait]
impl Approver for Broker {
    async fn ask(&self, question: &Question) -> Approval {
        // A queue that cannot be used asks nobody.
        self.asked(question).await.unwrap_or(Approval::Unavailable)
    }
}

/// Where a question is on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Being put into the queue.
    #[default]
    Coming,
    /// In the queue.
    Waiting(i64),
    /// Settled, or taken back.
    Gone,
}

/// Puts a question into the queue. Its asker may have gone while the disk was busy; then nobody is asked.
fn put(broker: &Broker, question: &Question, binding: Digest, at: &Mutex<Place>) -> Result<i64, AnswerError> {
    let id = broker.queue.put(question, binding, broker.now(), broker.time)?;
    let mut place = at.lock().unwrap_or_else(PoisonError::into_inner);
    if *place == Place::Gone {
        drop(place);
        broker.queue.settle(id, Approval::Cancelled, broker.now())?;
    } else {
        *place = Place::Waiting(id);
    }
    Ok(id)
}

/// A question that waits. Whoever stops waiting takes it back, whatever the reason.
struct Open {
    broker: Broker,
    at: Arc<Mutex<Place>>,
}

impl Open {
    /// It is settled: there is nothing to take back.
    fn close(&self) -> Place {
        std::mem::replace(&mut *self.at.lock().unwrap_or_else(PoisonError::into_inner), Place::Gone)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let Place::Waiting(id) = self.close() else { return };
        let broker = self.broker.clone();
        let settle = move || {
            // One that cannot be settled is settled by its lease.
            let _ = broker.queue.settle(id, Approval::Cancelled, broker.now());
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(settle)),
            Err(_) => settle(),
        }
    }
}
