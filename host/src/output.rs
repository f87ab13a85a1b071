//! Whether a tool's result is what its accepted definition promises.
//!
//! `structuredContent` is validated against the accepted output schema: JSON Schema 2020-12, or the dialect that the schema
//! names. Nothing is ever fetched. A schema that cannot be used refuses every result; it never lets one through. What a result is
//! not, is told by place and keyword, never by value.
//!
//! ```
//! use serde_json::json;
//! use toolwarden::output::OutputCheck;
//!
//! let check = OutputCheck::new(&json!({ "type": "object", "properties": { "sum": { "type": "integer" } } })).unwrap();
//! assert!(check.check(&json!({ "content": [], "structuredContent": { "sum": 3 } })).is_ok());
//! let fault = check.check(&json!({ "content": [], "structuredContent": { "sum": "three" } })).unwrap_err();
//! assert_eq!(fault.to_string(), "`structuredContent/sum` does not fit `type` of the accepted output schema");
//! ```

mod effort;

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use thiserror::Error;
use toolwarden_text::clip;

use effort::{Effort, Excess};

/// Bytes of an output schema at most, as compact JSON. Source: ours; the largest of several hundred real ones has 20 KiB.
const LARGEST_SCHEMA: usize = 256 << 10;

/// Steps that a pattern may go back, per match. Source: ours; a million takes some milliseconds.
const BACKTRACKS: usize = 100_000;

/// Bytes of a compiled pattern. Source: ours.
const PATTERN: usize = 1 << 20;

/// Why an output schema cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the accepted output schema cannot be used: {0}")]
pub struct SchemaUnusable(String);

impl SchemaUnusable {
    /// Stable code.
    pub const CODE: &str = "output-schema-unusable";
}

/// Why a result is kept from the model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResultFault {
    /// It has no `structuredContent`.
    #[error("it has no `structuredContent`, which the accepted definition promises")]
    Missing,
    /// It is of another shape.
    #[error("`structuredContent{}` does not fit `{keyword}` of the accepted output schema", clip(.at, 200))]
    Mismatch {
        /// JSON pointer into `structuredContent`.
        at: String,
        /// What it does not fit.
        keyword: String,
    },
    /// Nobody can tell in bounded time.
    #[error("`structuredContent` cannot be validated: {0}")]
    Excess(String),
}

impl ResultFault {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing | Self::Mismatch { .. } => "result-schema-mismatch",
            Self::Excess(_) => "result-too-complex",
        }
    }
}

/// An output schema, ready to be used.
pub struct OutputCheck {
    schema: Value,
    validator: Validator,
}

impl fmt::Debug for OutputCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputCheck").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl OutputCheck {
    /// Compiles an accepted output schema.
    ///
    /// # Errors
    ///
    /// [`SchemaUnusable`], and no result of this tool may be shown then.
    pub fn new(schema: &Value) -> Result<Self, SchemaUnusable> {
        let unusable = |problem: String| SchemaUnusable(clip(&problem, 300).into_owned());
        if schema.to_string().len() > LARGEST_SCHEMA {
            return Err(unusable(format!("it has more than {LARGEST_SCHEMA} bytes")));
        }
        effort::references(schema).map_err(|problem| unusable(problem.into()))?;
        let patterns =
            PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(PATTERN).dfa_size_limit(PATTERN);
        let options = jsonschema::options().with_pattern_options(patterns).offline();
        let validator = options.build(schema).map_err(|error| unusable(error.to_string()))?;
        Ok(Self { schema: schema.clone(), validator })
    }

    /// Looks at the `result` of a `tools/call`. One that tells of an error need not have `structuredContent`.
    ///
    /// # Errors
    ///
    /// [`ResultFault`].
    pub fn check(&self, result: &Value) -> Result<(), ResultFault> {
        let Some(content) = result.get("structuredContent") else {
            let is_error = result.get("isError") == Some(&Value::Bool(true));
            return if is_error { Ok(()) } else { Err(ResultFault::Missing) };
        };
        Effort::new(&self.schema).of(content).map_err(|excess| {
            ResultFault::Excess(match excess {
                Excess::Endless => "its schema refers to itself without an end".into(),
                Excess::Steps => "it would take too many steps".into(),
            })
        })?;
        self.validator.validate(content).map_err(|error| ResultFault::Mismatch {
            at: error.instance_path().to_string(),
            keyword: error.kind().keyword().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, content: &Value) -> Result<(), &'static str> {
        let check = OutputCheck::new(schema).map_err(|_| SchemaUnusable::CODE)?;
        check.check(&json!({ "structuredContent": content })).map_err(|fault| fault.code())
    }

    #[test]
    fn a_result_fits_or_is_kept_back() {
        let schema = json!({
            "$defs": { "row": { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] } },
            "type": "object",
            "properties": { "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } } },
            "required": ["rows"],
            "additionalProperties": false,
        });
        assert_eq!(check(&schema, &json!({ "rows": [{ "id": 1 }, { "id": 2, "more": 1 }] })), Ok(()));
        for bad in [json!({}), json!({ "rows": [{}] }), json!({ "rows": [], "x": 1 }), json!(null), json!([])] {
            assert_eq!(check(&schema, &bad), Err("result-schema-mismatch"), "{bad}");
        }
        let ready = OutputCheck::new(&schema).unwrap();
        assert_eq!(ready.check(&json!({ "content": [] })), Err(ResultFault::Missing));
        assert_eq!(ready.check(&json!({ "content": [], "isError": true })), Ok(()));
        let secret = ready.check(&json!({ "structuredContent": { "rows": [{ "id": "secret" }] } })).unwrap_err();
        assert_eq!(
            secret.to_string(),
            "`structuredContent/rows/0/id` does not fit `type` of the accepted output schema"
        );
    }

    #[test]
    fn tuples_are_those_of_2020_unless_the_schema_names_another_dialect() {
        assert_eq!(
            check(&json!({ "prefixItems": [{ "type": "string" }] }), &json!([1])),
            Err("result-schema-mismatch")
        );
        let old = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [{ "type": "string" }] });
        assert_eq!(check(&old, &json!([1])), Err("result-schema-mismatch"));
        assert_eq!(check(&old, &json!(["a", 1])), Ok(()));
    }

    #[test]
    fn a_schema_that_cannot_be_used_passes_nothing() {
        let bad = [
            json!({ "$ref": "https://example.com/schema.json" }),
            json!({ "$ref": "file:///etc/passwd" }),
            json!({ "$ref": "other.json" }),
            json!({ "properties": { "a": { "$ref": "#/$defs/none" } } }),
            json!({ "$ref": "#anchor", "$defs": { "a": { "$anchor": "anchor" } } }),
            json!({ "$dynamicRef": "#a" }),
            json!({ "$schema": "https://example.com/my-dialect" }),
            json!({ "type": "strange" }),
            json!({ "type": 1 }),
            json!({ "pattern": "(" }),
            json!({ "description": "x".repeat(300 << 10) }),
            json!(1),
        ];
        for schema in bad {
            assert_eq!(check(&schema, &json!({})), Err(SchemaUnusable::CODE), "{:.80}", schema.to_string());
        }
    }

    #[test]
    fn no_schema_and_no_result_takes_forever() {
        let endless = json!({ "$ref": "#" });
        assert_eq!(check(&endless, &json!({})), Err("result-too-complex"));
        let endless = json!({ "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/a" }], "$defs": { "a": { "allOf": [{ "$ref": "#" }] } } });
        assert_eq!(check(&endless, &json!({})), Err("result-too-complex"));

        // A tree is as deep as its result.
        let tree =
            json!({ "type": "object", "properties": { "child": { "$ref": "#" } }, "additionalProperties": false });
        assert_eq!(check(&tree, &json!({ "child": { "child": {} } })), Ok(()));
        // Twice as much at each level.
        let twice = json!({ "properties": { "a": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } } });
        let deep = (0..60).fold(json!({}), |inner, _| json!({ "a": inner }));
        assert_eq!(check(&twice, &deep), Err("result-too-complex"));
        let mut bomb = serde_json::Map::new();
        for level in 0..50 {
            let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
            bomb.insert(level.to_string(), json!({ "anyOf": [next, next] }));
        }
        bomb.insert("50".into(), json!({ "type": "string" }));
        assert_eq!(check(&json!({ "$ref": "#/$defs/0", "$defs": bomb }), &json!(1)), Err("result-too-complex"));
        for pattern in ["(?=a)(a{1000}){1000}{1000}", "^(a{1000}){1000}$"] {
            assert_eq!(check(&json!({ "pattern": pattern }), &json!("a")), Err(SchemaUnusable::CODE), "{pattern}");
        }
        // A pattern that goes back and forth.
        let pattern = json!({ "pattern": r"^(?=(a+)+$)(a|aa)+\1$" });
        assert_eq!(check(&pattern, &json!(format!("{}b", "a".repeat(64)))), Err("result-schema-mismatch"));
    }
}
