//! A request of ours, from its making to its answer.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tokio::select;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::error::WireError;
use super::link::{Link, Outbound};
use super::message::{Message, Notification, Request};
use super::profile::with_meta;
use super::rpc_error::RpcError;
use super::version::Era;

/// How long a cancellation over HTTP may take.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// A request to be made.
#[derive(Clone, Debug)]
pub struct Ask {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) progress: Option<mpsc::Sender<Value>>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Nothing is said when it is given up.
    pub(crate) silent: bool,
}

impl Ask {
    /// A request without parameters or deadline.
    #[must_use]
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: Map::new(),
            deadline: None,
            cancel: None,
            progress: None,
            headers: Vec::new(),
            silent: false,
        }
    }

    /// With parameters.
    #[must_use]
    pub fn params(mut self, params: Map<String, Value>) -> Self {
        self.params = params;
        self
    }

    /// To be answered until then, the sending included. Default: no limit.
    #[must_use]
    pub const fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Given up when the token says so. Dropping the future does the same.
    #[must_use]
    pub fn cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Asks for progress. The token on the wire is ours; parameters of `notifications/progress` go here as they came. What
    /// finds no room is dropped.
    #[must_use]
    pub fn progress(mut self, sink: mpsc::Sender<Value>) -> Self {
        self.progress = Some(sink);
        self
    }

    /// With a header, where the transport has any (`Mcp-Param-...` of the modern era).
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) const fn silent(mut self) -> Self {
        self.silent = true;
        self
    }
}

/// An answer, all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The result or the error.
    pub outcome: Result<Value, RpcError>,
    /// Members of the message that no specification knows.
    pub extra: Map<String, Value>,
    /// Length of the message on the wire.
    pub bytes: usize,
}

/// Takes a request back if it is dropped before its answer is there.
struct Ticket<'l> {
    link: &'l Arc<Link>,
    id: u64,
    sent: bool,
    silent: bool,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.link.forget(self.id) || !self.sent || self.silent {
            return;
        }
        let mut params = Map::new();
        params.insert("requestId".into(), self.id.into());
        let method = "notifications/cancelled".to_owned();
        let notice = Message::Notification(Notification { method, params: Some(params.into()), extra: Map::new() });
        match &self.link.outbound {
            // Where there is no room the server does not read, and would not hear it.
            Outbound::Lines(lines) => drop(lines.try_send(notice.to_line())),
            // The end of the stream says it.
            Outbound::Http(_) if self.link.era() == Era::Modern => {}
            Outbound::Http(_) => {
                let link = Arc::clone(self.link);
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move { tokio::time::timeout(CANCEL_TIME, link.send(&notice)).await });
                }
            }
        }
    }
}

impl Link {
    /// Makes a request and waits for its answer.
    pub(crate) async fn ask(self: &Arc<Self>, ask: Ask) -> Result<Reply, WireError> {
        let (began, strays) = (Instant::now(), self.traffic.stray_answers.get());
        let Ask { method, mut params, deadline, cancel, progress, headers, silent } = ask;
        let wants_progress = progress.is_some();
        let (id, mut answer) = self.register(progress)?;
        let mut ticket = Ticket { link: self, id, sent: false, silent };
        if wants_progress {
            with_meta(&mut params, |meta| drop(meta.insert("progressToken".into(), id.into())));
        }
        let named = ["name", "uri"].into_iter().find_map(|key| params.get(key)?.as_str().map(str::to_owned));
        let params = (!params.is_empty()).then_some(Value::Object(params));
        let request = Request { id: id.into(), method: method.clone(), params, extra: Map::new() };
        let line = self.fit(&Message::Request(request))?;
        let exchange = async {
            match &self.outbound {
                Outbound::Lines(lines) => {
                    if lines.send(line).await.is_err() {
                        return Err(self.reason().await);
                    }
                    ticket.sent = true;
                }
                Outbound::Http(http) => {
                    ticket.sent = true;
                    let about = super::http::About { id, method: &method, named: named.as_deref(), headers };
                    select! {
                        // What was answered counts, however the response ends.
                        biased;
                        answer = &mut answer => return answer.unwrap_or(Err(WireError::NoAnswer)),
                        done = http.exchange(self, about, line) => {
                            if self.waits(id) {
                                done?;
                                return Err(WireError::NoAnswer);
                            }
                        }
                    }
                }
            }
            answer.await.unwrap_or(Err(WireError::NoAnswer))
        };
        select! {
            biased;
            answer = exchange => answer,
            () = cancelled(cancel) => Err(WireError::Cancelled),
            () = passed(deadline) => Err(WireError::DeadlineExceeded {
                after: began.elapsed(),
                strays: self.traffic.stray_answers.get() - strays,
            }),
        }
    }
}

async fn cancelled(token: Option<CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
