//! A connection to one server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::config::{ServerConfig, Transport};
use super::error::{Ended, EndedWhy, WireError};
use super::http::HttpClient;
use super::limits::WireLimits;
use super::lines;
use super::link::{Link, Outbound};
use super::message::{Message, Notification};
use super::opening::{self, Opened};
use super::peer::Peer;
use super::process::{Process, Program};
use super::profile::{ClientProfile, EraChoice};
use super::request::{Ask, Reply};
use super::rpc_error::RpcError;
use super::tail::Tail;
use super::traffic::Oddities;
use super::version::Era;

/// How long a writer has to finish once it is told to.
const LAST_LINES: Duration = Duration::from_secs(1);

/// How a connection is made and held.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Who we say that we are.
    pub profile: ClientProfile,
    /// How much of the server is endured.
    pub limits: WireLimits,
    /// Who answers what the server asks.
    pub peer: Arc<dyn Peer>,
}

impl std::fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("profile", &self.profile)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl ConnectOptions {
    /// A client that answers nothing, with the default limits.
    #[must_use]
    pub fn new(profile: ClientProfile) -> Self {
        Self { profile, limits: WireLimits::default(), peer: Arc::new(super::peer::Deaf) }
    }
}

/// A connection to a server: opened, and spoken on in the era that was found. Requests may run at the same time.
///
/// Dropping it ends it at once: its tasks stop, a process and all of its group are killed. [`close`](Self::close) is the
/// polite way.
#[derive(Debug)]
pub struct Connection {
    wire: Wire,
    profile: ClientProfile,
    opened: Opened,
    listening: Mutex<Option<Task>>,
}

/// A connection that nothing was said on yet.
#[derive(Debug)]
pub(crate) struct Wire {
    pub link: Arc<Link>,
    process: Option<Arc<Process>>,
    writer: Option<(CancellationToken, Task)>,
    tasks: Vec<Task>,
}

/// A task that ends with its owner.
#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.link.end(closed_by_us());
        if let Some(process) = &self.process {
            process.kill();
        }
        if let (Outbound::Http(http), Ok(runtime)) = (&self.link.outbound, tokio::runtime::Handle::try_current()) {
            // The server would keep the session for nobody.
            let http = Arc::clone(http);
            runtime.spawn(async move { http.leave().await });
        }
    }
}

impl Wire {
    fn start(program: &Program, tail: Tail, options: &ConnectOptions) -> Result<Self, WireError> {
        let (process, streams) = Process::start(program)?;
        let tail = Arc::new(tail);
        let stderr = Task(tokio::spawn(lines::drain(Arc::clone(&tail), streams.stderr)));
        let mut wire = Self::over(streams.stdout, streams.stdin, tail, options, Some(Arc::new(process)));
        wire.tasks.push(stderr);
        Ok(wire)
    }

    fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        tail: Arc<Tail>,
        options: &ConnectOptions,
        process: Option<Arc<Process>>,
    ) -> Self {
        let (queue, queued) = mpsc::channel(lines::QUEUE);
        let link = Link::new(Outbound::Lines(queue), options.limits, tail, Arc::clone(&options.peer));
        let close = CancellationToken::new();
        let write = lines::write(Arc::clone(&link), writer, queued, close.clone(), process.clone());
        let read = lines::read(Arc::clone(&link), reader, process.clone());
        Self { link, process, writer: Some((close, Task(tokio::spawn(write)))), tasks: vec![Task(tokio::spawn(read))] }
    }

    /// Ends it in order, and gives how its process ended.
    async fn close(mut self, at_most: Option<super::limits::Ending>) -> Option<String> {
        self.link.end(closed_by_us());
        if let Some((close, mut writer)) = self.writer.take() {
            close.cancel();
            // The input is closed when the writer is gone, one way or the other.
            let _ = timeout(LAST_LINES, &mut writer.0).await;
        }
        if let Outbound::Http(http) = &self.link.outbound {
            http.leave().await;
        }
        match &self.process {
            Some(process) => process.end(at_most.unwrap_or(self.link.limits.ending)).await,
            None => None,
        }
    }
}

fn closed_by_us() -> WireError {
    WireError::Closed(Ended { why: EndedWhy::ClosedByUs, ..Ended::default() })
}

impl Connection {
    /// Connects to a configured server: starts its program or reaches its endpoint, finds the era, and opens.
    ///
    /// # Errors
    ///
    /// [`WireError`]; a process that was started is gone then.
    pub async fn open(server: &ServerConfig, options: &ConnectOptions, deadline: Instant) -> Result<Self, WireError> {
        let began = Instant::now();
        let late = |_| WireError::DeadlineExceeded { after: began.elapsed(), strays: 0 };
        timeout_at(deadline, Self::connect(server, options, deadline)).await.map_err(late)?
    }

    async fn connect(server: &ServerConfig, options: &ConnectOptions, deadline: Instant) -> Result<Self, WireError> {
        let start = || match &server.transport {
            Transport::Stdio(stdio) => Wire::start(&stdio.program(), Tail::new(server.mask()), options),
            Transport::Http(http) => {
                let client = HttpClient::new(http.endpoint.clone(), &http.headers, options.limits, server.mask())?;
                let (outbound, tail) = (Outbound::Http(Arc::new(client)), Arc::new(Tail::new(server.mask())));
                let link = Link::new(outbound, options.limits, tail, Arc::clone(&options.peer));
                Ok(Wire { link, process: None, writer: None, tasks: Vec::new() })
            }
        };
        let mut wire = start()?;
        let mut opened = opening::open(&wire.link, &options.profile, deadline).await;
        if matches!(opened, Err(opening::Failure::LeftAtDiscovery(_))) && wire.process.is_some() {
            // Some servers of the legacy era leave when the first request is not `initialize`. They get another start, once
            // nothing of the first is left.
            drop(wire);
            wire = start()?;
            let mut profile = options.profile.clone();
            profile.era = EraChoice::Only(Era::Legacy);
            opened = opening::open(&wire.link, &profile, deadline).await;
        }
        let opened = opened.map_err(opening::Failure::into_error)?;
        Ok(Self { wire, profile: options.profile.clone(), opened, listening: Mutex::default() })
    }

    /// Opens a connection over a pair of streams: a server in the same program, or one that somebody else started.
    ///
    /// # Errors
    ///
    /// [`WireError`].
    pub async fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: &ConnectOptions,
        deadline: Instant,
    ) -> Result<Self, WireError> {
        let wire = Wire::over(reader, writer, Arc::new(Tail::default()), options, None);
        let opened = opening::open(&wire.link, &options.profile, deadline).await;
        let opened = opened.map_err(opening::Failure::into_error)?;
        Ok(Self { wire, profile: options.profile.clone(), opened, listening: Mutex::default() })
    }

    /// What the server said of itself when the connection was opened.
    #[must_use]
    pub const fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Makes a request, and gives its result.
    ///
    /// # Errors
    ///
    /// [`WireError`]; an error that the server answers is [`WireError::Refused`].
    pub async fn request(&self, ask: Ask) -> Result<Value, WireError> {
        self.ask(ask).await?.outcome.map_err(|error| self.refused(error))
    }

    /// Makes a request, and gives all of its answer. In the modern era it is told who asks; a progress token is ours.
    ///
    /// # Errors
    ///
    /// [`WireError`], where there is no answer.
    pub async fn ask(&self, mut ask: Ask) -> Result<Reply, WireError> {
        if self.opened.era == Era::Modern {
            self.profile.stamp(&self.opened.version, &mut ask.params);
        }
        self.wire.link.ask(ask).await
    }

    /// An error that the server answered, as one of ours: secrets that it repeats are masked.
    #[must_use]
    pub fn refused(&self, error: RpcError) -> WireError {
        self.wire.link.refused(error)
    }

    /// Tells the server something.
    ///
    /// # Errors
    ///
    /// [`WireError`], where it could not be told.
    pub async fn notify(&self, method: &str, params: Option<Map<String, Value>>) -> Result<(), WireError> {
        let params = params.map(Value::Object);
        let notification = Notification { method: method.to_owned(), params, extra: Map::new() };
        self.wire.link.send(&Message::Notification(notification)).await
    }

    /// Asks a modern server anew who it is; the answer of a legacy one stands as long as the connection.
    ///
    /// # Errors
    ///
    /// [`WireError`].
    pub async fn look_again(&self, deadline: Instant) -> Result<Opened, WireError> {
        match self.opened.era {
            Era::Legacy => Ok(self.opened.clone()),
            Era::Modern => {
                opening::discover_again(&self.wire.link, &self.profile, &self.opened.version, deadline).await
            }
        }
    }

    /// Counts `notifications/tools/list_changed`. They come by themselves over stdio in the legacy era, else once
    /// [`listen`](Self::listen) was called.
    #[must_use]
    pub fn tools_changed(&self) -> watch::Receiver<u64> {
        self.wire.link.tools_changed()
    }

    /// Listens to what the server tells unasked: a stream of its own over HTTP in the legacy era, `subscriptions/listen`
    /// with this filter in the modern one. Ends with the connection, or when the server ends it; then this must be called
    /// again.
    pub fn listen(&self, filter: Map<String, Value>) {
        let link = Arc::clone(&self.wire.link);
        let mut ask = Ask::new("subscriptions/listen");
        ask.params.insert("notifications".into(), filter.into());
        let modern = self.opened.era == Era::Modern;
        if modern {
            self.profile.stamp(&self.opened.version, &mut ask.params);
        }
        let task = tokio::spawn(async move {
            // A server that does not support it says so; lists are looked at from time to time anyway.
            if modern {
                let _ = link.ask(ask).await;
            } else if let Outbound::Http(http) = &link.outbound {
                let _ = http.listen(&link).await;
            }
        });
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) = Some(Task(task));
    }

    /// Whether somebody listens.
    #[must_use]
    pub fn is_listening(&self) -> bool {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        listening.as_ref().is_some_and(|task| !task.0.is_finished())
    }

    /// What the server did that it should not have done.
    #[must_use]
    pub fn oddities(&self) -> Oddities {
        self.wire.link.traffic.oddities()
    }

    /// The last lines of the server's standard error, and of text among its messages; secrets masked.
    #[must_use]
    pub fn last_words(&self) -> Vec<String> {
        self.wire.link.tail.lines()
    }

    /// Waits until the connection ends by itself.
    pub async fn ended(&self) -> WireError {
        self.wire.link.reason().await
    }

    /// Number of the server's process, where it has one.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.wire.process.as_ref().and_then(|process| process.id())
    }

    /// Ends the connection in order: what was queued is written, the session is left, the input closed; a process is waited
    /// for, then asked, then killed, and its group with it. Gives how the process ended by itself, where it did.
    pub async fn close(self) -> Option<String> {
        let Self { wire, listening, .. } = self;
        drop(listening);
        wire.close(None).await
    }

    /// [`close`](Self::close) with other patience.
    pub async fn close_within(self, ending: super::limits::Ending) -> Option<String> {
        let Self { wire, listening, .. } = self;
        drop(listening);
        wire.close(Some(ending)).await
    }
}
