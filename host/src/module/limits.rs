//! What a policy module may use up, and how that is held.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use wasmtime::ResourceLimiter;

use super::inert;

/// How instances are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// An instance serves one call after the other. Source: `module.isolation = "pooled"`, the default.
    #[default]
    Pooled,
    /// Each call gets a fresh instance. Source: `module.isolation = "per-call"`.
    PerCall,
}

/// Whether a module may import WASI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wasi {
    /// A module imports nothing. The default.
    #[default]
    Refused,
    /// A module may import interfaces of `wasi:`. They are there and do nothing: no files, no environment, no network, no time.
    /// Source: `module.allowInertWasi = true`.
    Inert,
}

/// What one module may use. The defaults leave a hundredfold margin over what the default module needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one instance, in bytes. Default: 16 MiB. Source: `module.memoryMiB`.
    pub memory: usize,
    /// Processor time of one call, counted once the call has taken as long by the clock. Default: 50 ms, in ticks of 5 ms.
    /// By the clock a call has twenty times as long, since a busy machine is no fault of the module. Source:
    /// `module.deadlineMs`.
    pub deadline: Duration,
    /// What one answer may hold, in bytes as the host stores it. Default: 1 MiB.
    pub answer: usize,
    /// How instances are used. Default: pooled.
    pub isolation: Isolation,
    /// Whether it may import WASI. Default: no.
    pub wasi: Wasi,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 16 << 20,
            deadline: Duration::from_millis(50),
            answer: 1 << 20,
            isolation: Isolation::Pooled,
            wasi: Wasi::Refused,
        }
    }
}

/// Elements of one table at most: functions of a large script engine, with room.
const TABLE_ELEMENTS: usize = 100_000;

/// A call may take so many times its deadline by the clock.
const PATIENCE: u32 = 20;

/// What an instance's store carries: the limits, and how far they are used up.
#[derive(Debug)]
pub(crate) struct Guard {
    memory: usize,
    deadline: Duration,
    /// Set when the module was refused memory: a trap that follows is for want of it.
    pub starved: bool,
    /// Bytes of its largest memory, when it was made and now.
    made_with: usize,
    grown_to: usize,
    /// When the running call first went past its deadline: its thread's processor time, and the clock.
    late: Option<(Duration, Instant)>,
    /// What it did with its inert WASI.
    pub inert: inert::State,
}

impl Guard {
    pub const fn new(limits: &Limits) -> Self {
        Self {
            memory: limits.memory,
            deadline: limits.deadline,
            starved: false,
            made_with: 0,
            grown_to: 0,
            late: None,
            inert: inert::State::new(),
        }
    }

    /// The instance is made; what it takes from here on it takes for calls.
    pub const fn made(&mut self) {
        self.made_with = self.grown_to;
    }

    /// Whether more than half of what it could take for calls is taken. Memory never shrinks, and languages that collect their
    /// garbage now and then take more and more of it; a fresh instance is better than a call that fails for want of it.
    pub const fn is_worn(&self) -> bool {
        self.grown_to - self.made_with > self.memory.saturating_sub(self.made_with) / 2
    }

    /// A call begins.
    pub const fn begin(&mut self) {
        self.late = None;
        self.inert.begin();
    }

    /// Whether a call that is past its deadline by the clock may go on. Asking for processor time costs a system call, so a
    /// call that is in time is never asked.
    pub fn has_time(&mut self) -> bool {
        let used = ThreadTime::now().as_duration();
        let (used_before, since) = *self.late.get_or_insert_with(|| (used, Instant::now()));
        used.saturating_sub(used_before) < self.deadline && since.elapsed() < self.deadline * PATIENCE
    }
}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= self.memory;
        self.starved |= !fits;
        if fits {
            self.grown_to = self.grown_to.max(desired);
        }
        Ok(fits)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= TABLE_ELEMENTS;
        self.starved |= !fits;
        Ok(fits)
    }
}
