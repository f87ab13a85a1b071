//! Output: tables and colour for a person at a terminal, JSON for everybody else.

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::invoke::Decision;

/// How long a person waits without a sign of life.
const PATIENCE: Duration = Duration::from_secs(1);

/// For whom the output is.
#[derive(Args, Debug)]
pub(super) struct OutputArguments {
    /// Write JSON, also on a terminal
    #[arg(long)]
    pub json: bool,
}

impl OutputArguments {
    /// Whether a person reads along.
    pub fn is_human(&self) -> bool {
        !self.json && io::stdout().is_terminal()
    }
}

/// Standard output, buffered.
pub(super) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Standard output for a person: colours go where a terminal shows them and the person wants them.
pub(super) fn human_stdout() -> BufWriter<anstream::AutoStream<StdoutLock<'static>>> {
    BufWriter::new(anstream::AutoStream::auto(io::stdout().lock()))
}

/// Writes one record as a line of JSON.
pub(super) fn json_line(out: &mut dyn Write, record: &impl serde::Serialize) -> io::Result<()> {
    let mut line = Vec::with_capacity(1024);
    serde_json::to_writer(&mut line, record)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// The colour of a decision.
pub(super) fn style(decision: Decision) -> Style {
    let colour = match decision {
        Decision::Allow => AnsiColor::Green,
        Decision::Ask => AnsiColor::Yellow,
        Decision::Deny => AnsiColor::Red,
    };
    Style::new().fg_color(Some(colour.into())).bold()
}

/// The word of a decision.
pub(super) const fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

/// A table in the house style.
pub(super) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(header);
    table
}

/// A sign of life for what takes longer than a second: a line on standard error that is gone afterwards. None where standard
/// error is no terminal.
pub(super) fn spinner(what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {pos} ({elapsed})");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        .with_message(what.to_owned());
    if io::stderr().is_terminal() {
        let late = bar.downgrade();
        // Detached: it ends by itself after a second, or with the program.
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            let Some(bar) = late.upgrade().filter(|bar| !bar.is_finished()) else { return };
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(PATIENCE / 4);
        });
    }
    bar
}

/// Writes beside the file and renames, so that whoever loads it meanwhile gets the old one or the new one, whole.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link leads to the file that is meant. Nothing but a file is ever replaced: a device would be gone.
    let real = path.canonicalize();
    let path = real.as_deref().unwrap_or(path);
    if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is there already, and no regular file"));
    }
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    readable_by_all(file.as_file())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// A temporary file is its owner's alone; neither a module nor a signature is secret.
#[cfg(unix)]
fn readable_by_all(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_file: &std::fs::File) -> io::Result<()> {
    Ok(())
}
