//! A server's process: started with a clean environment, and gone afterwards, with all that it started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep};

use super::error::WireError;
use super::limits::Ending;
use super::secret::Secret;

#[cfg(not(unix))]
#[path = "process/group_other.rs"]
mod group;
#[cfg(unix)]
#[path = "process/group_unix.rs"]
mod group;

/// What is started.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The program: a path, or a name that is looked up in the child's `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<OsString, Secret>,
    /// Its working directory; ours where there is none.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may come out of the environment.
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// The three streams of a process.
#[derive(Debug)]
pub(crate) struct Streams {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// A process and its group. Dropping it kills both.
///
/// The process is not reaped before its group is killed: so long keeps its number, and with it the group's, belong to
/// nobody else.
#[derive(Debug)]
pub(crate) struct Process {
    child: Mutex<Option<Child>>,
}

impl Process {
    pub(crate) fn start(program: &Program) -> Result<(Self, Streams), WireError> {
        let failed = |error: io::Error| WireError::SpawnFailed {
            program: toolwarden_text::clip(&program.command, 200).into_owned(),
            why: error.to_string(),
        };
        let mut command = Command::new(&program.command);
        command.args(&program.args).env_clear();
        command.envs(program.env.iter().map(|(name, value)| (name, value.reveal())));
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::lead(&mut command);
        let mut child = command.spawn().map_err(failed)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on whatever fails kills it again.
        let process = Self { child: Mutex::new(Some(child)) };
        let missing = || io::Error::other("a standard stream is missing");
        let streams = || -> io::Result<Streams> {
            Ok(Streams {
                stdin: ChildStdin::from_std(stdin.ok_or_else(missing)?)?,
                stdout: ChildStdout::from_std(stdout.ok_or_else(missing)?)?,
                stderr: ChildStderr::from_std(stderr.ok_or_else(missing)?)?,
            })
        };
        Ok((process, streams().map_err(failed)?))
    }

    /// The process's number; none when it is gone.
    pub(crate) fn id(&self) -> Option<u32> {
        self.lock().as_ref().map(Child::id)
    }

    /// Waits for its end, so long at most, and gives how it ended. It is not reaped.
    pub(crate) async fn wait(&self, at_most: Duration) -> Option<String> {
        let until = Instant::now() + at_most;
        let mut pause = Duration::from_millis(1);
        loop {
            let exit = self.lock().as_mut().map(group::exit);
            match exit {
                None => return None,
                Some(Some(exit)) => return Some(exit),
                Some(None) if Instant::now() >= until => return None,
                Some(None) => {}
            }
            sleep(pause.min(until.saturating_duration_since(Instant::now()))).await;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Ends it after its input was closed: waits, TERM, waits, KILL for all that is left of the group. Gives how it ended.
    pub(crate) async fn end(&self, ending: Ending) -> Option<String> {
        let mut exit = self.wait(ending.after_close).await;
        if exit.is_none() {
            if let Some(child) = self.lock().as_mut() {
                group::term(child);
            }
            exit = self.wait(ending.after_term).await;
        }
        self.kill();
        exit
    }

    /// Kills it and its group, and reaps it.
    pub(crate) fn kill(&self) {
        if let Some(mut child) = self.lock().take() {
            group::kill(&mut child);
            reap(child);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reaps a process that was killed. That is a matter of microseconds as a rule; where the system takes longer, a thread
/// waits.
fn reap(mut child: Child) {
    for _ in 0..10 {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    // Without a thread it stays a zombie until we end ourselves.
    let _ = std::thread::Builder::new().name("toolwarden-reap".into()).spawn(move || child.wait());
}
