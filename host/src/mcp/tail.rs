//! The last lines that a server wrote where nobody listens.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::secret::Mask;

/// Lines kept. Source: ours; a stack trace fits.
const LINES: usize = 40;

/// Characters kept of a line.
const CHARS: usize = 400;

/// The last lines of a server's standard error, and of text on its standard output: secrets masked, controls escaped, cut.
#[derive(Debug, Default)]
pub struct Tail {
    mask: Mask,
    lines: Mutex<VecDeque<String>>,
}

impl Tail {
    pub(crate) fn new(mask: Mask) -> Self {
        Self { mask, lines: Mutex::default() }
    }

    pub(crate) fn push(&self, line: &[u8]) {
        let line = self.mask.apply(&String::from_utf8_lossy(line));
        let line = toolwarden_text::clip(line.trim_end(), CHARS).into_owned();
        if line.is_empty() {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(crate) const fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The lines, oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::secret::Secret;
    use super::*;

    #[test]
    fn the_last_lines_are_kept_masked_and_escaped() {
        let tail = Tail::new(Mask::new(&[Secret::new("s3cret")]));
        tail.push(b"lost");
        for n in 0..LINES - 2 {
            tail.push(format!("line {n}").as_bytes());
        }
        tail.push(b"\n");
        tail.push(b"key s3cret \x1b[31m\xff\n");
        tail.push("x".repeat(CHARS + 1).as_bytes());
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str()), (LINES, "line 0"));
        assert_eq!(lines[LINES - 2], "key [hidden] \\u{1b}[31m\u{fffd}");
        assert_eq!(lines[LINES - 1].chars().count(), CHARS + 1);
    }
}
