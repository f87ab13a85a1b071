//! How much of a peer is endured.

use std::time::Duration;

/// Bounds of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireLimits {
    /// Bytes of one message at most: a line, an event, a body. Default: 32 MiB, as a line of `decide`; results carry
    /// images.
    pub message_bytes: usize,
    /// Lines without a message that may follow one another on a server's standard output. Default: 10 000.
    pub noise_lines: u64,
    /// Requests of the peer that are answered at the same time. Default: 64; more are refused.
    pub peer_requests: usize,
    /// Redirects within the same origin that are followed. Default: 3.
    pub redirects: usize,
    /// Attempts to take up a broken stream again (legacy HTTP). Default: 3.
    pub resumptions: usize,
    /// How long silence on `server/discover` is waited out before `initialize` is tried; never longer than half of what is
    /// left of the deadline. Default: 5 s; the official clients wait 10 s or their whole time.
    pub era_patience: Duration,
    /// How a process is ended.
    pub ending: Ending,
}

impl Default for WireLimits {
    fn default() -> Self {
        Self {
            message_bytes: 32 << 20,
            noise_lines: 10_000,
            peer_requests: 64,
            redirects: 3,
            resumptions: 3,
            era_patience: Duration::from_secs(5),
            ending: Ending::default(),
        }
    }
}

/// How long a process has at each step of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// After its input was closed. Default: 2 s, as the official clients.
    pub after_close: Duration,
    /// After TERM. Default: 2 s. Then comes KILL.
    pub after_term: Duration,
}

impl Default for Ending {
    fn default() -> Self {
        Self { after_close: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}
