//! What came that should not have come.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often a server did what it should not do. None of it breaks a connection by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Lines of text among the messages.
    pub text_lines: u64,
    /// Messages that were none, or had no single meaning.
    pub malformed: u64,
    /// Messages over the limit.
    pub too_large: u64,
    /// Answers to requests that were never made, or were answered already.
    pub stray_answers: u64,
    /// Requests in an era that knows none, or too many of them.
    pub refused_requests: u64,
    /// Progress of requests that did not ask for it, or are done.
    pub stray_progress: u64,
}

/// The counters behind [`Oddities`].
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub text_lines: Counter,
    pub malformed: Counter,
    pub too_large: Counter,
    pub stray_answers: Counter,
    pub refused_requests: Counter,
    pub stray_progress: Counter,
}

impl Traffic {
    pub(crate) fn oddities(&self) -> Oddities {
        Oddities {
            text_lines: self.text_lines.get(),
            malformed: self.malformed.get(),
            too_large: self.too_large.get(),
            stray_answers: self.stray_answers.get(),
            refused_requests: self.refused_requests.get(),
            stray_progress: self.stray_progress.get(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
