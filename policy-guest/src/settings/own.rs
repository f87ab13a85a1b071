//! `module.settings`: what a module of one's own wants to be told.

use std::string::String;
use std::vec::Vec;

use toolwarden_json::Value;

use super::reader::{Object, Reader};

/// Reads `module.settings` key by key. A value of the wrong type is noted and answered with the default, so that all faults
/// come back together; a key that was never asked for is noted as unknown.
pub struct Own<'r, 'v> {
    reader: &'r mut Reader,
    object: Option<Object<'v>>,
    asked: Vec<&'static str>,
}

impl<'r, 'v> Own<'r, 'v> {
    /// Where these settings stand.
    pub(super) const AT: &'static str = "/module/settings";

    pub(super) fn read<T>(reader: &'r mut Reader, value: Option<&'v Value>, read: impl FnOnce(&mut Self) -> T) -> T {
        let object = value.and_then(|value| reader.any_object(Self::AT.into(), value));
        let mut own = Self { reader, object, asked: Vec::new() };
        let out = read(&mut own);
        if let Some(object) = &own.object {
            own.reader.known(object, &own.asked);
        }
        out
    }

    /// A member as it is; none where there is none.
    pub fn value(&mut self, key: &'static str) -> Option<&'v Value> {
        self.asked.push(key);
        self.object.as_ref()?.get(key)
    }

    /// A member that is `true` or `false`.
    pub fn flag(&mut self, key: &'static str, default: bool) -> bool {
        self.typed(key, "`true` or `false`", Value::as_bool).unwrap_or(default)
    }

    /// A member that is a whole number, 0 or more.
    pub fn count(&mut self, key: &'static str, default: u64) -> u64 {
        self.typed(key, "a whole number, 0 or more", Value::as_u64).unwrap_or(default)
    }

    /// A member that is a text.
    pub fn text(&mut self, key: &'static str) -> Option<&'v str> {
        self.typed(key, "a text", Value::as_str)
    }

    /// A member that is a list of texts; empty where there is none.
    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        let texts = |value: &Value| value.as_array()?.iter().map(|v| v.as_str().map(String::from)).collect();
        self.typed(key, "a list of texts", texts).unwrap_or_default()
    }

    /// A member that is one of these words.
    pub fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)], default: T) -> T {
        let mut out = default;
        self.asked.push(key);
        if let Some(object) = &self.object {
            self.reader.word(object, key, words, &mut out);
        }
        out
    }

    /// Notes what is wrong with a member, and what is allowed there.
    pub fn issue(&mut self, key: &'static str, problem: impl Into<String>, allowed: impl Into<String>) {
        let pointer = std::format!("{}/{}", Self::AT, toolwarden_json::pointer_token(key));
        self.reader.issue(pointer, problem.into(), allowed.into());
    }

    fn typed<T>(&mut self, key: &'static str, allowed: &str, read: impl FnOnce(&'v Value) -> Option<T>) -> Option<T> {
        let value = self.value(key)?;
        let out = read(value);
        if let (None, Some(object)) = (&out, &self.object) {
            self.reader.unknown_value(object, key, value, allowed.into());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::{Issue, Settings};

    fn pointers(issues: &[Issue]) -> Vec<&str> {
        issues.iter().map(|issue| issue.pointer.as_str()).collect()
    }

    #[test]
    fn all_faults_come_together() {
        let text = r#"{"system":{"toolApprovalMode":"on"},
            "module":{"settings":{"flag":1,"count":-1,"text":[],"texts":["a",2],"word":"c","strange":0}}}"#;
        let issues = Settings::with_own(text, |own| {
            assert!(own.flag("flag", true));
            assert_eq!(own.count("count", 7), 7);
            assert_eq!(own.text("text"), None);
            assert!(own.texts("texts").is_empty());
            assert_eq!(own.word("word", &[("a", 1), ("b", 2)], 3), 3);
            own.issue("text", "too short", "more");
        });
        let own =
            ["flag", "count", "text", "texts", "word", "text", "strange"].map(|k| format!("/module/settings/{k}"));
        let expected: Vec<&str> =
            ["/system/toolApprovalMode"].into_iter().chain(own.iter().map(String::as_str)).collect();
        assert_eq!(pointers(&issues.unwrap_err()), expected);
    }

    #[test]
    fn nothing_given_is_the_defaults_and_no_table_is_a_fault() {
        for text in ["{}", r#"{"module":{}}"#, r#"{"module":{"settings":{}}}"#] {
            let (settings, own) =
                Settings::with_own(text, |own| (own.flag("f", true), own.text("t").map(String::from))).unwrap();
            assert_eq!((settings, own), (Settings::default(), (true, None)));
        }
        for value in ["null", "1", "[]"] {
            let text = format!(r#"{{"module":{{"settings":{value}}}}}"#);
            let issues = Settings::with_own(&text, |own| own.flag("f", true)).unwrap_err();
            assert_eq!(pointers(&issues), ["/module/settings"], "{value}");
        }
    }
}
