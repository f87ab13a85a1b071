//! How often a module fails.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::module::Fault;

/// Decisions that faults are counted among.
const WINDOW: u64 = 100;

/// Decisions after which a module counts as established. From then on its faults are denials and nothing more: otherwise
/// whoever finds a call that a module fails on could bring its predecessor back whenever it suits him.
const PROBATION: u64 = 10_000;

/// Faults of one module in one generation.
#[derive(Debug)]
pub(super) struct Health {
    threshold: u32,
    decisions: AtomicU64,
    faults: AtomicU32,
    tripped: AtomicBool,
}

impl Health {
    /// `threshold` faults among a hundred decisions are too many; with 0 none are.
    pub const fn new(threshold: u32) -> Self {
        Self { threshold, decisions: AtomicU64::new(0), faults: AtomicU32::new(0), tripped: AtomicBool::new(false) }
    }

    /// Counts a decision. Gives the number of faults when they have just become too many; that happens once.
    pub fn count(&self, fault: Option<&Fault>) -> Option<u32> {
        let number = self.decisions.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(WINDOW) {
            self.faults.store(0, Ordering::Relaxed);
        }
        // That no instance could be made says something about the machine, not about the module.
        if fault.is_none_or(|fault| matches!(fault, Fault::Unavailable(_))) {
            return None;
        }
        let faults = self.faults.fetch_add(1, Ordering::Relaxed) + 1;
        let too_many = self.threshold > 0 && faults >= self.threshold && number < PROBATION;
        (too_many && !self.tripped.swap(true, Ordering::Relaxed)).then_some(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trips(health: &Health, faults: impl IntoIterator<Item = bool>) -> Vec<usize> {
        let count = |(at, fault): (usize, bool)| health.count(fault.then_some(&Fault::OutOfMemory)).map(|_| at);
        faults.into_iter().enumerate().filter_map(count).collect()
    }

    #[test]
    fn the_tenth_fault_among_a_hundred_trips_once() {
        assert_eq!(trips(&Health::new(10), [true; 40]), [9]);
        let every_tenth = (0..100).map(|at| at % 10 == 9);
        assert_eq!(trips(&Health::new(10), every_tenth), [99]);
    }

    #[test]
    fn rare_faults_never_add_up() {
        assert!(trips(&Health::new(10), (0..9_000).map(|at| at % 20 == 0)).is_empty());
    }

    #[test]
    fn an_established_module_is_not_taken_back() {
        assert!(trips(&Health::new(1), (0..20_000).map(|at| at >= 10_000)).is_empty());
        assert_eq!(trips(&Health::new(1), (0..20_000).map(|at| at >= 9_999)), [9_999]);
    }

    #[test]
    fn zero_turns_it_off_and_missing_instances_do_not_count() {
        assert!(trips(&Health::new(0), [true; 100]).is_empty());
        let health = Health::new(1);
        assert_eq!(health.count(Some(&Fault::Unavailable("no slot".into()))), None);
        assert_eq!(health.count(Some(&Fault::DeadlineExceeded)), Some(1));
    }
}
