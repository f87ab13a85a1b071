//! Lines of a stream, however long they are.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::oversize::IdFinder;

/// Bytes of a buffer that are kept between two lines. A single long line does not hold its memory for ever.
const KEPT: usize = 64 << 10;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line over the limit. It was read to its end, and not kept.
    TooLong {
        /// Its length.
        bytes: usize,
        /// The request of ours that it seems to answer.
        answers: Option<u64>,
    },
}

/// Reads lines, and holds no more than one of them.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::with_capacity(KEPT, reader), limit }
    }

    /// The next line; none at the end of the stream. A last line without an end counts.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut dropped: Option<(usize, IdFinder)> = None;
        loop {
            let chunk = self.reader.fill_buf().await?;
            let end = memchr::memchr(b'\n', chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if part.is_empty() && end.is_none() && line.is_empty() && dropped.is_none() {
                return Ok(None);
            }
            let at_end = chunk.is_empty();
            match &mut dropped {
                Some((bytes, finder)) => {
                    *bytes = bytes.saturating_add(part.len());
                    finder.push(part);
                }
                None if line.len() + part.len() > self.limit => {
                    let mut finder = IdFinder::default();
                    finder.push(&line);
                    finder.push(part);
                    dropped = Some((line.len() + part.len(), finder));
                    line = Vec::new();
                }
                None => line.extend_from_slice(part),
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() || at_end {
                break;
            }
        }
        if let Some((bytes, finder)) = dropped {
            return Ok(Some(Line::TooLong { bytes, answers: finder.found() }));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(Line::Whole(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], limit: usize) -> Vec<Line> {
        let mut reader = LineReader::new(text, limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[tokio::test]
    async fn lines_end_with_a_newline_or_the_stream() {
        assert_eq!(lines(b"a\nbb\r\n\nlast", 9).await, [whole("a"), whole("bb"), whole(""), whole("last")]);
        assert_eq!(lines(b"", 9).await, []);
        assert_eq!(lines(b"\n", 9).await, [whole("")]);
    }

    #[tokio::test]
    async fn a_long_line_is_passed_over_and_tells_whom_it_answered() {
        let long = format!(r#"{{"jsonrpc":"2.0","result":{{"id":1,"x":"{}"}},"id":7}}"#, "x".repeat(200_000));
        let text = format!("{long}\n{{}}\n{}", "y".repeat(12));
        let too_long = |bytes, answers| Line::TooLong { bytes, answers };
        assert_eq!(lines(text.as_bytes(), 9).await, [too_long(long.len(), Some(7)), whole("{}"), too_long(12, None)]);
        assert_eq!(lines(b"123456789\n", 9).await, [whole("123456789")], "the limit itself is allowed");
    }
}
