//! Lists a server's tools anew, before a call.
//!
//! [`ProbeKind::InBand`] lists on the connection that will run the call, [`ProbeKind::OneShot`] on one of its own,
//! [`ProbeKind::Both`] on both, and tells where they disagree: a server that shows its person another list than its caller.
//! Whether a list is the accepted one is not judged here.

use std::fmt;
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;

use crate::mcp::config::ServerConfig;
use crate::mcp::listing::{ListLimits, Listing, list_once, list_tools};
use crate::mcp::{ConnectOptions, Connection, Ending, WireError};

/// Where the list is had from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// The connection that will run the call. Takes milliseconds.
    InBand,
    /// A connection of its own: connects, lists, ends. Takes half a second to several, where a process is started.
    OneShot,
    /// Both, at the same time.
    Both,
}

impl ProbeKind {
    /// The word as it stands in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InBand => "inBand",
            Self::OneShot => "oneShot",
            Self::Both => "both",
        }
    }
}

/// How long a probe may take, from the start of a process to the last page. 200 to 60000 ms. Source: MCP security, probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeTimeout(Duration);

/// A number that is no [`ProbeTimeout`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a probe takes 200 to 60000 ms, not {0}")]
pub struct ProbeTimeoutError(pub u64);

impl ProbeTimeoutError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "bad-probe-timeout"
    }
}

impl ProbeTimeout {
    /// So many milliseconds.
    ///
    /// # Errors
    ///
    /// [`ProbeTimeoutError`].
    pub fn from_ms(ms: u64) -> Result<Self, ProbeTimeoutError> {
        if (200..=60_000).contains(&ms) { Ok(Self(Duration::from_millis(ms))) } else { Err(ProbeTimeoutError(ms)) }
    }

    /// As a duration.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }
}

/// What is probed, and how.
#[derive(Clone, Copy)]
pub struct Probe<'p> {
    /// How long it may take.
    pub timeout: ProbeTimeout,
    /// Bounds of the list.
    pub limits: ListLimits,
    /// How a process of the probe's own is ended. Default: 250 ms a step; somebody waits for the call.
    pub ending: Ending,
    /// The server, and the connection that will run the call.
    pub target: ProbeTarget<'p>,
}

/// Where a probe goes.
#[derive(Clone, Copy, Debug)]
pub enum ProbeTarget<'p> {
    /// The connection that will run the call.
    InBand(&'p Connection),
    /// A connection of its own.
    OneShot(&'p ServerConfig, &'p ConnectOptions),
    /// Both.
    Both(&'p Connection, &'p ServerConfig, &'p ConnectOptions),
}

impl ProbeTarget<'_> {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> ProbeKind {
        match self {
            Self::InBand(_) => ProbeKind::InBand,
            Self::OneShot(..) => ProbeKind::OneShot,
            Self::Both(..) => ProbeKind::Both,
        }
    }
}

impl fmt::Debug for Probe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe")
            .field("kind", &self.target.kind())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What a probe found. Whoever asked compares a list with the accepted one: equal goes on, drift is denied.
#[derive(Debug, PartialEq)]
pub enum ProbeOutcome<D> {
    /// The list; that of the connection which will run the call, where that was probed.
    Listed(Box<Listing>),
    /// The two lists are not one: denied `split-view`.
    SplitView {
        /// In what they differ, as the comparison says it.
        difference: D,
        /// The list on the connection that would run the call.
        in_band: Box<Listing>,
        /// The list on a connection of its own.
        one_shot: Box<Listing>,
    },
    /// There is no list: denied `probe-failed`, unless a setting says that the registry decides then.
    Failed(ProbeFailure),
}

/// Why there is no list. Says nothing secret.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{} probe: {error}", .kind.as_str())]
pub struct ProbeFailure {
    /// Which of the two failed; the one in band where both did.
    pub kind: ProbeKind,
    /// Why.
    pub error: WireError,
}

impl<D> ProbeOutcome<D> {
    /// The kind of the verdict that this is by itself, as [`ProbeFailure`] and a split view are; none where there is a list
    /// to be compared.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Listed(_) => None,
            Self::SplitView { .. } => Some("split-view"),
            Self::Failed(_) => Some("probe-failed"),
        }
    }
}

impl<'p> Probe<'p> {
    /// A probe with the default limits.
    #[must_use]
    pub fn new(target: ProbeTarget<'p>, timeout: ProbeTimeout) -> Self {
        let step = Duration::from_millis(250);
        let ending = Ending { after_close: step, after_term: step };
        Self { timeout, limits: ListLimits::default(), ending, target }
    }

    /// Lists. `differ` says in what two lists differ, the one in band first; none where they are one.
    ///
    /// Dropping the future takes requests back and kills what was started.
    pub async fn run<D>(&self, differ: impl FnOnce(&Listing, &Listing) -> Option<D>) -> ProbeOutcome<D> {
        let deadline = Instant::now() + self.timeout.get();
        match self.target {
            ProbeTarget::InBand(connection) => match self.in_band(connection, deadline).await {
                Ok(listing) => ProbeOutcome::Listed(listing),
                Err(failure) => ProbeOutcome::Failed(failure),
            },
            ProbeTarget::OneShot(server, options) => match self.one_shot(server, options, deadline).await {
                Ok(listing) => ProbeOutcome::Listed(listing),
                Err(failure) => ProbeOutcome::Failed(failure),
            },
            ProbeTarget::Both(connection, server, options) => {
                let both = tokio::join!(self.in_band(connection, deadline), self.one_shot(server, options, deadline));
                match both {
                    (Ok(in_band), Ok(one_shot)) => match differ(&in_band, &one_shot) {
                        None => ProbeOutcome::Listed(in_band),
                        Some(difference) => ProbeOutcome::SplitView { difference, in_band, one_shot },
                    },
                    (Err(failure), _) | (_, Err(failure)) => ProbeOutcome::Failed(failure),
                }
            }
        }
    }

    async fn in_band(&self, connection: &Connection, deadline: Instant) -> Result<Box<Listing>, ProbeFailure> {
        let listed = list_tools(connection, &self.limits, deadline).await;
        listed.map(Box::new).map_err(|error| ProbeFailure { kind: ProbeKind::InBand, error })
    }

    async fn one_shot(
        &self,
        server: &ServerConfig,
        options: &ConnectOptions,
        deadline: Instant,
    ) -> Result<Box<Listing>, ProbeFailure> {
        let listed = list_once(server, options, &self.limits, self.ending, deadline).await;
        listed.map(Box::new).map_err(|error| ProbeFailure { kind: ProbeKind::OneShot, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_has_neither_no_time_nor_all_time() {
        let ms = |ms| ProbeTimeout::from_ms(ms).map(|timeout| timeout.get().as_millis());
        assert_eq!((ms(200), ms(60_000)), (Ok(200), Ok(60_000)));
        for wrong in [0, 199, 60_001, u64::MAX] {
            assert_eq!(ms(wrong), Err(ProbeTimeoutError(wrong)));
        }
    }
}
