//! The functions of the header.
#![allow(unsafe_code, reason = "the C ABI")]

use std::ffi::c_char;
use std::panic::{self, AssertUnwindSafe};

use toolwarden::embed::{EmbedError, Warden};

use crate::answer::{self, Answer, Place};
use crate::failure::{self, Failure};
use crate::status::{Status, Verdict};
use crate::{process, table};

/// A handle of a warden. Zero is none.
pub type WardenHandle = u64;

/// The version of the ABI that this header describes. It is counted up when a program that was built before would not run any
/// more, and the shared library's name with it.
pub const TW_ABI_VERSION: u32 = 1;

/// The version of the ABI that the loaded library has. Compare it with TW_ABI_VERSION where you load the library yourself.
#[unsafe(no_mangle)]
pub extern "C" fn tw_abi_version() -> u32 {
    TW_ABI_VERSION
}

/// Opens a warden: a policy in force, a registry of tools, and the questions that wait.
///
/// `options` is a JSON object, or empty: everything off. Any thread may use the handle, many at once. It is zero, which is no
/// handle, where the status is not TW_STATUS_OK.
///
/// # Safety
///
/// `options` points to `options_len` bytes, or is NULL with a length of zero; `warden` points to room for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_open(options: *const c_char, options_len: usize, warden: *mut WardenHandle) -> Status {
    guarded(|| {
        // SAFETY: this function's own condition.
        unsafe { answer::clear(warden) }?;
        process::claim()?;
        // SAFETY: this function's own condition.
        let opened = table::insert(Warden::open(unsafe { answer::borrowed(options, options_len) }?)?)?;
        // SAFETY: `clear` checked it, and this function's own condition holds still.
        unsafe { warden.write(opened) };
        Ok(())
    })
}

/// The verdict on a call: a `decide` record in, the line that `decide` writes out. Nothing is run and no file is looked at.
///
/// # Safety
///
/// `call` points to `call_len` bytes; `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_decide(
    warden: WardenHandle,
    call: *const c_char,
    call_len: usize,
    answer: *mut Answer,
) -> Status {
    // SAFETY: this function's own condition.
    unsafe { judged(warden, answer, |warden| Ok(warden.decide(answer::borrowed(call, call_len)?)?)) }
}

/// The verdict on a call that is to run now, and what follows from it.
///
/// Links are followed on this machine, and what nobody has registered does not run. The answer is that of tw_decide and three
/// members more: `run` is what to run where the verdict is `allow`, that and nothing else; `result` is there in its place for
/// the bridge tools that are answered here; `ticket` is there where it is `ask`, and tw_settle takes it.
///
/// # Safety
///
/// `call` points to `call_len` bytes; `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_invoke(
    warden: WardenHandle,
    call: *const c_char,
    call_len: usize,
    answer: *mut Answer,
) -> Status {
    // SAFETY: this function's own condition.
    unsafe { judged(warden, answer, |warden| Ok(warden.invoke(answer::borrowed(call, call_len)?)?)) }
}

/// What becomes of a call after a person's word: `allowed-once`, `rejected`, `cancelled`, `timed-out` or `unavailable`.
///
/// After a yes the call is judged once more, and runs only where everything is as it was; otherwise the person is asked anew,
/// with another ticket. Each ticket counts once.
///
/// # Safety
///
/// `ticket` and `word` point to `ticket_len` and `word_len` bytes; `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_settle(
    warden: WardenHandle,
    ticket: *const c_char,
    ticket_len: usize,
    word: *const c_char,
    word_len: usize,
    answer: *mut Answer,
) -> Status {
    let settle = |warden: &Warden| {
        // SAFETY: this function's own condition.
        let (ticket, word) = unsafe { (answer::borrowed(ticket, ticket_len)?, answer::borrowed(word, word_len)?) };
        // What is no UTF-8 is no ticket and no word, and is refused as any other that is none.
        Ok(warden.settle(&String::from_utf8_lossy(ticket), &String::from_utf8_lossy(word))?)
    };
    // SAFETY: this function's own condition.
    unsafe { judged(warden, answer, settle) }
}

/// Takes other tool lists of MCP servers into the registry, as `registry` reads them, and gives the plan. Where they are
/// refused, the former ones stay.
///
/// # Safety
///
/// `lists` points to `lists_len` bytes; `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_set_tools(
    warden: WardenHandle,
    lists: *const c_char,
    lists_len: usize,
    answer: *mut Answer,
) -> Status {
    // SAFETY: this function's own condition.
    unsafe { told(warden, answer, |warden| Ok(warden.set_tools(answer::borrowed(lists, lists_len)?)?)) }
}

/// The plan: what the model is shown of the tools of servers, and why; what `registry` writes.
///
/// # Safety
///
/// `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan(warden: WardenHandle, answer: *mut Answer) -> Status {
    // SAFETY: this function's own condition.
    unsafe { told(warden, answer, plainly(Warden::plan)) }
}

/// The definitions that the model is shown up front.
///
/// # Safety
///
/// `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_listed(warden: WardenHandle, answer: *mut Answer) -> Status {
    // SAFETY: this function's own condition.
    unsafe { told(warden, answer, plainly(Warden::listed)) }
}

/// Reads settings and module anew, and puts them in force where they pass the gate. Where they do not, what was in force stays.
///
/// # Safety
///
/// `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_reload(warden: WardenHandle, answer: *mut Answer) -> Status {
    // SAFETY: this function's own condition.
    unsafe { told(warden, answer, plainly(Warden::reload)) }
}

/// Goes back to the policy before, under a new generation.
///
/// # Safety
///
/// `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rollback(warden: WardenHandle, answer: *mut Answer) -> Status {
    // SAFETY: this function's own condition.
    unsafe { told(warden, answer, plainly(Warden::rollback)) }
}

/// What is in force, how many verdicts there were, how many questions wait, why the last reload was refused.
///
/// # Safety
///
/// `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_stats(warden: WardenHandle, answer: *mut Answer) -> Status {
    // SAFETY: this function's own condition.
    unsafe { told(warden, answer, plainly(Warden::stats)) }
}

/// Why this thread's last call that failed did so: `{"error":{"code":"...","message":"..."}}`, or `{"error":null}` where none
/// did. A call that goes well does not change it.
///
/// # Safety
///
/// `answer` points to room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_last_error(answer: *mut Answer) -> Status {
    // SAFETY: this function's own condition.
    guarded(|| unsafe { Place::new(answer) }?.put(&failure::last(), Verdict::Deny))
}

/// Gives an answer's text back and clears the answer. NULL, and an answer that is clear, are nothing to do.
///
/// # Safety
///
/// `answer` is NULL, or points to an answer that a function of this library wrote. A copy of it is not to be used or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_free(answer: *mut Answer) {
    // SAFETY: this function's own condition.
    unsafe { answer::free(answer) }
}

/// Closes a warden. Its handle is unknown from here on, for ever. Calls of other threads that are under way come to their end.
/// Questions that wait go unanswered, and do not run.
#[unsafe(no_mangle)]
pub extern "C" fn tw_close(warden: WardenHandle) -> Status {
    guarded(|| {
        process::check()?;
        drop(table::remove(warden)?);
        Ok(())
    })
}

/// Asks a warden for a verdict.
///
/// # Safety
///
/// That of [`Place::new`].
unsafe fn judged(warden: u64, answer: *mut Answer, ask: impl FnOnce(&Warden) -> Result<String, Failure>) -> Status {
    guarded(|| {
        // SAFETY: this function's own condition.
        let place = unsafe { Place::new(answer) }?;
        place.put_verdict(&asked(warden, ask)?)
    })
}

/// Asks a warden for anything else.
///
/// # Safety
///
/// That of [`Place::new`].
unsafe fn told(warden: u64, answer: *mut Answer, ask: impl FnOnce(&Warden) -> Result<String, Failure>) -> Status {
    guarded(|| {
        // SAFETY: this function's own condition.
        let place = unsafe { Place::new(answer) }?;
        place.put(&asked(warden, ask)?, Verdict::Deny)
    })
}

fn asked(warden: u64, ask: impl FnOnce(&Warden) -> Result<String, Failure>) -> Result<String, Failure> {
    process::check()?;
    ask(&*table::get(warden)?)
}

/// A method of the warden that takes nothing.
fn plainly(
    method: impl FnOnce(&Warden) -> Result<String, EmbedError>,
) -> impl FnOnce(&Warden) -> Result<String, Failure> {
    |warden| Ok(method(warden)?)
}

/// Does the work of a function. Nothing unwinds past here, and a failure becomes this thread's last one.
fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    // What a panic leaves half done is the library's own: every lock is taken over from a thread that panicked, and an answer
    // is written in one go at the end, or not at all.
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => failure.keep(),
        Err(cause) => {
            // Dropping what was thrown could throw again.
            std::mem::forget(cause);
            Failure::panicked().keep()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{failure, guarded};
    use crate::failure::Failure;
    use crate::status::Status;

    #[test]
    fn nothing_unwinds_past_the_border() {
        assert_eq!(guarded(|| panic!("on purpose")), Status::Failed);
        assert!(failure::last().contains(r#""code":"panicked""#), "{}", failure::last());
        assert_eq!(guarded(|| Err(Failure::closed())), Status::Closed);
        assert_eq!(guarded(|| Ok(())), Status::Ok);
        assert!(failure::last().contains(r#""code":"closed""#), "{}", failure::last());
    }

    #[test]
    fn what_throws_when_it_is_dropped_does_not_unwind_either() {
        struct Thrower;
        impl Drop for Thrower {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert_eq!(guarded(|| std::panic::panic_any(Thrower)), Status::Failed);
    }
}
