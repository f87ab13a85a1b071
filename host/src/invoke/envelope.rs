//! The envelope of `tool_invoke`: an object with exactly `name` and `arguments`.

use serde_json::Value;

use crate::call::{Arguments, Call};
use crate::verdict::Verdict;

/// What a bridged call carries.
pub(super) struct Envelope {
    pub name: String,
    pub arguments: Arguments,
}

/// Takes the call apart, or denies it.
pub(super) fn open(call: &Call) -> Result<Envelope, Verdict> {
    let bad = |what: &str| {
        Verdict::deny(
            "bad-envelope",
            format!("{what}; the arguments of tool_invoke are exactly `name`, a string, and `arguments`, an object"),
            "",
        )
    };
    if let Some(ambiguous) = &call.ambiguous {
        return Err(bad(ambiguous));
    }
    let envelope = call.arguments.as_map();
    if let Some(key) = envelope.keys().find(|key| !matches!(key.as_str(), "name" | "arguments")) {
        return Err(bad(&format!("unknown key `{}`", toolwarden_text::clip(key, 60))));
    }
    let Some(name) = envelope.get("name") else { return Err(bad("`name` is missing")) };
    let Some(name) = name.as_str() else { return Err(bad("`name` is not a string")) };
    match envelope.get("arguments") {
        None => Err(bad("`arguments` is missing")),
        Some(value @ Value::Object(_)) => {
            let arguments = Arguments::from_value(value.clone()).map_err(|e| bad(&e.message))?;
            Ok(Envelope { name: name.into(), arguments })
        }
        Some(_) => Err(bad("`arguments` is not an object")),
    }
}
