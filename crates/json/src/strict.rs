//! The visitor behind [`parse`](crate::parse).

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{Error, ErrorCode, Parsed, pointer_token};

/// Characters of a pointer that a message shows, at most.
const SHOWN: usize = 200;

/// From here on a double skips integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(crate) fn parse(text: &str, most: usize) -> Result<Parsed, serde_json::Error> {
    let state = RefCell::new(State { path: Vec::new(), fault: None, room: most });
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { state: &state }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Parsed { value, fault: state.into_inner().fault })
}

/// Where the visitor is, and the first fault that it met.
struct State {
    path: Vec<Token>,
    fault: Option<Error>,
    /// Values that may still come.
    room: usize,
}

enum Token {
    Key(String),
    Index(usize),
}

impl State {
    fn fault(&mut self, code: ErrorCode, describe: impl FnOnce(&str) -> String) {
        if self.fault.is_none() {
            let pointer = self.path.iter().fold(String::new(), |pointer, token| match token {
                Token::Key(key) => format!("{pointer}/{}", pointer_token(key)),
                Token::Index(index) => format!("{pointer}/{index}"),
            });
            let shown = toolwarden_text::clip(&pointer, SHOWN);
            self.fault = Some(Error { code, message: describe(&shown), pointer });
        }
    }
}

#[derive(Clone, Copy)]
struct Strict<'s> {
    state: &'s RefCell<State>,
}

impl Strict<'_> {
    fn at<T>(self, token: Token, read: impl FnOnce() -> T) -> T {
        self.state.borrow_mut().path.push(token);
        let value = read();
        self.state.borrow_mut().path.pop();
        value
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let room = self.state.borrow().room.checked_sub(1);
        self.state.borrow_mut().room = room.ok_or_else(|| D::Error::custom("it holds too many values"))?;
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
            self.state.borrow_mut().fault(ErrorCode::NumberOutOfRange, |pointer| {
                format!("the number at `{pointer}` is too large to be kept exactly; send it as a string")
            });
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
        let mut items = Vec::new();
        while let Some(item) = self.at(Token::Index(items.len()), || access.next_element_seed(self))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if map.contains_key(&key) {
                self.at(Token::Key(key), || {
                    self.state.borrow_mut().fault(ErrorCode::DuplicateKey, |pointer| {
                        format!("the key at `{pointer}` occurs twice in one object")
                    });
                    access.next_value_seed(self)
                })?;
                continue;
            }
            let value = self.at(Token::Key(key.clone()), || access.next_value_seed(self))?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
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
