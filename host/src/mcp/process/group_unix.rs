//! Process groups of Unix.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Makes the child the leader of a group of its own.
pub(super) fn lead(command: &mut Command) {
    command.process_group(0);
}

/// How the child ended, if it has. It is left to be reaped.
pub(super) fn exit(child: &mut Child) -> Option<String> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(Pid::from_child(child)), options).ok()??;
    let told = status.exit_status().map(|code| format!("exit code {code}"));
    told.or_else(|| status.terminating_signal().map(|signal| format!("signal {signal}")))
        .or_else(|| Some("ended".to_owned()))
}

/// Asks the group to end.
pub(super) fn term(child: &mut Child) {
    signal(child, Signal::TERM);
}

/// Ends the group.
pub(super) fn kill(child: &mut Child) {
    signal(child, Signal::KILL);
}

fn signal(child: &Child, signal: Signal) {
    // It fails only where nobody is left in the group.
    let _ = kill_process_group(Pid::from_child(child), signal);
}
