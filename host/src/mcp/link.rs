//! Joins requests and answers of one connection, whatever carries them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::error::WireError;
use super::http::HttpClient;
use super::id::RequestId;
use super::limits::WireLimits;
use super::message::{Malformed, Message, Notification, Request, Response};
use super::peer::{Peer, pong};
use super::request::Reply;
use super::rpc_error::RpcError;
use super::tail::Tail;
use super::traffic::Traffic;
use super::version::Era;

/// Where messages of ours go.
#[derive(Debug)]
pub(crate) enum Outbound {
    /// To a task that writes lines.
    Lines(mpsc::Sender<String>),
    /// Each one by itself to an endpoint.
    Http(Arc<HttpClient>),
}

/// The state that all tasks of one connection share.
pub(crate) struct Link {
    pub outbound: Outbound,
    pub traffic: Traffic,
    pub limits: WireLimits,
    pub tail: Arc<Tail>,
    era: OnceLock<Era>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
    peer: Arc<dyn Peer>,
    /// Requests of the peer that are being answered.
    serving: Mutex<HashMap<RequestId, AbortHandle>>,
    slots: Arc<Semaphore>,
    tools_changed: watch::Sender<u64>,
    ended: watch::Sender<Option<WireError>>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("era", &self.era).field("traffic", &self.traffic).finish_non_exhaustive()
    }
}

/// A request that has no answer yet.
struct Waiting {
    answer: oneshot::Sender<Result<Reply, WireError>>,
    progress: Option<mpsc::Sender<Value>>,
}

/// The answer to come.
pub(crate) type Answer = oneshot::Receiver<Result<Reply, WireError>>;

impl Link {
    pub(crate) fn new(outbound: Outbound, limits: WireLimits, tail: Arc<Tail>, peer: Arc<dyn Peer>) -> Arc<Self> {
        Arc::new(Self {
            outbound,
            traffic: Traffic::default(),
            limits,
            tail,
            era: OnceLock::new(),
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            peer,
            serving: Mutex::default(),
            slots: Arc::new(Semaphore::new(limits.peer_requests)),
            tools_changed: watch::channel(0).0,
            ended: watch::channel(None).0,
        })
    }

    /// The era; the legacy one until it is known.
    pub(crate) fn era(&self) -> Era {
        self.era.get().copied().unwrap_or(Era::Legacy)
    }

    pub(crate) fn settle_era(&self, era: Era) {
        // It is settled once, by the opening.
        let _ = self.era.set(era);
    }

    pub(crate) fn tools_changed(&self) -> watch::Receiver<u64> {
        self.tools_changed.subscribe()
    }

    pub(crate) fn ended(&self) -> watch::Receiver<Option<WireError>> {
        self.ended.subscribe()
    }

    /// Registers a request of ours.
    pub(crate) fn register(&self, progress: Option<mpsc::Sender<Value>>) -> Result<(u64, Answer), WireError> {
        let mut waiting = lock(&self.waiting);
        if let Some(error) = &*self.ended.borrow() {
            return Err(error.clone());
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, receiver) = oneshot::channel();
        waiting.insert(id, Waiting { answer, progress });
        Ok((id, receiver))
    }

    /// Whether a request still has no answer.
    pub(crate) fn waits(&self, id: u64) -> bool {
        lock(&self.waiting).contains_key(&id)
    }

    /// Gives a request its answer; false where it has one, or was never made.
    pub(crate) fn settle(&self, id: u64, answer: Result<Reply, WireError>) -> bool {
        let Some(waiting) = lock(&self.waiting).remove(&id) else { return false };
        // Whoever asked may have gone.
        let _ = waiting.answer.send(answer);
        true
    }

    /// Forgets a request; false where it has its answer.
    pub(crate) fn forget(&self, id: u64) -> bool {
        lock(&self.waiting).remove(&id).is_some()
    }

    /// Ends the connection. The first reason stands.
    pub(crate) fn end(&self, error: WireError) {
        let first = self.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert(error);
            first
        });
        if !first {
            return;
        }
        let Some(error) = self.ended.borrow().clone() else { return };
        for (_, waiting) in lock(&self.waiting).drain() {
            let _ = waiting.answer.send(Err(error.clone()));
        }
        for (_, task) in lock(&self.serving).drain() {
            task.abort();
        }
    }

    /// Takes what a peer sent. `own` is the request on whose response it came, where the transport tells.
    ///
    /// # Errors
    ///
    /// [`Malformed`]; the request that it answers has been told, where that could be seen.
    pub(crate) fn receive(self: &Arc<Self>, text: &[u8], own: Option<u64>) -> Result<(), Malformed> {
        match Message::parse(text) {
            Ok(messages) => {
                for message in messages {
                    self.dispatch(message, text.len(), own);
                }
                Ok(())
            }
            Err(malformed) => {
                if malformed.is_prose(text) {
                    self.traffic.text_lines.add();
                } else {
                    self.traffic.malformed.add();
                }
                if let Some(id) = malformed.answers.as_ref().and_then(RequestId::as_u64) {
                    self.settle(id, Err(WireError::Malformed(malformed.clone())));
                }
                Err(malformed)
            }
        }
    }

    /// Takes note of a message that was too long to be read.
    pub(crate) fn receive_too_long(&self, answers: Option<u64>) {
        self.traffic.too_large.add();
        if let Some(id) = answers {
            self.settle(id, Err(WireError::TooLarge { limit: self.limits.message_bytes }));
        }
    }

    fn dispatch(self: &Arc<Self>, message: Message, bytes: usize, own: Option<u64>) {
        match message {
            Message::Response(Response { id, outcome, extra }) => {
                // An error without an id is about the request on whose response it came.
                let id = id.as_ref().map_or(own, RequestId::as_u64);
                let known = id.is_some_and(|id| self.settle(id, Ok(Reply { outcome, extra, bytes })));
                if !known {
                    self.traffic.stray_answers.add();
                }
            }
            Message::Notification(notification) => self.hear(notification),
            Message::Request(request) => self.serve(request),
        }
    }

    fn hear(&self, notification: Notification) {
        match notification.method.as_str() {
            "notifications/progress" => {
                let sink = named(&notification, "progressToken")
                    .and_then(|token| lock(&self.waiting).get(&token.as_u64()?)?.progress.clone());
                // A reader that is behind misses some of it; nothing else waits for it.
                match (sink, notification.params) {
                    (Some(sink), Some(params)) => drop(sink.try_send(params)),
                    _ => self.traffic.stray_progress.add(),
                }
                return;
            }
            "notifications/cancelled" => {
                if let Some(id) = named(&notification, "requestId") {
                    if let Some(task) = lock(&self.serving).remove(&id) {
                        task.abort();
                    }
                    // In the modern era a server ends a subscription of ours so.
                    if let (Era::Modern, Some(id)) = (self.era(), id.as_u64()) {
                        self.settle(id, Err(WireError::NoAnswer));
                    }
                }
            }
            "notifications/tools/list_changed" => self.tools_changed.send_modify(|times| *times += 1),
            _ => {}
        }
        self.peer.notification(notification);
    }

    fn serve(self: &Arc<Self>, request: Request) {
        if self.era() == Era::Modern {
            // That era knows no such requests, and allows no answer.
            self.traffic.refused_requests.add();
            return;
        }
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            // No answer either: whoever floods us would have us write as fast as it does.
            self.traffic.refused_requests.add();
            return;
        };
        let (link, id) = (Arc::clone(self), request.id.clone());
        let serving = id.clone();
        let mut tasks = lock(&self.serving);
        let task = tokio::spawn(async move {
            let outcome = if request.method == "ping" { Ok(pong()) } else { link.peer.request(request).await };
            let response = Response { id: Some(id.clone()), outcome, extra: serde_json::Map::new() };
            // Where it cannot be sent, the connection is at its end.
            let _ = link.send(&Message::Response(response)).await;
            lock(&link.serving).remove(&id);
            drop(slot);
        });
        tasks.insert(serving, task.abort_handle());
    }

    /// Sends a message that gets no answer.
    pub(crate) async fn send(self: &Arc<Self>, message: &Message) -> Result<(), WireError> {
        let line = self.fit(message)?;
        match &self.outbound {
            Outbound::Lines(lines) => match lines.send(line).await {
                Ok(()) => Ok(()),
                Err(_) => Err(self.reason().await),
            },
            Outbound::Http(http) => http.tell(line).await,
        }
    }

    /// A message as a line that is not too long.
    pub(crate) fn fit(&self, message: &Message) -> Result<String, WireError> {
        let (line, limit) = (message.to_line(), self.limits.message_bytes);
        if line.len() > limit { Err(WireError::RequestTooLarge { limit }) } else { Ok(line) }
    }

    /// Why the connection ended; waits for it to end.
    pub(crate) async fn reason(&self) -> WireError {
        let mut ended = self.ended();
        let error = match ended.wait_for(Option::is_some).await {
            Ok(error) => error.clone(),
            Err(_) => None,
        };
        error.unwrap_or(WireError::Closed(super::error::Ended::default()))
    }

    /// An error of the server as one of ours, which is shown and written down: the server may have repeated a secret in it.
    pub(crate) fn refused(&self, error: RpcError) -> WireError {
        let mask = self.tail.mask();
        let RpcError { code, message, data, extra } = error;
        let data = data.map(|data| mask.apply_to_value(data));
        let extra = extra.into_iter().map(|(key, value)| (key, mask.apply_to_value(value))).collect();
        WireError::Refused(Box::new(RpcError { code, message: mask.apply(&message), data, extra }))
    }
}

/// An id among the parameters of a notification.
fn named(notification: &Notification, name: &str) -> Option<RequestId> {
    RequestId::from_value(notification.params.as_ref()?.get(name)?.clone())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that panics runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
