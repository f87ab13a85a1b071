//! Variables in texts of the configuration.

use super::environment::{Environment, INHERITED};
use super::error::ConfigCode;
use crate::mcp::secret::Secret;

/// The text with its variables. What those hold goes into `used`, but for variables that each server inherits.
pub(super) fn expand(
    text: &str,
    environment: &Environment,
    used: &mut Vec<Secret>,
) -> Result<String, (ConfigCode, String)> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, after)) = after.split_once('}') else {
            // It is no variable then, and stays as it is.
            out.push_str("${");
            rest = after;
            continue;
        };
        let (name, value) = variable(inside, environment)?;
        out.push_str(value);
        if !INHERITED.contains(&name) {
            used.push(Secret::new(value));
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Name and value of a variable.
fn variable<'e>(inside: &'e str, environment: &'e Environment) -> Result<(&'e str, &'e str), (ConfigCode, String)> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside.strip_prefix("env:").unwrap_or(inside), None),
    };
    let shown = toolwarden_text::clip(name, 80);
    let is_name = |name: &str| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    if name.is_empty() || !is_name(name) {
        let message =
            format!("`${{{shown}}}` is no variable; `${{NAME}}`, `${{NAME:-default}}` and `${{env:NAME}}` are");
        return Err((ConfigCode::UnknownVariable, message));
    }
    // An empty one counts as not set where there is a default, as in a shell.
    let value = environment.get(name).filter(|value| default.is_none() || !value.is_empty());
    value
        .or(default)
        .map(|value| (name, value))
        .ok_or_else(|| (ConfigCode::UnsetVariable, format!("the variable `{shown}` is not set")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_for_what_the_environment_holds() {
        let environment: Environment = [("A", "1"), ("NESTED", "${A}"), ("EMPTY", "")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let expanded = |text: &str| expand(text, &environment, &mut Vec::new()).map_err(|(code, _)| code.as_str());
        for (text, expected) in [
            ("plain $A %A% $", Ok("plain $A %A% $")),
            ("x${A}y${env:A}", Ok("x1y1")),
            ("${NESTED}", Ok("${A}")),
            ("${NO:-d:-e}${A:-d}${EMPTY:-d}${NO:-}", Ok("d:-e1d")),
            ("[${EMPTY}]", Ok("[]")),
            ("${A", Ok("${A")),
            ("${NO}", Err("unset-variable")),
            ("${env:NO}", Err("unset-variable")),
            ("${input:key}", Err("unknown-variable")),
            ("${workspaceFolder}", Err("unset-variable")),
            ("${}", Err("unknown-variable")),
            ("${1}", Err("unknown-variable")),
            ("${a b}", Err("unknown-variable")),
        ] {
            assert_eq!(expanded(text).as_deref().map_err(|e| *e), expected, "{text}");
        }
    }
}
