//! The visitor behind [`parse`](crate::parse).

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::{Error, ErrorCode, Parsed, pointer_token};

/// Characters of a pointer that a message shows, at most.
const SHOWN: usize = 200;

/// From here on a double skips integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(crate) fn parse(text: &str, most: usize) -> Result<Parsed, serde_json::Error> {
    let state = State { room: Cell::new(most), depth: Cell::new(0), fault: RefCell::new(None) };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { state: &state }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    let fault = state.fault.into_inner().map(|Fault { code, path, .. }| {
        let pointer: String = path.iter().rev().map(String::as_str).collect();
        let shown = toolwarden_text::clip(&pointer, SHOWN);
        let message = match code {
            ErrorCode::NumberOutOfRange => {
                format!("the number at `{shown}` is too large to be kept exactly; send it as a string")
            }
            _ => format!("the key at `{shown}` occurs twice in one object"),
        };
        Error { code, pointer, message }
    });
    Ok(Parsed { value, fault })
}

/// The first fault. Its path is put together on the way out, the innermost part first, so that a text without any fault
/// pays nothing for it.
struct Fault {
    code: ErrorCode,
    path: Vec<String>,
    /// Depth of the container that the next part comes from. Siblings at that depth come too late: the part of the one with
    /// the fault is taken as it is left.
    next: usize,
}

struct State {
    /// Values that may still come.
    room: Cell<usize>,
    /// Containers around the value that is being read.
    depth: Cell<usize>,
    fault: RefCell<Option<Fault>>,
}

#[derive(Clone, Copy)]
struct Strict<'s> {
    state: &'s State,
}

impl Strict<'_> {
    /// Notes a fault, if it is the first.
    fn fault(self, code: ErrorCode) {
        let mut fault = self.state.fault.borrow_mut();
        if fault.is_none() {
            *fault = Some(Fault { code, path: Vec::new(), next: self.state.depth.get() });
        }
    }

    /// Adds the part that led to a value, where a fault was found in it.
    fn leave(self, part: impl FnOnce() -> String) {
        if let Some(fault) = self.state.fault.borrow_mut().as_mut()
            && fault.next == self.state.depth.get()
        {
            fault.path.push(part());
            fault.next -= 1;
        }
    }

    /// One container deeper.
    fn inside<T, E>(self, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.state.depth.set(self.state.depth.get() + 1);
        let value = read();
        self.state.depth.set(self.state.depth.get() - 1);
        value
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let room = self.state.room.get().checked_sub(1);
        self.state.room.set(room.ok_or_else(|| D::Error::custom("it holds too many values"))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if value.abs() >= EXACT {
            self.fault(ErrorCode::NumberOutOfRange);
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.inside(|| {
            let mut items = Vec::new();
            while let Some(item) = access.next_element_seed(self)? {
                self.leave(|| format!("/{}", items.len()));
                items.push(item);
            }
            Ok(Value::Array(items))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.inside(|| {
            let mut map = Map::new();
            while let Some(key) = access.next_key::<String>()? {
                match map.entry(key) {
                    Entry::Occupied(known) => {
                        self.fault(ErrorCode::DuplicateKey);
                        access.next_value_seed(self)?;
                        self.leave(|| format!("/{}", pointer_token(known.key())));
                    }
                    Entry::Vacant(free) => {
                        let value = access.next_value_seed(self)?;
                        self.leave(|| format!("/{}", pointer_token(free.key())));
                        free.insert(value);
                    }
                }
            }
            Ok(Value::Object(map))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn code(text: &str) -> Result<(), (&'static str, String)> {
        parse(text.as_bytes()).map(drop).map_err(|e| (e.code.as_str(), e.pointer))
    }

    #[test]
    fn one_text_one_meaning() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(code(r#"{"a":[1,-2,1.5,"x",null,true,{"a":1}]}"#), Ok(()));
        assert_eq!(code("9007199254740993"), Ok(()), "64-bit integers are kept");
        assert_eq!(code("18446744073709551615"), Ok(()));
        assert_eq!(code(&nested(127)), Ok(()));

        let bad = |text: &str, code_: &'static str, pointer: &str| {
            assert_eq!(code(text), Err((code_, pointer.to_string())), "{text:.60}");
        };
        bad(r#"{"a":1,"a":1}"#, "duplicate-key", "/a");
        bad(r#"[{"a/b~":{"x":1,"\u0078":2}}]"#, "duplicate-key", "/0/a~1b~0/x");
        bad(r#"{"":1,"":1}"#, "duplicate-key", "/");
        bad("[18446744073709551616]", "number-out-of-range", "/0");
        bad(r#"{"a":[{"x":1},{"b":[1,{"c":1,"c":2,"d":[0]}],"e":{}},[]],"f":1}"#, "duplicate-key", "/a/1/b/1/c");
        bad(r#"{"a":{"x":1},"a":{"y":[1,2]},"b":[3]}"#, "duplicate-key", "/a");
        bad("1e300", "number-out-of-range", "");
        bad("1e400", "not-json", "");
        bad(r#""\ud800""#, "not-json", "");
        bad(r#"{"a":1} x"#, "not-json", "");
        bad("{'a':1}", "not-json", "");
        bad("", "not-json", "");
        bad("\u{feff}{}", "not-json", "");
        bad("NaN", "not-json", "");
        bad(&nested(100_000), "not-json", "");
        let many = format!("[{}0]", "0,".repeat(crate::MAX_VALUES));
        assert!(parse(many.as_bytes()).unwrap_err().message.starts_with("it holds too many values"));
        assert_eq!(parse(b"\"\xff\"").map_err(|e| e.code), Err(ErrorCode::NotUtf8));
    }

    #[test]
    fn of_two_equal_keys_the_first_is_kept_and_the_first_fault_is_told() {
        let parsed = crate::parse_lenient(br#"{"a":1,"a":{"b":1,"b":2},"c":3}"#).unwrap();
        assert_eq!(parsed.value, serde_json::json!({"a": 1, "c": 3}));
        assert_eq!(parsed.fault.unwrap().pointer, "/a");
    }
}
