//! The allocator of the WebAssembly build: one static arena that starts over when nothing in it lives.
//!
//! A decision allocates a few kilobytes and frees them all. Handing out the next free bytes and forgetting them together is
//! faster than any general allocator, and touches so few pages that a fresh instance per call stays cheap. What is kept
//! between calls, the settings, lies at the bottom; what does not fit goes to the system's allocator.
//!
//! This is the one file of the crate with unsafe code of its own. Its tests run under Miri:
//! `cargo +nightly miri test -p toolwarden-policy arena`.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// Bytes of the arena. A typical call needs 2 to 4 KiB.
#[cfg(target_arch = "wasm32")]
const SIZE: usize = 64 * 1024;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ARENA: Arena<SIZE> = Arena::new();

/// Keeps what lives now below all that comes. To be called when settings were taken.
#[cfg(target_arch = "wasm32")]
pub(crate) fn keep() {
    ARENA.keep();
}

#[repr(C, align(16))]
struct Arena<const N: usize> {
    bytes: UnsafeCell<[u8; N]>,
    /// First free byte.
    top: Cell<usize>,
    /// Everything below belongs to kept blocks.
    floor: Cell<usize>,
    /// Living blocks below the floor.
    kept: Cell<usize>,
    /// Living blocks above it.
    passing: Cell<usize>,
}

// SAFETY: the WebAssembly build runs on one thread, and no call interrupts another.
#[cfg(target_arch = "wasm32")]
unsafe impl<const N: usize> Sync for Arena<N> {}

impl<const N: usize> Arena<N> {
    const fn new() -> Self {
        Self {
            bytes: UnsafeCell::new([0; N]),
            top: Cell::new(0),
            floor: Cell::new(0),
            kept: Cell::new(0),
            passing: Cell::new(0),
        }
    }

    fn keep(&self) {
        self.kept.set(self.kept.get() + self.passing.replace(0));
        self.floor.set(self.top.get());
    }

    fn base(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// Offset of a block in the arena; none for a block of the system.
    fn offset(&self, block: *mut u8) -> Option<usize> {
        block.addr().checked_sub(self.base().addr()).filter(|&offset| offset < N)
    }

    /// Where a block of this layout would lie; none if it does not fit.
    fn place(&self, layout: Layout) -> Option<(usize, usize)> {
        let base = self.base().addr();
        let start = base.checked_add(self.top.get())?.checked_next_multiple_of(layout.align())? - base;
        let end = start.checked_add(layout.size())?;
        // A block of no bytes at the very end would not be told from one of the system.
        (end <= N && start < N).then_some((start, end))
    }

    /// Starts over as far down as nothing lives.
    fn forget(&self) {
        if self.passing.get() == 0 {
            if self.kept.get() == 0 {
                self.floor.set(0);
            }
            self.top.set(self.floor.get());
        }
    }
}

// SAFETY: blocks are disjoint. Space is handed out upwards from `top`, which only moves down to `floor` when no block above
// it lives, to zero when no block lives at all, or to the start of a block that is freed while it is the topmost one above
// the floor. Alignment is computed on the address. Blocks outside the arena are the system allocator's.
unsafe impl<const N: usize> GlobalAlloc for Arena<N> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((start, end)) = self.place(layout) else {
            // SAFETY: the caller's promises about the layout are passed on.
            return unsafe { System.alloc(layout) };
        };
        self.top.set(end);
        self.passing.set(self.passing.get() + 1);
        // SAFETY: `place` put the block inside the arena.
        unsafe { self.base().add(start) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(offset) = self.offset(block) else {
            // SAFETY: a block outside the arena came from the system.
            return unsafe { System.dealloc(block, layout) };
        };
        if offset < self.floor.get() {
            self.kept.set(self.kept.get() - 1);
        } else {
            self.passing.set(self.passing.get() - 1);
            if offset + layout.size() == self.top.get() {
                self.top.set(offset);
            }
        }
        self.forget();
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(offset) = self.offset(block) else {
            // SAFETY: a block outside the arena came from the system.
            return unsafe { System.realloc(block, layout, size) };
        };
        let topmost = offset >= self.floor.get() && offset + layout.size() == self.top.get();
        if topmost && offset + size <= N {
            self.top.set(offset + size);
            return block;
        }
        // SAFETY: the caller promises that `size` is a valid size for this alignment; the two blocks are disjoint, and both
        // hold at least the bytes copied.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers of a test")]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    /// A block, filled with its number, so that an overlap shows.
    struct Block {
        at: *mut u8,
        layout: Layout,
        fill: u8,
    }

    impl Block {
        fn new<const N: usize>(arena: &Arena<N>, size: usize, align: usize, fill: u8) -> Self {
            let layout = layout(size, align);
            let at = unsafe { arena.alloc(layout) };
            assert!(!at.is_null() && at.addr().is_multiple_of(align));
            unsafe { at.write_bytes(fill, size) };
            Self { at, layout, fill }
        }

        fn check(&self) {
            let bytes = unsafe { std::slice::from_raw_parts(self.at, self.layout.size()) };
            assert!(bytes.iter().all(|&b| b == self.fill), "block {} was overwritten", self.fill);
        }

        fn resize<const N: usize>(&mut self, arena: &Arena<N>, size: usize) {
            let old = self.layout.size();
            self.at = unsafe { arena.realloc(self.at, self.layout, size) };
            self.layout = layout(size, self.layout.align());
            if size > old {
                unsafe { self.at.add(old).write_bytes(self.fill, size - old) };
            }
        }

        fn free<const N: usize>(self, arena: &Arena<N>) {
            self.check();
            unsafe { arena.dealloc(self.at, self.layout) };
        }
    }

    #[test]
    fn starts_over_when_nothing_lives() {
        let arena = Arena::<256>::new();
        for _ in 0..100 {
            let (a, b) = (Block::new(&arena, 100, 8, 1), Block::new(&arena, 100, 1, 2));
            a.free(&arena);
            b.free(&arena);
            assert_eq!(arena.top.get(), 0);
        }
    }

    #[test]
    fn what_is_kept_outlives_what_passes() {
        let arena = Arena::<256>::new();
        let first = Block::new(&arena, 40, 8, 1);
        arena.keep();
        for fill in 2..50 {
            Block::new(&arena, 150, 4, fill).free(&arena);
            first.check();
        }
        // New settings come before the old ones go, and are fewer.
        let (second, passing) = (Block::new(&arena, 8, 8, 60), Block::new(&arena, 8, 8, 61));
        first.free(&arena);
        passing.free(&arena);
        arena.keep();
        for fill in 62..90 {
            Block::new(&arena, 100, 4, fill).free(&arena);
            second.check();
        }
        second.free(&arena);
        assert_eq!((arena.top.get(), arena.floor.get()), (0, 0));
    }

    #[test]
    fn what_does_not_fit_goes_to_the_system() {
        let arena = Arena::<64>::new();
        let small = Block::new(&arena, 60, 1, 1);
        let mut large = Block::new(&arena, 1000, 16, 2);
        large.resize(&arena, 2000);
        large.free(&arena);
        small.free(&arena);
        let mut grows = Block::new(&arena, 60, 1, 3);
        grows.resize(&arena, 600);
        grows.check();
        grows.free(&arena);
        assert_eq!(arena.top.get(), 0);
    }

    #[test]
    fn a_long_random_life_overwrites_nothing() {
        let arena = Arena::<512>::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut seed = 7_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let steps = if cfg!(miri) { 500 } else { 20_000 };
        for step in 0..steps {
            match next(8) {
                0..=3 => {
                    let (size, align) = (1 + next(90) as usize, 1 << next(5));
                    blocks.push(Block::new(&arena, size, align, (step % 251) as u8));
                }
                4..=5 if !blocks.is_empty() => {
                    let at = next(blocks.len() as u32) as usize;
                    blocks.swap_remove(at).free(&arena);
                }
                6 if !blocks.is_empty() => {
                    let at = next(blocks.len() as u32) as usize;
                    let size = 1 + next(120) as usize;
                    blocks[at].resize(&arena, size);
                }
                7 if next(20) == 0 => arena.keep(),
                _ if next(40) == 0 => blocks.drain(..).for_each(|b| b.free(&arena)),
                _ => {}
            }
            blocks.iter().for_each(Block::check);
        }
        for block in blocks {
            block.free(&arena);
        }
        assert_eq!((arena.kept.get(), arena.passing.get(), arena.top.get()), (0, 0, 0));
    }
}
