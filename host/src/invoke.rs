//! `tool_invoke`: from a call to its verdict, and on to its result.
//!
//! [`Judge`] turns a call and facts into a [`Verdict`]: it unwraps the bridge, asks the policy module, and holds the floors
//! that no module can lower. [`Invoker`] gathers the facts on this machine, asks a person where the verdict says so, and
//! dispatches to a [`ToolExecutor`].

mod containment;
mod definition;
mod envelope;
mod event;
mod executor;
mod floors;
mod gather;
mod grant;
mod invoker;
mod judge;
mod resolve;
mod witness;

pub use crate::verdict::{Decision, PolicyId, Record, Verdict};
pub use definition::{DefinitionReport, Definitions, ResultMismatch};
pub use event::{End, Event, EventSink, NoEvents};
pub use executor::{Dispatch, ExecutorError, ToolExecutor};
pub use floors::Floors;
pub use gather::FactSource;
pub(crate) use gather::given_cwd;
pub(crate) use grant::{Admission, Grant, admit, declined};
pub(crate) use invoker::bridge;
pub use invoker::{Caller, Invoker, InvokerOptions, Outcome, State};
pub use judge::{Effective, Judge, Judged, Observer};
pub use resolve::{MAX_LINKS, MAX_PATH_BYTES, ResolveError, may_touch, real_path};
pub use witness::KeepArguments;
pub(crate) use witness::{about, unrecorded};
