//! How the program ends.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use toolwarden_text::visible;

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: some input was bad; the rest was answered.
    BadInput,
    /// 2: wrong usage or settings.
    Usage,
    /// 3: the policy module cannot be used.
    Module,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::BadInput => 1,
            Exit::Usage => 2,
            Exit::Module => 3,
        })
    }
}

/// Why a command ended early.
pub(super) enum Failure {
    /// Whoever read our output went away, which is their good right.
    ClosedPipe,
    /// Everything else.
    Error { exit: Exit, error: anyhow::Error },
}

impl Failure {
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self::Error { exit, error: error.into() }
    }

    pub fn text(exit: Exit, text: impl Display) -> Self {
        Self::Error { exit, error: anyhow::anyhow!("{text}") }
    }

    /// Why, as an error.
    pub fn into_error(self) -> anyhow::Error {
        match self {
            Self::ClosedPipe => anyhow::anyhow!("the reader went away"),
            Self::Error { error, .. } => error,
        }
    }

    /// Says why, on standard error.
    pub fn report(self) -> Exit {
        match self {
            Self::ClosedPipe => Exit::Done,
            Self::Error { exit, error } => {
                let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
                // Line by line: some messages have two. Everything else that moves a cursor is spelled out. If even this
                // cannot be written, the exit code still says it.
                let text = format!("{error:#}");
                let lines: Vec<_> = text.lines().map(visible).collect();
                let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {}", lines.join("\n"));
                exit
            }
        }
    }
}

/// A failed write to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::text(Exit::BadInput, format!("cannot write the output: {error}"))
    }
}

/// How a command ends.
pub(super) type Outcome = Result<Exit, Failure>;
