//! Only a list with one meaning is compared.

use serde_json::{Map, Number, Value};
use toolwarden_json::{ErrorCode, parse_bounded};

use super::error::SnapshotError;
use super::place;
use super::pointer::below;

/// From here on a double skips integers. Source: RFC 7493, which RFC 8785 builds on.
const LARGEST_INTEGER: u64 = (1 << 53) - 1;

/// Values in one page at most. Source: the registry's import.
const MOST_VALUES: usize = 8_000_000;

/// Bytes of one page at most. Source: the wire layer's message limit.
const LARGEST_PAGE: usize = 32 << 20;

/// Levels of nesting of one definition at most, so that what is kept of it stays within the 128 of the strict parser. Source: ours;
/// real definitions have 12.
const DEEPEST: usize = 100;

/// The tools of all pages, each page being the `result` of a `tools/list`.
///
/// # Errors
///
/// [`SnapshotError`] that names the place: `/<page>/tools/...`.
pub fn read_pages(pages: &[&[u8]]) -> Result<Vec<Value>, SnapshotError> {
    let mut tools = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let at = format!("/{index}");
        let Value::Object(mut page) = parse(page, &at)? else {
            return Err(SnapshotError::Shape { place: at, problem: "no object" });
        };
        let Some(Value::Array(items)) = page.remove("tools") else {
            return Err(SnapshotError::Shape { place: below(&at, "tools"), problem: "no list" });
        };
        for (item, tool) in items.iter().enumerate() {
            check(tool, &format!("{at}/tools/{item}"))?;
        }
        tools.extend(items);
    }
    Ok(tools)
}

/// Reads a text that has exactly one meaning.
pub(super) fn parse(text: &[u8], at: &str) -> Result<Value, SnapshotError> {
    if text.len() > LARGEST_PAGE {
        return Err(SnapshotError::TooLarge { place: at.into(), limit: LARGEST_PAGE, unit: "bytes" });
    }
    let fail = |error: toolwarden_json::Error| {
        let within = match error.code {
            ErrorCode::NotJson => located(text),
            _ => error.pointer,
        };
        SnapshotError::Text { code: error.code.as_str(), place: format!("{at}{within}"), problem: error.message }
    };
    let parsed = parse_bounded(text, MOST_VALUES).map_err(fail)?;
    parsed.fault.map_or(Ok(parsed.value), |fault| Err(fail(fault)))
}

/// Where a text stops being JSON.
fn located(text: &[u8]) -> String {
    match serde_json::from_slice::<Value>(text) {
        Err(error) => place::place(text, place::offset(text, error.line(), error.column())),
        Ok(_) => String::new(),
    }
}

/// Whether a value is one that every reader reads the same: no integer that a double does not hold, no endless nesting.
pub(super) fn check(value: &Value, at: &str) -> Result<(), SnapshotError> {
    let mut path = Vec::new();
    walk(value, &mut path).map_err(|fault| {
        let place = path.iter().fold(at.to_owned(), |at, key| below(&at, key));
        match fault {
            Fault::Number => SnapshotError::Text {
                code: ErrorCode::NumberOutOfRange.as_str(),
                place,
                problem: "the number is too large for every reader to keep it exactly".into(),
            },
            Fault::Depth => SnapshotError::TooLarge { place, limit: DEEPEST, unit: "levels" },
        }
    })
}

enum Fault {
    Number,
    Depth,
}

/// The path is left where the fault is.
fn walk(value: &Value, path: &mut Vec<String>) -> Result<(), Fault> {
    if path.len() >= DEEPEST {
        return Err(Fault::Depth);
    }
    match value {
        Value::Number(number) if !is_exact(number) => Err(Fault::Number),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| !is_leaf(item)) {
                path.push(index.to_string());
                walk(item, path)?;
                path.pop();
            }
            Ok(())
        }
        Value::Object(members) => walk_members(members, path),
        _ => Ok(()),
    }
}

fn walk_members(members: &Map<String, Value>, path: &mut Vec<String>) -> Result<(), Fault> {
    for (key, member) in members.iter().filter(|(_, member)| !is_leaf(member)) {
        path.push(key.clone());
        walk(member, path)?;
        path.pop();
    }
    Ok(())
}

/// Most values are texts, and need no path.
const fn is_leaf(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::String(_))
}

#[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact in a double")]
fn is_exact(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => number <= LARGEST_INTEGER,
        (None, Some(number)) => number.unsigned_abs() <= LARGEST_INTEGER,
        (None, None) => number.as_f64().is_some_and(|number| number.abs() <= LARGEST_INTEGER as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_two_meanings_is_refused_with_its_place() {
        let deep = format!(r#"{{"tools":[{{"x":{}1{}}}]}}"#, "[".repeat(98), "]".repeat(98));
        let deeper = format!(r#"{{"tools":[{{"x":{}1{}}}]}}"#, "[".repeat(200), "]".repeat(200));
        let good = r#"{"tools":[{"x":9007199254740991,"y":-9007199254740991,"z":1.5e-300}],"nextCursor":"c"}"#;
        for text in [good, &deep] {
            assert!(read_pages(&[text.as_bytes()]).is_ok(), "{text:.60}");
        }
        let bad = [
            (
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object","type":"array"}}]}"#,
                "duplicate-key",
                "/1/tools/0/inputSchema/type",
            ),
            (r#"{"tools":[{"name":"a","x":"\udc00"}]}"#, "not-json", "/1/tools/0/x"),
            (r#"{"tools":[{"default":9007199254740992}]}"#, "number-out-of-range", "/1/tools/0/default"),
            (r#"{"tools":[{"default":-9007199254740992}]}"#, "number-out-of-range", "/1/tools/0/default"),
            (r#"{"tools":[{"a":[0,[18446744073709551615]]}]}"#, "number-out-of-range", "/1/tools/0/a/1/0"),
            (r#"{"tools":[{"default":1e300}]}"#, "number-out-of-range", "/1/tools/0/default"),
            (r#"{"tools":{}}"#, "bad-list", "/1/tools"),
            (r#"{"result":{"tools":[]}}"#, "bad-list", "/1/tools"),
            ("[]", "bad-list", "/1"),
            ("{\"tools\":[] x", "not-json", "/1/tools"),
        ];
        for (text, code, place) in bad {
            let error = read_pages(&[b"{\"tools\":[]}", text.as_bytes()]).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(error.to_string().contains(&format!("`{place}`")), "{text}: {error}");
        }
        let error = read_pages(&[deeper.as_bytes()]).unwrap_err().to_string();
        assert!(error.contains("`/0/tools/0/x/0/0"), "{error}");
        assert_eq!(read_pages(&[b"{\"tools\":[{\"a\":\"\xff\"}]}"]).unwrap_err().code(), "not-utf8");
    }

    #[test]
    fn a_value_that_nobody_parsed_is_checked_as_well() {
        let deep = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert_eq!(check(&deep, "").unwrap_err().code(), "list-too-large");
        assert_eq!(
            check(&serde_json::json!({ "a": [u64::MAX] }), "/t").unwrap_err().to_string(),
            "the number is too large for every reader to keep it exactly, at `/t/a/0`"
        );
    }
}
