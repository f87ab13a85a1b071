//! What can go wrong inside a policy module. Whatever it is, the call is denied; the fault only says why.

use thiserror::Error;
use wasmtime::Trap;

use super::inert::Refusal;
use super::limits::Guard;

/// Why a module gave no answer that counts.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// It panicked or executed something that a module must not.
    #[error("the policy module trapped: {0}")]
    Trapped(String),
    /// It used up its time.
    #[error("the policy module did not answer within its deadline")]
    DeadlineExceeded,
    /// It used up its memory.
    #[error("the policy module ran out of memory")]
    OutOfMemory,
    /// It used up its stack.
    #[error("the policy module overflowed its stack")]
    StackOverflow,
    /// It answered something that the contract does not allow.
    #[error("the policy module answered nonsense: {0}")]
    BadAnswer(String),
    /// It called what its inert WASI does not have, or too much of what it has.
    #[error("the policy module wanted more than there is: {0}")]
    Refused(String),
    /// No instance could be made.
    #[error("no instance of the policy module could be made: {0}")]
    Unavailable(String),
}

impl Fault {
    /// The reason code of the denial that follows.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Trapped(_) => "module-trapped",
            Self::DeadlineExceeded => "module-deadline-exceeded",
            Self::OutOfMemory => "module-out-of-memory",
            Self::StackOverflow => "module-stack-overflow",
            Self::BadAnswer(_) => "module-bad-answer",
            Self::Refused(_) => "module-wasi-refused",
            Self::Unavailable(_) => "module-unavailable",
        }
    }

    /// Tells a failed call by the type of its error, never by its text. What is no trap failed while the answer was read.
    pub(crate) fn of_call(error: &wasmtime::Error, guard: &Guard) -> Self {
        if let Some(refusal) = error.downcast_ref::<Refusal>() {
            return Self::Refused(refusal.to_string());
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::DeadlineExceeded,
            Some(Trap::StackOverflow) => Self::StackOverflow,
            Some(Trap::AllocationTooLarge) => Self::OutOfMemory,
            // Whatever follows a refused request for memory is for want of it.
            _ if guard.starved => Self::OutOfMemory,
            Some(trap) => Self::Trapped(trap.to_string()),
            None => Self::BadAnswer(root_cause(error)),
        }
    }

    /// A failure before the module ran.
    pub(crate) fn of_start(error: &wasmtime::Error, guard: &Guard) -> Self {
        match error.downcast_ref::<Trap>() {
            Some(_) => Self::of_call(error, guard),
            None if error.is::<Refusal>() => Self::of_call(error, guard),
            None if guard.starved => Self::OutOfMemory,
            None => Self::Unavailable(root_cause(error)),
        }
    }
}

/// The last cause, which names the reason, in one line.
pub(crate) fn root_cause(error: &wasmtime::Error) -> String {
    let text = error.root_cause().to_string();
    toolwarden_text::clip(&text, 300).into_owned()
}

/// All causes, the outermost first, in one line.
pub(crate) fn causes(error: &wasmtime::Error) -> String {
    toolwarden_text::clip(&format!("{error:#}"), 300).into_owned()
}
