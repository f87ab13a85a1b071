//! Compiles the embedded policy module ahead of time, so that starting up compiles nothing.

use std::{env, error::Error, fs, path::PathBuf};

#[path = "src/module/tuning.rs"]
mod tuning;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let component = root.join("../policy-guest/dist/toolwarden-policy.wasm");
    println!("cargo::rerun-if-changed={}", component.display());
    println!("cargo::rerun-if-changed=src/module/tuning.rs");

    let mut config = tuning::config();
    // Named, so that the code uses no feature of this very processor that the next one may lack.
    config.target(&env::var("TARGET")?)?;
    let compiled = wasmtime::Engine::new(&config)?
        .precompile_component(&fs::read(&component)?)
        .map_err(|error| format!("cannot compile {}: {error:?}", component.display()))?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("policy.cwasm"), compiled)?;
    Ok(())
}
