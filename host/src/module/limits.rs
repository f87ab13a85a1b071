//! What a policy module may use up, and how that is held.

use std::time::Duration;

use wasmtime::ResourceLimiter;

/// How instances are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// An instance serves one call after the other. Source: `module.isolation = "pooled"`, the default.
    #[default]
    Pooled,
    /// Each call gets a fresh instance. Source: `module.isolation = "per-call"`.
    PerCall,
}

/// What one module may use. The defaults leave a hundredfold margin over what the default module needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one instance, in bytes. Default: 16 MiB. Source: `module.memoryMiB`.
    pub memory: usize,
    /// Wall-clock time of one call. Default: 50 ms, rounded up to the next tick of 5 ms. Source: `module.deadlineMs`.
    pub deadline: Duration,
    /// What one answer may hold, in bytes as the host stores it. Default: 1 MiB.
    pub answer: usize,
    /// How instances are used. Default: pooled.
    pub isolation: Isolation,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 16 << 20, deadline: Duration::from_millis(50), answer: 1 << 20, isolation: Isolation::Pooled }
    }
}

/// Elements of one table at most: functions of a large script engine, with room.
const TABLE_ELEMENTS: usize = 100_000;

/// What an instance's store carries: the memory limit, and whether it was hit.
#[derive(Debug)]
pub(crate) struct Guard {
    memory: usize,
    /// Set when the module was refused memory: a trap that follows is for want of it.
    pub starved: bool,
}

impl Guard {
    pub const fn new(memory: usize) -> Self {
        Self { memory, starved: false }
    }
}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= self.memory;
        self.starved |= !fits;
        Ok(fits)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= TABLE_ELEMENTS;
        self.starved |= !fits;
        Ok(fits)
    }
}
