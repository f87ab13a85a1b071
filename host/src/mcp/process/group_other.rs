//! Where the system has no process groups: the child alone is ended. What it started may live on.

use std::process::{Child, Command};

/// Nothing to prepare.
pub(super) fn lead(_command: &mut Command) {}

/// How the child ended, if it has.
pub(super) fn exit(child: &mut Child) -> Option<String> {
    child.try_wait().ok().flatten().map(|status| status.to_string())
}

/// There is no way to ask.
pub(super) fn term(child: &mut Child) {
    kill(child);
}

/// Ends the child.
pub(super) fn kill(child: &mut Child) {
    // It fails only where the child has ended.
    let _ = child.kill();
}
