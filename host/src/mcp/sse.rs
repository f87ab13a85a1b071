//! Server-sent events, as they arrive. Source: the HTML standard, event streams.

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type; empty means `message`.
    pub kind: Vec<u8>,
    /// Its lines of data, joined by newlines.
    pub data: Vec<u8>,
    /// The last id that the stream named, this event's own included.
    pub id: Option<Vec<u8>>,
}

impl Event {
    /// Whether it carries a message. One without data only names an id.
    pub(crate) fn is_message(&self) -> bool {
        (self.kind.is_empty() || self.kind == b"message") && !self.data.is_empty()
    }
}

/// An event, or a line of one, over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads a stream piece by piece.
#[derive(Debug)]
pub(crate) struct SseParser {
    limit: usize,
    line: Vec<u8>,
    after_cr: bool,
    at_start: bool,
    event: Event,
    has_data: bool,
    id: Option<Vec<u8>>,
    retry_ms: Option<u64>,
}

impl SseParser {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            event: Event::default(),
            has_data: false,
            id: None,
            retry_ms: None,
        }
    }

    /// The events that end in this piece, in order.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = piece;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let Some(after) = rest.strip_prefix(b"\n")
            {
                rest = after;
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if self.line.len() + part.len() + self.event.data.len() > self.limit {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_cr = rest.get(end) == Some(&b'\r');
            rest = rest.get(end + 1..).unwrap_or_default();
            events.extend(self.line_ends());
        }
        Ok(events)
    }

    /// The last id that the stream named.
    pub(crate) fn last_id(&self) -> Option<&[u8]> {
        self.id.as_deref().filter(|id| !id.is_empty())
    }

    /// How long the server wants to be left alone before a stream is taken up again.
    pub(crate) const fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    fn line_ends(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start)
            && let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf")
        {
            line = rest.to_vec();
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then(|| Event { id: self.id.clone(), ..event });
        }
        let (name, value) = match memchr::memchr(b':', &line) {
            Some(colon) => {
                let (name, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line.as_slice(), &[][..]),
        };
        match name {
            b"data" => {
                if self.has_data {
                    self.event.data.push(b'\n');
                }
                self.has_data = true;
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.kind = value.to_vec(),
            b"id" if !value.contains(&0) => self.id = Some(value.to_vec()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry_ms = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            }
            // A comment, or a field that nobody knows.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], step: usize) -> Vec<(String, String, Option<String>)> {
        let mut parser = SseParser::new(100);
        let text_of = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        text.chunks(step)
            .flat_map(|piece| parser.push(piece).unwrap())
            .map(|event| (text_of(event.kind), text_of(event.data), event.id.map(text_of)))
            .collect()
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = b"\xef\xbb\xbf: hello\r\nid: 1\ndata: a\ndata:b\n\nevent: message\rdata:  c\r\rdata\n\n\
            id\nretry: 20x\nevent: other\ndata: d\r\n\r\nid: no data\n\nid: \0\ndata: e\n\ndata: not ended\n";
        let event =
            |kind: &str, data: &str, id: Option<&str>| (kind.to_owned(), data.to_owned(), id.map(str::to_owned));
        let expected = [
            event("", "a\nb", Some("1")),
            event("message", " c", Some("1")),
            event("", "", Some("1")),
            event("other", "d", Some("")),
            event("", "e", Some("no data")),
        ];
        for step in 1..text.len() {
            assert_eq!(all(text, step), expected, "in steps of {step}");
        }
    }

    #[test]
    fn a_stream_names_its_place_and_its_pause() {
        let mut parser = SseParser::new(100);
        assert_eq!((parser.last_id(), parser.retry_ms()), (None, None));
        parser.push(b"id: 7\nretry: 250\ndata:\n\n").unwrap();
        assert_eq!((parser.last_id(), parser.retry_ms()), (Some(&b"7"[..]), Some(250)));
    }

    #[test]
    fn an_event_is_bounded_in_one_line_and_in_many() {
        assert_eq!(SseParser::new(8).push(b"data: 123456789"), Err(TooLong));
        let mut parser = SseParser::new(16);
        assert_eq!(parser.push(b"data: 123456\ndata: 123456\n"), Err(TooLong));
        let mut parser = SseParser::new(16);
        for _ in 0..100 {
            assert_eq!(parser.push(b"data: 123\n\n").unwrap().len(), 1);
        }
    }
}
