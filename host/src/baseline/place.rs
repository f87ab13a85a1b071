//! Where in a text that is no JSON the reading stopped, as a JSON pointer.

use toolwarden_json::pointer_token;

/// Parts of a pointer at most; deeper places are told up to here.
const DEEPEST: usize = 128;

enum Part {
    Item(usize),
    Member(String),
}

/// The pointer to the value that is being read where so many bytes were read. The text need not be JSON; the answer is as good
/// as the text up to there.
pub(super) fn place(text: &[u8], bytes: usize) -> String {
    let mut path: Vec<Part> = Vec::new();
    let mut string: Option<usize> = None;
    let mut escaped = false;
    let mut last = "";
    for (index, byte) in text.iter().enumerate().take(bytes) {
        if let Some(start) = string {
            match (escaped, byte) {
                (true, _) => escaped = false,
                (false, b'\\') => escaped = true,
                (false, b'"') => {
                    last = text.get(start..index).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
                    string = None;
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string = Some(index + 1),
            b'{' => path.push(Part::Member(String::new())),
            b'[' => path.push(Part::Item(0)),
            b'}' | b']' => drop(path.pop()),
            b':' => {
                if let Some(Part::Member(key)) = path.last_mut() {
                    last.clone_into(key);
                }
            }
            b',' => {
                if let Some(Part::Item(index)) = path.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
    }
    let mut pointer = String::new();
    for part in path.iter().take(DEEPEST) {
        pointer.push('/');
        match part {
            Part::Item(index) => pointer.push_str(&index.to_string()),
            Part::Member(key) => pointer.push_str(&pointer_token(key)),
        }
    }
    pointer
}

/// How many bytes come before the one at a line and column, both counted from 1.
pub(super) fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    before + column.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_named() {
        let rows = [
            (r#"{"tools":[{"name":"a"},{"name":"b","x":"\ud800"}]}"#, "/tools/1/x"),
            (r#"[{"a/b":[1,[2,"}]",{"k\"":}"#, "/0/a~1b/1/2/k\\\""),
            ("{\n \"a\": [\n  1,\n  nope]}", "/a/1"),
            ("", ""),
        ];
        for (text, at) in rows {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            assert_eq!(place(text.as_bytes(), offset(text.as_bytes(), error.line(), error.column())), at, "{text}");
        }
        let deep = "[".repeat(1000);
        assert_eq!(place(deep.as_bytes(), 1000).len(), 2 * DEEPEST);
    }
}
