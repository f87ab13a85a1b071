//! Whom a message answers that cannot be read: it is too long, or broken.
//!
//! Without this the request would wait for its deadline, though its answer has come and gone. Nothing is decided by what is
//! found here, except which request fails.

use super::id::RequestId;

/// Bytes of a key or number that are looked at.
const LOOKED_AT: usize = 24;

/// Where in a string.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    #[default]
    Outside,
    Inside,
    AfterBackslash,
}

/// Finds the top-level `id` of an answer in a text that goes by.
#[derive(Debug, Default)]
pub(crate) struct IdFinder {
    depth: usize,
    string: Place,
    /// The string or number at the top level that is being read, or was read last.
    token: Vec<u8>,
    /// Whether a colon came after the key `id`.
    at_id: bool,
    id: Option<u64>,
    asks: bool,
}

impl IdFinder {
    /// The request that a text answers which is no JSON, as far as that can be told.
    pub(crate) fn find(text: &[u8]) -> Option<RequestId> {
        let mut finder = Self::default();
        finder.push(text);
        finder.found().map(RequestId::from)
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The whole number that was found; none where the message was no answer.
    pub(crate) fn found(&self) -> Option<u64> {
        self.id.filter(|_| !self.asks)
    }

    fn step(&mut self, byte: u8) {
        if self.string != Place::Outside {
            self.string = match (self.string, byte) {
                (Place::Inside, b'\\') => Place::AfterBackslash,
                (Place::Inside, b'"') => Place::Outside,
                _ => Place::Inside,
            };
            self.keep(byte);
            return;
        }
        match byte {
            b'"' => {
                self.string = Place::Inside;
                self.start();
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.start();
            }
            b'}' | b']' => {
                self.value_ends();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.value_ends(),
            b':' if self.depth == 1 => {
                self.at_id = self.token == b"\"id\"";
                self.asks |= self.token == b"\"method\"";
                self.token.clear();
            }
            b' ' | b'\t' | b'\r' => {}
            _ => self.keep(byte),
        }
    }

    fn start(&mut self) {
        if self.depth <= 1 {
            self.token.clear();
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < LOOKED_AT {
            self.token.push(byte);
        }
    }

    fn value_ends(&mut self) {
        if self.depth == 1 {
            if self.at_id {
                self.id = std::str::from_utf8(&self.token).ok().and_then(|text| text.parse().ok());
            }
            self.at_id = false;
            self.token.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_top_level_id_of_an_answer_counts() {
        let found = |text: &str| {
            let mut finder = IdFinder::default();
            text.as_bytes().chunks(3).for_each(|part| finder.push(part));
            finder.found()
        };
        assert_eq!(found(r#"{"jsonrpc":"2.0","id":12,"result":{"id":3}}"#), Some(12));
        assert_eq!(found(r#"{"result":{"id":3,"a":[{"id":4}],"s":"\"id\":5}"}, "id" : 12 }"#), Some(12));
        assert_eq!(found(r#"{"id":12,"error":{}}"#), Some(12));
        assert_eq!(found(r#"{"id":"12","result":{}}"#), None, "a text is no id of ours");
        assert_eq!(found(r#"{"id":{},"result":{}}"#), None);
        assert_eq!(found(r#"{"id":12,"method":"ping"}"#), None);
        assert_eq!(found(r#"[{"id":12,"result":{}}]"#), None);
        assert_eq!(found(r#"{"key\"id":12,"result":"id"}"#), None);
        assert_eq!(found("}}}]]"), None);
    }
}
