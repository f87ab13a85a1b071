//! A call and the facts about it, as every part of the host knows them. Parsed once, at the edge; nothing here is optional
//! that the contract requires.

mod arguments;
mod facts;
mod record;
pub(crate) mod strict;
mod tool;

pub use arguments::Arguments;
pub(crate) use arguments::text_of;
pub use facts::{CwdFacts, DefinitionTrust, Facts, PathFact, Resolution};
pub use record::{Attendance, Call, CallId, Flavour, GivenFacts, OneOrMany, RecordError, Route, Workspace};
pub use tool::{Origin, ServerName, ServerNameError, ToolRef, public_name};
