//! The writer: in batches, and at once where a call waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Transaction, params};
use serde::Serialize;
use tokio::sync::oneshot;

use super::chain::{self, Head};
use super::error::AuditError;
use super::record::Record;
use crate::digest::Digest;
use crate::store::{Store, StoreFault};

/// Records in one batch, and how long the first of them waits. Source: MCP security, audit.
const BATCH: usize = 10;
const DELAY: Duration = Duration::from_millis(300);

/// Records that may wait to be written. Source: ours; a store that is so far behind is broken.
const MOST_WAITING: usize = 10_000;

/// How far the trail may grow past its limit before the oldest records go: a hundredth, so that this happens seldom.
const SLACK: u64 = 100;

/// How long records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Records at most. Default: 100 000.
    pub records: u64,
    /// Age at most. Default: none.
    pub age: Option<Duration>,
}

impl Default for Retention {
    fn default() -> Self {
        Self { records: 100_000, age: None }
    }
}

/// How a log writes.
#[derive(Clone)]
pub struct AuditOptions {
    /// How long records are kept.
    pub retention: Retention,
    /// The time. Default: the system's.
    pub clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl std::fmt::Debug for AuditOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditOptions").field("retention", &self.retention).finish_non_exhaustive()
    }
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { retention: Retention::default(), clock: Arc::new(SystemTime::now) }
    }
}

/// Somebody who keeps records.
#[async_trait]
pub trait Recorder: Send + Sync {
    /// Keeps a record, soon.
    fn note(&self, record: Record);

    /// Keeps a record, and returns when it is on disk.
    ///
    /// # Errors
    ///
    /// [`AuditError`]; then it is not, and what it is about must not go on.
    async fn record(&self, record: Record) -> Result<(), AuditError>;
}

/// A log over a store, with a thread of its own that writes.
#[derive(Debug)]
pub struct AuditLog {
    sender: Option<SyncSender<Message>>,
    writer: Option<thread::JoinHandle<()>>,
    /// Records that found no room in the queue since the last one that did.
    lost: Mutex<u64>,
    options: AuditOptions,
}

type Acknowledge = Box<dyn FnOnce(Result<(), Arc<AuditError>>) + Send>;

struct Message {
    line: Line,
    acknowledge: Option<Acknowledge>,
}

/// A record with its time, and how it is written.
#[derive(Debug, Serialize)]
struct Line {
    time: String,
    #[serde(rename = "timeMs")]
    time_ms: i64,
    #[serde(flatten)]
    record: Record,
}

impl AuditLog {
    /// Starts a log.
    ///
    /// # Errors
    ///
    /// [`AuditError::Closed`] where the system gives no thread.
    pub fn start(store: Arc<Store>, options: AuditOptions) -> Result<Self, AuditError> {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let writer = Writer { store, options: options.clone() };
        let thread = thread::Builder::new().name("toolwarden-audit".into()).spawn(move || writer.run(&receiver));
        let thread = thread.map_err(|_| AuditError::Closed)?;
        Ok(Self { sender: Some(sender), writer: Some(thread), lost: Mutex::new(0), options })
    }

    /// Keeps a record, and returns when it is on disk, with all that were noted before.
    ///
    /// # Errors
    ///
    /// [`AuditError`].
    pub fn write(&self, record: Record) -> Result<(), AuditError> {
        let (tell, told) = sync_channel(1);
        self.send(record, Some(Box::new(move |written| drop(tell.send(written)))))?;
        told.recv().map_err(|_| AuditError::Closed)?.map_err(AuditError::Shared)
    }

    fn send(&self, record: Record, acknowledge: Option<Acknowledge>) -> Result<(), AuditError> {
        let Some(sender) = &self.sender else { return Err(AuditError::Closed) };
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = Line::new(record, (self.options.clock)());
        line.record.lost = Some(*lost).filter(|lost| *lost > 0);
        match sender.try_send(Message { line, acknowledge }) {
            Ok(()) => {
                *lost = 0;
                Ok(())
            }
            Err(TrySendError::Full(_)) => {
                *lost += 1;
                Err(AuditError::Behind(MOST_WAITING))
            }
            Err(TrySendError::Disconnected(_)) => Err(AuditError::Closed),
        }
    }
}

impl Drop for AuditLog {
    /// Writes what waits, and ends.
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[async_trait]
impl Recorder for AuditLog {
    fn note(&self, record: Record) {
        // What finds no room is counted, and the next record says so.
        let _ = self.send(record, None);
    }

    async fn record(&self, record: Record) -> Result<(), AuditError> {
        let (tell, told) = oneshot::channel();
        self.send(record, Some(Box::new(move |written| drop(tell.send(written)))))?;
        told.await.map_err(|_| AuditError::Closed)?.map_err(AuditError::Shared)
    }
}

impl Line {
    fn new(record: Record, now: SystemTime) -> Self {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let time_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        let time = Timestamp::from_millisecond(time_ms).map(|time| format!("{time:.3}")).unwrap_or_default();
        Self { time, time_ms, record }
    }
}

struct Writer {
    store: Arc<Store>,
    options: AuditOptions,
}

impl Writer {
    fn run(&self, receiver: &Receiver<Message>) {
        // What could not be written is kept in front, and tried again with the next.
        let mut waiting: Vec<Message> = Vec::new();
        while let Ok(first) = receiver.recv() {
            let until = Instant::now() + DELAY;
            let mut is_urgent = first.acknowledge.is_some();
            waiting.push(first);
            while !is_urgent && waiting.len() < BATCH {
                match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    Ok(message) => {
                        is_urgent = message.acknowledge.is_some();
                        waiting.push(message);
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
            // Whatever came meanwhile goes with it.
            while let Ok(message) = receiver.try_recv() {
                waiting.push(message);
                if waiting.len() >= MOST_WAITING {
                    break;
                }
            }
            self.write(&mut waiting);
        }
        if !waiting.is_empty() {
            self.write(&mut waiting);
        }
    }

    fn write(&self, waiting: &mut Vec<Message>) {
        let bodies: Vec<String> =
            waiting.iter().filter_map(|message| serde_json::to_string(&message.line).ok()).collect();
        let now = Line::new(Record::new(super::AuditKind::Denied), (self.options.clock)()).time_ms;
        let written = self.store.write::<_, AuditError>(|transaction| {
            append(transaction, &bodies)?;
            Ok(prune(transaction, self.options.retention, now)?)
        });
        match written {
            Ok(()) => {
                for acknowledge in waiting.drain(..).filter_map(|message| message.acknowledge) {
                    acknowledge(Ok(()));
                }
            }
            Err(error) => {
                // Who waits is told no, and what it is about does not happen: such a record would say something untrue later.
                let error = Arc::new(error);
                let (told, kept): (Vec<Message>, Vec<Message>) =
                    waiting.drain(..).partition(|message| message.acknowledge.is_some());
                for acknowledge in told.into_iter().filter_map(|message| message.acknowledge) {
                    acknowledge(Err(Arc::clone(&error)));
                }
                *waiting = kept;
                let too_many = waiting.len().saturating_sub(MOST_WAITING);
                waiting.drain(..too_many);
                if let Some(first) = waiting.first_mut().filter(|_| too_many > 0) {
                    let before = first.line.record.lost.unwrap_or_default();
                    first.line.record.lost = Some(before.saturating_add(too_many as u64));
                }
            }
        }
    }
}

/// Puts records behind the head.
fn append(transaction: &Transaction, bodies: &[String]) -> Result<(), StoreFault<AuditError>> {
    let mut head = head(transaction)?;
    let mut insert = transaction.prepare_cached("INSERT INTO audit (seq, body, hash) VALUES (?1, ?2, ?3)")?;
    for body in bodies {
        head = Head { seq: head.seq + 1, hash: chain::then(head.hash, body) };
        insert.execute(params![head.seq, body, head.hash])?;
    }
    transaction
        .prepare_cached("UPDATE audit_chain SET head_seq = ?1, head_hash = ?2")?
        .execute(params![head.seq, head.hash])?;
    Ok(())
}

/// The last record of the chain.
pub(super) fn head(connection: &rusqlite::Connection) -> rusqlite::Result<Head> {
    connection
        .prepare_cached("SELECT head_seq, head_hash FROM audit_chain")?
        .query_row([], |row| Ok(Head { seq: row.get(0)?, hash: row.get(1)? }))
}

/// The one before the first that is kept.
pub(super) fn anchor(connection: &rusqlite::Connection) -> rusqlite::Result<Head> {
    connection
        .prepare_cached("SELECT anchor_seq, anchor_hash FROM audit_chain")?
        .query_row([], |row| Ok(Head { seq: row.get(0)?, hash: row.get(1)? }))
}

/// Lets the oldest records go, and remembers where the chain goes on.
fn prune(transaction: &Transaction, retention: Retention, now: i64) -> Result<(), rusqlite::Error> {
    let (anchor, head) = (anchor(transaction)?, head(transaction)?);
    let mut last = anchor.seq;
    let kept = head.seq - anchor.seq;
    if kept > retention.records.saturating_add(retention.records / SLACK) {
        last = head.seq - retention.records;
    }
    if let Some(age) = retention.age {
        let oldest = now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
        // In the chain's order, so that a clock that was set back lets nothing go out of turn.
        let first: Option<u64> = transaction
            .prepare_cached("SELECT seq FROM audit WHERE time >= ?1 ORDER BY seq LIMIT 1")?
            .query_row([oldest], |row| row.get(0))
            .map(Some)
            .or_else(|error| if error == rusqlite::Error::QueryReturnedNoRows { Ok(None) } else { Err(error) })?;
        last = last.max(first.map_or(head.seq, |first| first - 1));
    }
    if last > anchor.seq {
        let hash: Digest =
            transaction.prepare_cached("SELECT hash FROM audit WHERE seq = ?1")?.query_row([last], |row| row.get(0))?;
        transaction.prepare_cached("DELETE FROM audit WHERE seq <= ?1")?.execute([last])?;
        transaction
            .prepare_cached("UPDATE audit_chain SET anchor_seq = ?1, anchor_hash = ?2")?
            .execute(params![last, hash])?;
    }
    Ok(())
}
