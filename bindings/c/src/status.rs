//! What a function returns.

/// What became of a call into the library.
///
/// TW_STATUS_OK means that there is an answer, not that it is a yes. All other values mean that there is none, and no answer is
/// no permission. tw_last_error says more.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is an answer.
    Ok = 0,
    /// A pointer is NULL or misaligned, or a length is larger than any object.
    BadPointer = 1,
    /// There is no such handle: it was closed, or never opened.
    Closed = 2,
    /// This process was forked off from the one that opened the library's first handle. Nothing works here but tw_last_error and
    /// tw_free.
    Forked = 3,
    /// What was handed over was refused: options, a call, a ticket, a list of tools, a policy module.
    Refused = 4,
    /// The library itself failed.
    Failed = 5,
}

/// The word of a verdict, so that no host has to look for it in a text. Zeroed memory is a denial.
#[repr(i32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It may not run. Also where there is no verdict.
    #[default]
    Deny = 0,
    /// A person must be asked first.
    Ask = 1,
    /// It may run.
    Allow = 2,
}
