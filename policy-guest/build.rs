//! A small module: a small stack, and a schema without the white space that makes its source readable.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/settings/schema.json");

    // No string of the schema spans lines, so what stands at the ends of lines is white space between tokens.
    let schema: String = fs::read_to_string("src/settings/schema.json")?.lines().map(str::trim).collect();
    fs::write(Path::new(&env::var("OUT_DIR")?).join("schema.json"), schema)?;

    // A policy call is shallow: 64 KiB of stack keep a fresh instance small, and an overflow traps instead of reaching data.
    // Only where this crate is the module: as a part of another one it makes nothing that is linked.
    let is_module = ["COMPONENT", "CORE_MODULE"].iter().any(|f| env::var_os(format!("CARGO_FEATURE_{f}")).is_some());
    if is_module && env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=65536");
    }
    Ok(())
}
