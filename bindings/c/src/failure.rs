//! Why there is no answer, and each thread's last reason.

use std::cell::RefCell;

use toolwarden::embed::EmbedError;

use crate::status::Status;

thread_local! {
    static LAST: RefCell<Option<EmbedError>> = const { RefCell::new(None) };
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub status: Status,
    error: EmbedError,
}

impl Failure {
    pub fn bad_pointer(message: &str) -> Self {
        Self::new(Status::BadPointer, "bad-pointer", message)
    }

    pub fn closed() -> Self {
        Self::new(Status::Closed, "closed", "there is no such handle: it was closed, or never opened")
    }

    pub fn forked() -> Self {
        let message =
            "this process was forked off after the library was in use; open it after the fork, or run a new program";
        Self::new(Status::Forked, "forked", message)
    }

    pub fn no_memory() -> Self {
        Self::new(Status::Failed, "no-memory", "there is no memory for the answer")
    }

    pub fn panicked() -> Self {
        Self::new(Status::Failed, "panicked", "the library failed; standard error says where")
    }

    pub fn unreadable_answer() -> Self {
        Self::new(Status::Failed, "not-written", "the answer holds no verdict")
    }

    pub fn too_many_handles() -> Self {
        Self::new(Status::Failed, "too-many-handles", "no handle is left")
    }

    fn new(status: Status, code: &'static str, message: &str) -> Self {
        Self { status, error: EmbedError { code, message: message.into() } }
    }

    /// Makes it this thread's last one, and gives its status. Where the thread is ending already, it is not kept.
    pub fn keep(self) -> Status {
        // Taken out of the cell before it is dropped: dropping runs no code that comes back here, and should it ever, it may.
        let _former = LAST.try_with(|last| last.try_borrow_mut().ok().map(|mut last| last.replace(self.error)));
        self.status
    }
}

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        Self { status: Status::Refused, error }
    }
}

/// This thread's last failure, as a record.
pub(crate) fn last() -> String {
    let record = LAST.try_with(|last| last.try_borrow().ok().and_then(|last| last.as_ref().map(EmbedError::record)));
    record.ok().flatten().unwrap_or_else(|| r#"{"error":null}"#.into())
}

#[cfg(test)]
mod tests {
    use super::{Failure, last};
    use crate::status::Status;

    #[test]
    fn each_thread_has_a_last_failure_of_its_own() {
        assert_eq!(last(), r#"{"error":null}"#);
        assert_eq!(Failure::closed().keep(), Status::Closed);
        assert!(last().starts_with(r#"{"error":{"code":"closed","#), "{}", last());
        std::thread::spawn(|| assert_eq!(last(), r#"{"error":null}"#)).join().unwrap();
        assert_eq!(Failure::no_memory().keep(), Status::Failed);
        assert!(last().starts_with(r#"{"error":{"code":"no-memory","#), "{}", last());
    }
}
