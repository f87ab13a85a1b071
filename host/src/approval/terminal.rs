//! Asks on the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, mpsc};
use toolwarden_text::visible;

use super::{Approval, Approver, Question};

/// Shows a question on standard error and reads the answer from standard input: `yes` in full, so that no stray key
/// approves. One question is shown at a time. Where either is no terminal, nobody can be asked.
///
/// Lines typed before a question was shown do not answer it.
#[derive(Debug)]
pub struct Terminal {
    lines: Arc<Mutex<Option<mpsc::UnboundedReceiver<String>>>>,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { lines: Arc::new(Mutex::new(None)) }
    }
}

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, question: &Question) -> Approval {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Approval::Unavailable;
        }
        // The queue: whoever waits here is not shown yet.
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(read_lines);
        while lines.try_recv().is_ok() {}
        if show(question).is_err() {
            return Approval::Unavailable;
        }
        match lines.recv().await.as_deref().map(str::trim) {
            Some("yes") => Approval::AllowedOnce,
            Some(_) => Approval::Rejected,
            None => Approval::Unavailable,
        }
    }
}

/// Reads lines on a thread of its own: a read cannot be taken back, but its line can be left unused.
fn read_lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn show(question: &Question) -> io::Result<()> {
    let arguments = serde_json::to_string_pretty(&*question.arguments)?;
    let mut out = io::stderr().lock();
    writeln!(out, "\nA tool call needs your word.")?;
    writeln!(out, "  tool    {}", visible(&question.tool.public_name))?;
    writeln!(out, "  why     {} ({})", visible(&question.reason), question.kind)?;
    writeln!(out, "  target  {}", visible(&question.detail))?;
    for (index, line) in arguments.lines().enumerate() {
        writeln!(out, "  {}  {}", if index == 0 { "call  " } else { "      " }, visible(line))?;
    }
    write!(out, "Type yes to let this one call run, anything else to decline: ")?;
    out.flush()
}
