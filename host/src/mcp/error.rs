//! What can go wrong between us and a server.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use super::message::Malformed;
use super::rpc_error::RpcError;

/// Why a request has no result, or a connection could not be had. Says nothing secret.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WireError {
    /// The server's program could not be started.
    #[error("`{program}` could not be started: {why}")]
    SpawnFailed {
        /// The command as it is configured.
        program: String,
        /// What the system says.
        why: String,
    },
    /// The connection ended.
    #[error("{0}")]
    Closed(Ended),
    /// No answer came in time.
    #[error("no answer within {} ms{}", .after.as_millis(), Strays(*.strays))]
    DeadlineExceeded {
        /// How long was waited.
        after: Duration,
        /// Answers that came, and that no request had asked for.
        strays: u64,
    },
    /// Whoever asked did not want to know any more.
    #[error("the request was cancelled")]
    Cancelled,
    /// The server answered with an error.
    #[error("the server answered with {0}")]
    Refused(Box<RpcError>),
    /// The server's answer has no single meaning.
    #[error("the server's answer cannot be used: {0}")]
    Malformed(Malformed),
    /// The server's answer is too long.
    #[error("the server's answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A request of ours is too long.
    #[error("the request is longer than {limit} bytes")]
    RequestTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The stream ended without the answer.
    #[error("the server ended the response without an answer")]
    NoAnswer,
    /// The server does not know the session any more (legacy HTTP).
    #[error("the server has lost the session")]
    SessionLost,
    /// The HTTP endpoint could not be reached.
    #[error("{origin} cannot be reached: {why}")]
    Unreachable {
        /// Scheme, host and port.
        origin: String,
        /// What went wrong.
        why: String,
    },
    /// The HTTP server answered with a status that carries no message.
    #[error("the server answered with HTTP status {status}")]
    HttpStatus {
        /// The status.
        status: u16,
    },
    /// The HTTP server sends us elsewhere.
    #[error("the server redirects to {to}, which is not followed")]
    Redirected {
        /// Scheme, host and port, or that there is none.
        to: String,
    },
    /// The HTTP server answered with something that is neither JSON nor an event stream.
    #[error("the server answered with content of type `{0}`")]
    ContentType(String),
    /// The server speaks other versions of the protocol.
    #[error("the server speaks the protocol version {0} only")]
    UnsupportedVersion(Versions),
    /// What the server says of itself cannot be used.
    #[error("the server's opening answer cannot be used: {0}")]
    BadOpening(&'static str),
    /// The server's list cannot be used.
    #[error("{0}")]
    BadList(#[from] ListFault),
}

impl WireError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::SpawnFailed { .. } => "spawn-failed",
            Self::Closed(_) => "connection-closed",
            Self::DeadlineExceeded { .. } => "deadline-exceeded",
            Self::Cancelled => "cancelled",
            Self::Refused(_) => "server-error",
            Self::Malformed(malformed) => malformed.code.as_str(),
            Self::TooLarge { .. } => "answer-too-large",
            Self::RequestTooLarge { .. } => "request-too-large",
            Self::NoAnswer => "no-answer",
            Self::SessionLost => "session-lost",
            Self::Unreachable { .. } => "unreachable",
            Self::HttpStatus { .. } => "http-status",
            Self::Redirected { .. } => "redirected",
            Self::ContentType(_) => "bad-content-type",
            Self::UnsupportedVersion(_) => "unsupported-protocol-version",
            Self::BadOpening(_) => "bad-opening",
            Self::BadList(fault) => fault.code(),
        }
    }
}

/// How a connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub why: EndedWhy,
    /// How the server's process ended, where it has one and did.
    pub exit: Option<String>,
    /// The last lines that it wrote to its standard error, secrets masked.
    pub stderr: Vec<String>,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndedWhy {
    /// The server closed its output.
    #[default]
    ServerLeft,
    /// The server closed its input.
    InputClosed,
    /// The server wrote text without end where messages belong.
    Noise,
    /// We closed it.
    ClosedByUs,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.why {
            EndedWhy::ServerLeft => "the server closed the connection",
            EndedWhy::InputClosed => "the server closed its input",
            EndedWhy::Noise => "the server writes text in the place of messages",
            EndedWhy::ClosedByUs => "the connection is closed",
        })?;
        if let Some(exit) = &self.exit {
            write!(f, " ({exit})")?;
        }
        if let Some(last) = self.stderr.last() {
            write!(f, "; its last words: {last}")?;
        }
        Ok(())
    }
}

/// What is wrong with a list of tools.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ListFault {
    /// A page is not what it should be.
    #[error("page {page} of the tool list: {what}")]
    BadPage {
        /// Which page, from 1.
        page: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A cursor that was there before: the list has no end.
    #[error("page {page} of the tool list leads back to a page before it")]
    RepeatedCursor {
        /// Which page, from 1.
        page: usize,
    },
    /// More pages than allowed.
    #[error("the tool list has more than {0} pages")]
    TooManyPages(usize),
    /// More tools than allowed.
    #[error("the tool list has more than {0} tools")]
    TooManyTools(usize),
    /// More bytes than allowed.
    #[error("the tool list has more than {0} bytes")]
    TooManyBytes(usize),
}

impl ListFault {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadPage { .. } => "bad-list",
            Self::RepeatedCursor { .. } => "repeated-cursor",
            Self::TooManyPages(_) => "too-many-pages",
            Self::TooManyTools(_) => "too-many-tools",
            Self::TooManyBytes(_) => "list-too-large",
        }
    }
}

/// Protocol versions as a server names them: not to be trusted, so escaped and cut when shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions(pub Vec<String>);

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", toolwarden_text::clip(&self.0.join(", "), 120))
    }
}

struct Strays(u64);

impl fmt::Display for Strays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str(" (one came that nobody had asked for)"),
            n => write!(f, " ({n} came that nobody had asked for)"),
        }
    }
}
