//! Arguments in the trail: not at all, or with some of them masked.

use serde_json::Value;
use thiserror::Error;

/// What stands in the place of a masked value.
const MASKED: &str = "[masked]";

/// Which values of kept arguments are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask(Vec<String>);

/// A text that is no JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no JSON pointer; one is empty or starts with `/`, and `~` is followed by 0 or 1")]
pub struct MaskError(String);

impl Mask {
    /// A mask of these JSON pointers into the arguments.
    ///
    /// # Errors
    ///
    /// [`MaskError`]: a pointer that is none would mask nothing.
    pub fn new(pointers: Vec<String>) -> Result<Self, MaskError> {
        let is_pointer = |text: &str| {
            (text.is_empty() || text.starts_with('/'))
                && text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
        };
        match pointers.iter().find(|pointer| !is_pointer(pointer)) {
            Some(odd) => Err(MaskError(toolwarden_text::clip(odd, 100).into_owned())),
            None => Ok(Self(pointers)),
        }
    }

    /// The value with what the pointers name masked, whatever is below it.
    #[must_use]
    pub fn apply(&self, mut value: Value) -> Value {
        for pointer in &self.0 {
            if let Some(found) = value.pointer_mut(pointer) {
                *found = MASKED.into();
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_pointer_names_is_masked_and_nothing_else() {
        let mask = Mask::new(vec!["/a/b".into(), "/list/1".into(), "/x~1y".into(), "/none".into()]).unwrap();
        let value = json!({ "a": { "b": { "deep": 1 }, "c": 2 }, "list": [1, 2, 3], "x/y": "s", "z": null });
        let masked = json!({ "a": { "b": MASKED, "c": 2 }, "list": [1, MASKED, 3], "x/y": MASKED, "z": null });
        assert_eq!(mask.apply(value.clone()), masked);
        assert_eq!(Mask::new(vec![String::new()]).unwrap().apply(value), json!(MASKED));
        for odd in ["a", "a/b", "/~", "/~2", "/a~"] {
            assert!(Mask::new(vec![odd.into()]).is_err(), "{odd}");
        }
    }
}
