//! The sidecar.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::answers::Answers;
use super::door::Door;
use super::limits::{Rate, ServeLimits};
use super::metrics::Metrics;
use super::routes;
use super::token::Token;
use crate::embed::Warden;

/// Bytes of a request's head at most.
const HEAD: usize = 64 << 10;

/// Pause after the system had no room for one more connection.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// Why a sidecar cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Over loopback everybody on the machine could ask.
    #[error("a loopback address needs a token")]
    NoToken,
}

/// A warden that answers requests.
pub struct Server {
    warden: Arc<Warden>,
    door: Door,
    token: Option<Token>,
    limits: ServeLimits,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("door", &self.door).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// What all requests share.
pub(super) struct Shared {
    pub warden: Arc<Warden>,
    pub limits: ServeLimits,
    /// Over loopback: the token, and the address.
    pub guard: Option<(Token, SocketAddr)>,
    pub rate: Rate,
    pub answers: Answers,
    pub metrics: Metrics,
    /// Cancelled when the sidecar stops: who waits for an answer waits no more.
    pub stopping: CancellationToken,
}

impl Server {
    /// A server behind this door. A loopback door needs a token; a socket is guarded by its file's mode and its peer's user.
    ///
    /// # Errors
    ///
    /// [`ServeError::NoToken`].
    pub fn new(warden: Arc<Warden>, door: Door, token: Option<Token>, limits: ServeLimits) -> Result<Self, ServeError> {
        match (&door, &token) {
            (Door::Loopback(..), None) => Err(ServeError::NoToken),
            _ => Ok(Self { warden, door, token, limits }),
        }
    }

    /// Serves until it is told to stop. Then it takes no more connections, lets the calls in flight finish, and ends the others
    /// after [`ServeLimits::grace`].
    pub async fn run(self, stop: CancellationToken) {
        let guard = match &self.door {
            #[cfg(unix)]
            Door::Socket(_) => None,
            Door::Loopback(_, address) => self.token.clone().map(|token| (token, *address)),
        };
        let shared = Arc::new(Shared {
            warden: self.warden,
            limits: self.limits,
            guard,
            rate: Rate::new(self.limits.rate, Instant::now()),
            answers: Answers::default(),
            metrics: Metrics::default(),
            stopping: stop.clone(),
        });
        let room = Arc::new(Semaphore::new(self.limits.connections));
        let graceful = GracefulShutdown::new();
        loop {
            // A connection that finds no room waits in the system's queue.
            let permit = tokio::select! {
                () = stop.cancelled() => break,
                permit = Arc::clone(&room).acquire_owned() => permit,
            };
            let Ok(permit) = permit else { break };
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = accept(&self.door) => accepted,
            };
            match accepted {
                Some(Stream::Loopback(stream)) => serve(stream, permit, &shared, &graceful),
                #[cfg(unix)]
                Some(Stream::Socket(stream)) => serve(stream, permit, &shared, &graceful),
                // A peer that was gone at once, one of another user, or no file descriptor left.
                None => sleep(PAUSE).await,
            }
        }
        drop(self.door);
        shared.answers.ring();
        let _ = timeout(self.limits.grace, graceful.shutdown()).await;
    }
}

enum Stream {
    Loopback(TcpStream),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
}

async fn accept(door: &Door) -> Option<Stream> {
    match door {
        Door::Loopback(listener, _) => {
            let (stream, _) = listener.accept().await.ok()?;
            stream.set_nodelay(true).ok()?;
            Some(Stream::Loopback(stream))
        }
        #[cfg(unix)]
        Door::Socket(socket) => {
            let (stream, _) = socket.listener.accept().await.ok()?;
            let peer = stream.peer_cred().ok()?;
            (peer.uid() == rustix::process::geteuid().as_raw()).then_some(Stream::Socket(stream))
        }
    }
}

fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    permit: OwnedSemaphorePermit,
    shared: &Arc<Shared>,
    graceful: &GracefulShutdown,
) {
    let shared = Arc::clone(shared);
    let of_request = Arc::clone(&shared);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&of_request);
        async move { Ok::<_, Infallible>(routes::answer(&shared, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.head)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let watched = graceful.watch(connection);
    tokio::spawn(async move {
        shared.metrics.connections.fetch_add(1, Ordering::Relaxed);
        // A connection that breaks off concerns nobody but its peer.
        let _ = watched.await;
        shared.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        drop(permit);
    });
}
