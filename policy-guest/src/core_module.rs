//! The core-module face: [`json`](crate::json) through linear memory, for runtimes that know no components.
//!
//! `toolwarden_alloc(len)` lends `len` bytes for a request, `toolwarden_call(ptr, len)` takes them over and answers, and
//! `toolwarden_free(ptr, len)` takes an answer back. An answer is four bytes of length, little endian, and that many bytes
//! of JSON: its `len` is four more than those say.

#![allow(unsafe_code, reason = "exports by name and memory that the host fills")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::slice;

use crate::DefaultModule;
use crate::face::{self, Slot};

static SLOT: Slot<DefaultModule> = Slot::new();

fn layout(len: usize) -> Layout {
    // SAFETY: an alignment of 1 is valid with every size that fits a 32-bit memory; larger ones never come from it.
    unsafe { Layout::from_size_align_unchecked(len.min(isize::MAX as usize), 1) }
}

#[unsafe(no_mangle)]
extern "C" fn toolwarden_alloc(len: usize) -> *mut u8 {
    let layout = layout(len.max(1));
    // SAFETY: the layout is not empty.
    let block = unsafe { alloc(layout) };
    if block.is_null() {
        handle_alloc_error(layout);
    }
    block
}

/// # Safety
///
/// `block` and `len` must be those of an answer that was not given back yet.
#[unsafe(no_mangle)]
unsafe extern "C" fn toolwarden_free(block: *mut u8, len: usize) {
    // SAFETY: the caller gives back what it was lent.
    unsafe { dealloc(block, layout(len.max(1))) };
}

/// # Safety
///
/// `block` must have been lent for `len` bytes, and those must have been written.
#[unsafe(no_mangle)]
unsafe extern "C" fn toolwarden_call(block: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    let request = unsafe { slice::from_raw_parts(block, len) };
    let (answer, configured) = crate::json::call(&SLOT, request);
    // SAFETY: the request is not read any more.
    unsafe { toolwarden_free(block, len) };
    let size = u32::try_from(answer.len()).unwrap_or(0);
    let out = toolwarden_alloc(answer.len() + 4);
    // SAFETY: four bytes and the answer were just lent.
    unsafe {
        out.copy_from_nonoverlapping(size.to_le_bytes().as_ptr(), 4);
        out.add(4).copy_from_nonoverlapping(answer.as_ptr(), answer.len());
    }
    drop(answer);
    if configured {
        face::keep();
    }
    out
}
