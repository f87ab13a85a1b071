//! Texts that cross the border: borrowed on the way in, owned by the caller on the way out.
#![allow(unsafe_code, reason = "reads and writes memory of the caller")]

use std::ffi::c_char;
use std::ptr;
use std::slice;

use serde::Deserialize;

use crate::failure::Failure;
use crate::status::Verdict;

/// An answer. The caller owns it: tw_free gives its text back.
///
/// Every function that takes one clears it first, without freeing what it held, so it needs no initial value and must be freed
/// before it is used again. On any status but TW_STATUS_OK it stays cleared.
#[repr(C)]
#[derive(Debug)]
pub struct Answer {
    /// The word of the verdict. TW_VERDICT_DENY where the answer is none.
    pub verdict: Verdict,
    /// JSON in UTF-8, with a zero behind it that does not count. NULL where there is no answer.
    pub json: *mut c_char,
    /// Bytes of the text.
    pub len: usize,
}

impl Answer {
    const NONE: Self = Self { verdict: Verdict::Deny, json: ptr::null_mut(), len: 0 };
}

/// Where an answer goes. Cleared; only [`put`](Self::put) makes it anything else.
pub(crate) struct Place(*mut Answer);

impl Place {
    /// Clears the caller's answer.
    ///
    /// # Errors
    ///
    /// `bad-pointer`.
    ///
    /// # Safety
    ///
    /// Not NULL and aligned, it points to memory of an answer that nobody else uses until this value is gone.
    pub unsafe fn new(answer: *mut Answer) -> Result<Self, Failure> {
        checked(answer, "the answer")?;
        // SAFETY: not NULL and aligned as just checked, writable as the caller promises. What it held is not read: it may be
        // uninitialised.
        unsafe { answer.write(Answer::NONE) };
        Ok(Self(answer))
    }

    /// Hands a text over.
    ///
    /// # Errors
    ///
    /// `no-memory`.
    pub fn put(self, text: &str, verdict: Verdict) -> Result<(), Failure> {
        let json = owned(text).ok_or_else(Failure::no_memory)?;
        // SAFETY: as in `new`, which made this value.
        unsafe { self.0.write(Answer { verdict, json, len: text.len() }) };
        Ok(())
    }

    /// Hands a verdict over: its text, and its word beside it.
    ///
    /// # Errors
    ///
    /// `no-memory`, and `not-written` where the text holds no verdict.
    pub fn put_verdict(self, text: &str) -> Result<(), Failure> {
        let verdict = word(text)?;
        self.put(text, verdict)
    }
}

/// Sets a number of the caller's to zero.
///
/// # Errors
///
/// `bad-pointer`.
///
/// # Safety
///
/// Not NULL and aligned, it points to memory that nobody else uses meanwhile.
pub(crate) unsafe fn clear(number: *mut u64) -> Result<(), Failure> {
    checked(number, "the handle's place")?;
    // SAFETY: not NULL and aligned as just checked, writable as the caller promises.
    unsafe { number.write(0) };
    Ok(())
}

/// A text of the caller's. NULL is the empty one.
///
/// # Errors
///
/// `bad-pointer`.
///
/// # Safety
///
/// Not NULL, it points to so many bytes that nobody changes while the slice is in use.
pub(crate) unsafe fn borrowed<'a>(text: *const c_char, len: usize) -> Result<&'a [u8], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if text.is_null() {
        return Err(Failure::bad_pointer("a text is NULL and its length is not zero"));
    }
    if isize::try_from(len).is_err() {
        return Err(Failure::bad_pointer("a length is larger than any object"));
    }
    // SAFETY: not NULL and no longer than an object can be, as just checked; readable and unchanged as the caller promises.
    Ok(unsafe { slice::from_raw_parts(text.cast(), len) })
}

/// Gives an answer's text back, and clears it: freed twice, it is freed once.
///
/// # Safety
///
/// NULL, or an answer that a function of this library wrote, and that nobody else uses meanwhile.
pub(crate) unsafe fn free(answer: *mut Answer) {
    if checked(answer, "the answer").is_err() {
        return;
    }
    // SAFETY: not NULL and aligned as just checked, and written by `Place` as the caller promises; so the text is one of `owned`,
    // or NULL, which free takes.
    unsafe { libc::free(answer.replace(Answer::NONE).json.cast()) };
}

fn checked<T>(pointer: *mut T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::bad_pointer(&format!("{what} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Failure::bad_pointer(&format!("{what} is not aligned")));
    }
    Ok(())
}

/// A copy of a text that `free` gives back, with a zero behind it.
fn owned(text: &str) -> Option<*mut c_char> {
    // SAFETY: malloc has no conditions, and a text is shorter than the largest object, so adding one does not overflow.
    let copy: *mut u8 = unsafe { libc::malloc(text.len() + 1) }.cast();
    if copy.is_null() {
        return None;
    }
    // SAFETY: the copy has room for the text and one byte more, and no other text lies there.
    unsafe {
        copy.copy_from_nonoverlapping(text.as_ptr(), text.len());
        copy.add(text.len()).write(0);
    }
    Some(copy.cast())
}

/// The word of a verdict. Our own writer wrote it; what it wrote otherwise than expected is no verdict.
fn word(text: &str) -> Result<Verdict, Failure> {
    #[derive(Deserialize)]
    struct Record {
        verdict: Word,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Word {
        Deny,
        Ask,
        Allow,
    }
    let record: Record = serde_json::from_str(text).map_err(|_| Failure::unreadable_answer())?;
    Ok(match record.verdict {
        Word::Deny => Verdict::Deny,
        Word::Ask => Verdict::Ask,
        Word::Allow => Verdict::Allow,
    })
}

#[cfg(test)]
mod tests {
    use super::word;
    use crate::status::Verdict;

    #[test]
    fn the_word_is_that_of_the_record_itself() {
        for (name, verdict) in [("deny", Verdict::Deny), ("ask", Verdict::Ask), ("allow", Verdict::Allow)] {
            let text = format!(r#"{{"id":"\"verdict\":\"allow\"","verdict":"{name}","run":{{"verdict":"allow"}}}}"#);
            assert_eq!(word(&text).unwrap(), verdict, "{text}");
        }
        let deep = format!(r#"{{"verdict":"allow","run":{}{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
        assert_eq!(word(&deep).unwrap(), Verdict::Allow);
        for none in
            ["", "{}", "null", r#"{"verdict":null}"#, r#"{"verdict":"Allow"}"#, r#"{"run":{"verdict":"allow"}}"#]
        {
            assert!(word(none).is_err(), "{none}");
        }
        assert!(word(r#"{"verdict":"deny","verdict":"allow"}"#).is_err());
    }
}
