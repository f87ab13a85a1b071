//! Handles, and the wardens behind them.
//!
//! A handle is a place in the table and the count of handles that the place has had. One that was closed is therefore unknown, also
//! after its place was given to another; a pointer could not tell.

use std::sync::{Arc, PoisonError, RwLock};

use toolwarden::embed::Warden;

use crate::failure::Failure;

/// Every open handle of this process.
static OPEN: RwLock<Table<Warden>> = RwLock::new(Table::new());

/// A handle as C holds it. Zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Handle {
    place: u32,
    /// From 1 on, so that no handle is zero.
    turn: u32,
}

impl Handle {
    const fn to_bits(self) -> u64 {
        (self.turn as u64) << 32 | self.place as u64
    }

    #[allow(clippy::cast_possible_truncation, reason = "the two halves of a handle")]
    const fn from_bits(bits: u64) -> Self {
        Self { place: bits as u32, turn: (bits >> 32) as u32 }
    }
}

struct Slot<T> {
    turn: u32,
    content: Option<Arc<T>>,
}

struct Table<T> {
    slots: Vec<Slot<T>>,
    /// Places that can be used again.
    free: Vec<u32>,
}

impl<T> Table<T> {
    const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    fn insert(&mut self, content: Arc<T>) -> Option<Handle> {
        if let Some(place) = self.free.pop() {
            let slot = self.slots.get_mut(place as usize)?;
            slot.content = Some(content);
            return Some(Handle { place, turn: slot.turn });
        }
        let place = u32::try_from(self.slots.len()).ok()?;
        self.slots.push(Slot { turn: 1, content: Some(content) });
        Some(Handle { place, turn: 1 })
    }

    fn get(&self, handle: Handle) -> Option<Arc<T>> {
        let slot = self.slots.get(handle.place as usize)?;
        slot.content.clone().filter(|_| slot.turn == handle.turn)
    }

    fn remove(&mut self, handle: Handle) -> Option<Arc<T>> {
        let slot = self.slots.get_mut(handle.place as usize).filter(|slot| slot.turn == handle.turn)?;
        let content = slot.content.take()?;
        // A place whose turns are used up is left alone: no handle ever comes again.
        if let Some(turn) = slot.turn.checked_add(1) {
            slot.turn = turn;
            self.free.push(handle.place);
        }
        Some(content)
    }
}

/// Gives a warden a handle.
///
/// # Errors
///
/// `too-many-handles`.
pub(crate) fn insert(warden: Warden) -> Result<u64, Failure> {
    let warden = Arc::new(warden);
    let handle = OPEN.write().unwrap_or_else(PoisonError::into_inner).insert(warden);
    handle.map(Handle::to_bits).ok_or_else(Failure::too_many_handles)
}

/// The warden of a handle. It lives on while it is held, also when its handle is closed meanwhile.
///
/// # Errors
///
/// `closed`.
pub(crate) fn get(handle: u64) -> Result<Arc<Warden>, Failure> {
    let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
    open.get(Handle::from_bits(handle)).ok_or_else(Failure::closed)
}

/// Takes a handle back.
///
/// # Errors
///
/// `closed`.
pub(crate) fn remove(handle: u64) -> Result<Arc<Warden>, Failure> {
    // The lock is released before the warden is dropped, which may take a while.
    let removed = OPEN.write().unwrap_or_else(PoisonError::into_inner).remove(Handle::from_bits(handle));
    removed.ok_or_else(Failure::closed)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Handle, Table};

    #[test]
    fn a_closed_handle_stays_closed_when_its_place_is_used_again() {
        let mut table = Table::new();
        let first = table.insert(Arc::new("first")).unwrap();
        assert_eq!(Handle::from_bits(first.to_bits()), first);
        assert_ne!(first.to_bits(), 0);
        assert_eq!(table.remove(first).as_deref(), Some(&"first"));
        assert_eq!((table.get(first), table.remove(first)), (None, None));

        let second = table.insert(Arc::new("second")).unwrap();
        assert_eq!((second.place, second.turn), (first.place, first.turn + 1));
        assert_eq!((table.get(first), table.remove(first)), (None, None));
        assert_eq!(table.get(second).as_deref(), Some(&"second"));
    }

    #[test]
    fn handles_that_nobody_got_are_unknown() {
        let mut table = Table::new();
        table.insert(Arc::new(())).unwrap();
        for bits in [0, 1, u64::MAX, 1 << 32 | 1, 2 << 32, 0xFFFF_FFFF] {
            let handle = Handle::from_bits(bits);
            assert_eq!((table.get(handle), table.remove(handle)), (None, None), "{bits:x}");
        }
    }

    #[test]
    fn a_place_whose_turns_are_used_up_is_not_used_again() {
        let mut table = Table::new();
        let handle = table.insert(Arc::new(1)).unwrap();
        table.slots[0].turn = u32::MAX;
        let last = Handle { turn: u32::MAX, ..handle };
        assert!(table.remove(last).is_some());
        assert_ne!(table.insert(Arc::new(2)).unwrap().place, handle.place);
        assert_eq!(table.get(last), None);
    }
}
