//! Policy modules that misbehave.

use anyhow::{Context as _, Result};

/// A component of `tests/guests/`: a built one, `NAME.wasm`, or one written as text, `NAME.wat`.
///
/// # Errors
///
/// Where there is none.
pub fn load(name: &str) -> Result<Vec<u8>> {
    let path = crate::vectors::folder().join("guests").join(name);
    let built = path.with_extension("wasm");
    if built.is_file() {
        return Ok(std::fs::read(built)?);
    }
    let text = path.with_extension("wat");
    wat::parse_file(&text).with_context(|| text.display().to_string())
}
