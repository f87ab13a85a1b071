//! What a sidecar bears.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limits of a sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// Bytes of a request's body at most. Default: 4 MiB, above the largest call that a model makes.
    pub body: usize,
    /// Connections at once. Default: 256. More wait in the system's queue.
    pub connections: usize,
    /// Requests a second, over all connections; 0: as many as come. Default: 0.
    pub rate: u32,
    /// Time for a request's head. Default: 10 s.
    pub head: Duration,
    /// Time that a request may hold for an answer. Default: 60 s.
    pub wait: Duration,
    /// Time that calls have to finish when the sidecar stops. Default: 10 s.
    pub grace: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            connections: 256,
            rate: 0,
            head: Duration::from_secs(10),
            wait: Duration::from_mins(1),
            grace: Duration::from_secs(10),
        }
    }
}

/// A bucket that fills with a second's worth of requests.
#[derive(Debug)]
pub(super) struct Rate {
    a_second: u32,
    bucket: Mutex<(f64, Instant)>,
}

impl Rate {
    pub fn new(a_second: u32, now: Instant) -> Self {
        Self { a_second, bucket: Mutex::new((f64::from(a_second), now)) }
    }

    /// Whether one more request is within the rate.
    pub fn admits(&self, now: Instant) -> bool {
        if self.a_second == 0 {
            return true;
        }
        let most = f64::from(self.a_second);
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *bucket;
        let filled = now.saturating_duration_since(since).as_secs_f64().mul_add(most, left).min(most);
        let admitted = filled >= 1.0;
        *bucket = (if admitted { filled - 1.0 } else { filled }, now.max(since));
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_admits_a_seconds_worth_at_once_and_then_as_many_as_time_allows() {
        let start = Instant::now();
        let rate = Rate::new(10, start);
        assert_eq!((0..20).filter(|_| rate.admits(start)).count(), 10);
        let later = start + Duration::from_millis(250);
        assert_eq!((0..20).filter(|_| rate.admits(later)).count(), 2);
        assert_eq!((0..20).filter(|_| rate.admits(start + Duration::from_mins(1))).count(), 10);
        assert!((0..100).all(|_| Rate::new(0, start).admits(start)));
    }
}
