//! A person's word on a gated call.
//!
//! An [`Approver`] is whoever can ask a person. [`Terminal`] asks on the terminal that this program runs in; [`Scripted`]
//! answers as a test wrote it down. A [`Broker`] asks through a queue in the [store](crate::store), which a person answers in
//! front of another process.

mod broker;
mod queue;
mod scripted;
mod shown;
mod terminal;
mod ticket;
mod words;

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::call::{Arguments, Attendance, CallId, ToolRef};
use crate::module::Kind;
use crate::verdict::PolicyId;

pub use broker::Broker;
pub use queue::{AnswerError, Queue};
pub use scripted::Scripted;
pub use shown::{Risk, Shown, Since};
pub use terminal::Terminal;
pub use ticket::Ticket;
pub use words::{Words, risk};

/// What a person is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The call.
    pub id: CallId,
    /// The tool.
    pub tool: ToolRef,
    /// The arguments in full: byte for byte what would be dispatched.
    pub arguments: Arc<Arguments>,
    /// Who is there.
    pub attendance: Attendance,
    /// Why the person is asked, as a code.
    pub kind: Kind,
    /// Why the person is asked, in words.
    pub reason: String,
    /// The real target.
    pub detail: String,
    /// Which policy asks. A grant counts under this one only.
    pub policy: Arc<PolicyId>,
}

/// What came of a question. Only the first lets the call go, and only this one call, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// The person said yes.
    AllowedOnce,
    /// The person said no.
    Rejected,
    /// The caller took the call back.
    Cancelled,
    /// Nobody answered in time.
    TimedOut,
    /// Nobody could be asked.
    Unavailable,
}

/// A word that is no outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an answer is one of `allowed-once`, `rejected`, `cancelled`, `timed-out` and `unavailable`")]
pub struct NoApproval;

impl FromStr for Approval {
    type Err = NoApproval;

    fn from_str(word: &str) -> Result<Self, NoApproval> {
        match word {
            "allowed-once" => Ok(Self::AllowedOnce),
            "rejected" => Ok(Self::Rejected),
            "cancelled" => Ok(Self::Cancelled),
            "timed-out" => Ok(Self::TimedOut),
            "unavailable" => Ok(Self::Unavailable),
            _ => Err(NoApproval),
        }
    }
}

impl Approval {
    /// The word as it stands in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllowedOnce => "allowed-once",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed-out",
            Self::Unavailable => "unavailable",
        }
    }

    /// What the model is told where the call does not go. Each outcome has a text of its own, so that silence does not pass
    /// for a person's no.
    #[must_use]
    pub const fn denial(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::AllowedOnce => None,
            Self::Rejected => Some((
                "approval-rejected",
                "a person declined this call; do not try it again, and ask what to do instead",
            )),
            Self::Cancelled => Some(("approval-cancelled", "the call was taken back before anybody answered")),
            Self::TimedOut => Some((
                "approval-timed-out",
                "nobody answered in time, so the call did not run; this is no person's no, but do not try it again by yourself",
            )),
            Self::Unavailable => Some((
                "approval-unavailable",
                "nobody can approve here, so the call did not run; do not try again: go on without it, or leave it for a person",
            )),
        }
    }
}

/// Somebody who can ask a person. The future is dropped when the caller takes the call back or the time is up: the question
/// must vanish then.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks, and says what came of it.
    async fn ask(&self, question: &Question) -> Approval;
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

#[async_trait]
impl Approver for Nobody {
    async fn ask(&self, _question: &Question) -> Approval {
        Approval::Unavailable
    }
}
