//! Input, bounded: a line or file of any size costs no more memory than is said here.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use super::exit::{Exit, Failure};

/// Bytes of one line at most.
const LONGEST_LINE: usize = 32 << 20;
/// Bytes of one file that is read whole at most.
const LARGEST_FILE: u64 = 64 << 20;

/// Opens a file; `-` is standard input.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(open_file(path)?))
}

/// A whole file; `-` is standard input.
pub(super) fn whole_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let mut reader = open(path)?.take(LARGEST_FILE + 1);
    reader.read_to_end(&mut text).map_err(|e| unreadable(path, &e))?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(Failure::text(
            Exit::BadInput,
            format!("`{}` is larger than {} MiB", path.display(), LARGEST_FILE >> 20),
        ));
    }
    Ok(text)
}

fn open_file(path: &Path) -> Result<File, Failure> {
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(Failure::text(Exit::BadInput, format!("`{}` is a folder", path.display())));
    }
    Ok(file)
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::text(Exit::BadInput, format!("cannot read `{}`: {error}", path.display()))
}

/// One line of a file.
pub(super) enum Line {
    /// Its text, without the line end.
    Text,
    /// It is longer than a line may be; it was passed over.
    TooLong,
    /// There is none left.
    End,
}

/// Reads the next line into a buffer that is used again and again.
pub(super) fn next_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let read = reader.take(LONGEST_LINE as u64 + 1).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        return Ok(Line::Text);
    }
    if read <= LONGEST_LINE {
        return Ok(Line::Text);
    }
    line.clear();
    line.shrink_to(64 << 10);
    skip_line(reader)?;
    Ok(Line::TooLong)
}

/// What is said of a line that is too long.
pub(super) fn too_long() -> String {
    format!("the line is longer than {} MiB", LONGEST_LINE >> 20)
}

fn skip_line(reader: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = reader.fill_buf()?;
        let (used, done) = match buffer.iter().position(|&b| b == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(used);
        if done {
            return Ok(());
        }
    }
}
