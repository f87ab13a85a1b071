//! A fork, noticed.
//!
//! In a forked child only the forking thread lives on. The thread that keeps policy modules to their deadlines is gone, and a lock
//! that another thread held is held for ever. So a child is told no before any lock is touched.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::Failure;

/// The process that uses the library; zero before the first handle. No process has the id zero.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Makes this process the one that uses the library.
///
/// # Errors
///
/// `forked`, where another one does.
pub(crate) fn claim() -> Result<(), Failure> {
    let own = process::id();
    match OWNER.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(()),
        Err(owner) if owner == own => Ok(()),
        Err(_) => Err(Failure::forked()),
    }
}

/// Whether this process may use handles. Before the first one is opened there are none, whoever asks.
///
/// # Errors
///
/// `forked`, where another process opened them.
pub(crate) fn check() -> Result<(), Failure> {
    // A system call of some 50 ns, which no library that caches process ids can get wrong.
    match OWNER.load(Ordering::Acquire) {
        0 => Ok(()),
        owner if owner == process::id() => Ok(()),
        _ => Err(Failure::forked()),
    }
}
