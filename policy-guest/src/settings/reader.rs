//! Reads JSON into typed settings and notes everything that is wrong on the way.

use std::format;
use std::string::String;
use std::vec::Vec;

use toolwarden_json::{Value, pointer_token};
use toolwarden_text::clip;

use super::Issue;
use crate::glob::Glob;

/// Collects issues.
#[derive(Default)]
pub(super) struct Reader {
    pub issues: Vec<Issue>,
}

/// A JSON object and where it stands.
pub(super) struct Object<'v> {
    at: String,
    map: &'v serde_json::Map<String, Value>,
}

impl<'v> Object<'v> {
    pub fn pointer(&self, key: &str) -> String {
        format!("{}/{}", self.at, pointer_token(key))
    }

    pub fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.get(key)
    }
}

impl Reader {
    /// An object with these keys at most.
    pub fn object<'v>(&mut self, at: &str, value: &'v Value, keys: &[&str]) -> Option<Object<'v>> {
        let object = self.any_object(at.into(), value)?;
        self.known(&object, keys);
        Some(object)
    }

    /// A member that is an object with these keys at most.
    pub fn section<'v>(&mut self, parent: &Object<'v>, key: &str, keys: &[&str]) -> Option<Object<'v>> {
        self.object(&parent.pointer(key), parent.get(key)?, keys)
    }

    /// Notes every key that is none of these.
    pub fn known(&mut self, object: &Object, keys: &[&str]) {
        /// Unknown keys of one object that are told at most.
        const MOST: usize = 16;
        // In order of the names, as not every build keeps the order of the text.
        let mut unknown: Vec<&String> = Vec::with_capacity(MOST + 1);
        for key in object.map.keys().filter(|k| !keys.contains(&k.as_str())) {
            let at = unknown.iter().position(|other| *other > key).unwrap_or(unknown.len());
            unknown.insert(at, key);
            unknown.truncate(MOST);
        }
        for key in unknown {
            let allowed = if keys.is_empty() { "no key at all".into() } else { alternatives(keys) };
            self.issue(object.pointer(key), format!("unknown key `{}`", clip(key, 60)), allowed);
        }
    }

    /// Notes a key that is missing.
    pub fn required(&mut self, object: &Object, key: &str, allowed: &str) {
        if object.get(key).is_none() {
            self.issue(object.pointer(key), format!("missing key `{key}`"), allowed.into());
        }
    }

    /// A member that is one of these words.
    pub fn word<T: Copy>(&mut self, object: &Object, key: &str, words: &[(&str, T)], out: &mut T) {
        let Some(value) = object.get(key) else { return };
        if let Some((_, meaning)) = words.iter().find(|(word, _)| value.as_str() == Some(word)) {
            *out = *meaning;
        } else {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.unknown_value(object, key, value, alternatives(&words));
        }
    }

    /// A member that is a whole number.
    pub fn count(&mut self, object: &Object, key: &str, out: &mut u64) {
        const MOST: u64 = (1 << 53) - 1;
        let Some(value) = object.get(key) else { return };
        match value.as_u64() {
            Some(count @ 0..=MOST) => *out = count,
            _ => self.unknown_value(object, key, value, format!("a whole number from 0 to {MOST}")),
        }
    }

    /// A member that is a share from 0 to 1, as millionths.
    pub fn share(&mut self, object: &Object, key: &str, out: &mut u64) {
        let Some(value) = object.get(key) else { return };
        match value.as_f64() {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1 000 000.5")]
            Some(share) if (0.0..=1.0).contains(&share) => *out = (share * 1e6 + 0.5) as u64,
            _ => self.unknown_value(object, key, value, "a number from 0 to 1".into()),
        }
    }

    /// A member that is a list of patterns.
    pub fn globs(&mut self, object: &Object, key: &str, out: &mut Vec<Glob>) {
        let Some(value) = object.get(key) else { return };
        let Some(items) = value.as_array() else {
            return self.unknown_value(object, key, value, "a list of tool names or patterns".into());
        };
        for (index, item) in items.iter().enumerate() {
            let at = format!("{}/{index}", object.pointer(key));
            out.extend(self.pattern(at, item));
        }
    }

    /// A member that is a pattern.
    pub fn glob(&mut self, object: &Object, key: &str) -> Option<Glob> {
        self.pattern(object.pointer(key), object.get(key)?)
    }

    /// A member that is a list of objects.
    pub fn items<T>(
        &mut self,
        parent: &Object,
        key: &str,
        mut read: impl FnMut(&mut Self, &Object) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = parent.get(key) else { return Vec::new() };
        let Some(items) = value.as_array() else {
            self.unknown_value(parent, key, value, "a list of tables".into());
            return Vec::new();
        };
        let mut out = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if let Some(object) = self.any_object(format!("{}/{index}", parent.pointer(key)), item) {
                out.extend(read(self, &object));
            }
        }
        out
    }

    pub fn any_object<'v>(&mut self, at: String, value: &'v Value) -> Option<Object<'v>> {
        if let Value::Object(map) = value {
            return Some(Object { at, map });
        }
        self.issue(at, format!("{} is not a table", quoted(value)), "a table".into());
        None
    }

    fn pattern(&mut self, at: String, value: &Value) -> Option<Glob> {
        match value.as_str() {
            Some(text) if !text.is_empty() => Some(Glob::new(text)),
            _ => {
                let allowed = "a name or a pattern with `*` and `?`, not empty";
                self.issue(at, format!("unknown value {}", quoted(value)), allowed.into());
                None
            }
        }
    }

    pub fn unknown_value(&mut self, object: &Object, key: &str, value: &Value, allowed: String) {
        self.issue(object.pointer(key), format!("unknown value {}", quoted(value)), allowed);
    }

    pub fn issue(&mut self, pointer: String, problem: String, allowed: String) {
        self.issues.push(Issue { pointer, problem, allowed });
    }
}

/// A value for a message: strings bare and cut, lists and tables by their kind.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", clip(text, 60)),
        Value::Array(_) => "`[...]`".into(),
        Value::Object(_) => "`{...}`".into(),
        Value::Null => "`null`".into(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), _, _) => format!("`{whole}`"),
            (_, Some(whole), _) => format!("`{whole}`"),
            (_, _, Some(fraction)) => format!("`{}`", decimal(fraction)),
            _ => "a number".into(),
        },
    }
}

/// A fraction to the millionth, which is the finest step of any setting. The shortest exact form would take more code and
/// tables than all of the settings.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn decimal(number: f64) -> String {
    const LARGEST: f64 = 1e9;
    if !(-LARGEST..=LARGEST).contains(&number) {
        return String::from(if number > 0.0 { "more than 1000000000" } else { "less than -1000000000" });
    }
    let millionths = (number.abs() * 1e6 + 0.5) as u64;
    let sign = if number < 0.0 { "-" } else { "" };
    let text = format!("{sign}{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// "`a`, `b` or `c`".
fn alternatives(words: &[&str]) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            out.push_str(if index + 1 == words.len() { " or " } else { ", " });
        }
        out.push('`');
        out.push_str(word);
        out.push('`');
    }
    out
}
