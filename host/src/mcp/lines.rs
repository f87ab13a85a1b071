//! Messages as lines, over any pair of streams.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::select;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::{Ended, EndedWhy, WireError};
use super::line::{Line, LineReader};
use super::link::Link;
use super::process::Process;
use super::tail::Tail;

/// Messages that wait to be written. Source: ours; requests wait for room, so memory is bounded by those who ask.
pub(crate) const QUEUE: usize = 64;

/// Bytes of a line of standard error that is kept; a longer one is only told of, since a secret might be cut in it.
const STDERR_LINE: usize = 16 << 10;

/// How long the words and the end of a process are waited for after its output has ended.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// How often a process is looked at whose output stays open.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Reads messages until the stream ends, and then ends the connection.
pub(crate) async fn read(link: Arc<Link>, stream: impl AsyncRead + Unpin, process: Option<Arc<Process>>) {
    let why = select! {
        biased;
        why = messages(&link, stream) => why,
        // What the server started may hold its output open when it is long gone itself.
        () = left(process.as_deref()) => EndedWhy::ServerLeft,
    };
    end(&link, why, process.as_deref()).await;
}

async fn left(process: Option<&Process>) {
    let Some(process) = process else { return std::future::pending().await };
    while process.wait(Duration::ZERO).await.is_none() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    tokio::time::sleep(LAST_WORDS).await;
}

async fn messages(link: &Arc<Link>, stream: impl AsyncRead + Unpin) -> EndedWhy {
    let mut reader = LineReader::new(stream, link.limits.message_bytes);
    let mut noise = 0;
    loop {
        // An error of a pipe is its end.
        let Ok(Some(read)) = reader.next().await else { return EndedWhy::ServerLeft };
        let heard = match read {
            Line::Whole(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Whole(text) => match link.receive(&text, None) {
                Ok(()) => true,
                Err(malformed) => {
                    if malformed.is_prose(&text) {
                        keep(&link.tail, &text);
                    }
                    malformed.answers.is_some()
                }
            },
            Line::TooLong { answers, .. } => {
                link.receive_too_long(answers);
                answers.is_some()
            }
        };
        noise = if heard { 0 } else { noise + 1 };
        if noise > link.limits.noise_lines {
            return EndedWhy::Noise;
        }
    }
}

/// Writes messages until there are no more or `close` says so; then closes the stream.
pub(crate) async fn write(
    link: Arc<Link>,
    mut stream: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<String>,
    close: CancellationToken,
    process: Option<Arc<Process>>,
) {
    loop {
        let next = select! {
            biased;
            next = queue.recv() => next,
            () = close.cancelled() => None,
        };
        let Some(mut text) = next else { break };
        text.push('\n');
        let written = async {
            stream.write_all(text.as_bytes()).await?;
            stream.flush().await
        };
        let written = select! {
            written = written => written,
            // A server that reads no more must not hold up its end.
            () = closed_and_overdue(&close) => break,
        };
        if written.is_err() {
            // Where the process has ended, the one that reads has more to say.
            end(&link, EndedWhy::InputClosed, process.as_deref()).await;
            break;
        }
    }
    // It is closed by dropping it anyway.
    let _ = tokio::time::timeout(LAST_WORDS, stream.shutdown()).await;
}

async fn closed_and_overdue(close: &CancellationToken) {
    close.cancelled().await;
    tokio::time::sleep(LAST_WORDS).await;
}

/// Reads what a server writes to its standard error, and keeps the end of it.
pub(crate) async fn drain(tail: Arc<Tail>, stream: impl AsyncRead + Unpin) {
    let mut reader = LineReader::new(stream, STDERR_LINE);
    while let Ok(Some(read)) = reader.next().await {
        match read {
            Line::Whole(text) => keep(&tail, &text),
            Line::TooLong { bytes, .. } => tell(&tail, bytes),
        }
    }
}

fn keep(tail: &Tail, line: &[u8]) {
    if line.len() > STDERR_LINE { tell(tail, line.len()) } else { tail.push(line) }
}

fn tell(tail: &Tail, bytes: usize) {
    tail.push(format!("(a line of {bytes} bytes)").as_bytes());
}

async fn end(link: &Link, why: EndedWhy, process: Option<&Process>) {
    let exit = match process {
        Some(process) if why != EndedWhy::Noise => {
            let exit = process.wait(LAST_WORDS).await;
            // What it wrote last may still be on its way through the pipe.
            tokio::time::sleep(Duration::from_millis(10)).await;
            exit
        }
        _ => None,
    };
    let why = if exit.is_some() { EndedWhy::ServerLeft } else { why };
    link.end(WireError::Closed(Ended { why, exit, stderr: link.tail.lines() }));
}
