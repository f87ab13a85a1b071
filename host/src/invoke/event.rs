//! What happens to a call, as it happens.

use std::sync::Arc;

use serde::Serialize;

use crate::approval::Approval;
use crate::call::{CallId, ToolRef};
use crate::verdict::{PolicyId, Verdict};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A verdict was found. After an approval there may be a second one.
    Judged {
        /// The call.
        id: CallId,
        /// The verdict.
        verdict: Verdict,
        /// Which policy judged.
        policy: Arc<PolicyId>,
    },
    /// A person is being asked.
    Asked {
        /// The call.
        id: CallId,
    },
    /// The question is settled.
    Settled {
        /// The call.
        id: CallId,
        /// What came of it.
        approval: Approval,
    },
    /// The call went to the executor.
    Dispatched {
        /// The call.
        id: CallId,
        /// The tool.
        tool: ToolRef,
    },
    /// The call is over.
    Finished {
        /// The call.
        id: CallId,
        /// How.
        end: End,
    },
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The tool answered.
    Completed,
    /// The tool failed.
    Failed,
    /// The tool answered, and not as its accepted definition promises.
    Withheld,
    /// It did not run.
    Denied,
    /// The caller took it back.
    Cancelled,
    /// The tool did not answer in time.
    TimedOut,
}

/// Somebody who is told. It must not block: what takes time goes through a queue of its own.
pub trait EventSink: Send + Sync {
    /// Something happened.
    fn on_event(&self, event: &Event);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn on_event(&self, _event: &Event) {}
}

impl<F: Fn(&Event) + Send + Sync> EventSink for F {
    fn on_event(&self, event: &Event) {
        self(event);
    }
}
