//! Compiles the embedded policy module ahead of time, so that starting up compiles nothing, and packs the sources that a
//! module's author needs.

use std::{env, error::Error, fs, path::PathBuf};

use sha2::{Digest as _, Sha256};

#[path = "src/module/tuning.rs"]
mod tuning;
#[path = "build/vendor.rs"]
mod vendor;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let path = root.join("../policy-guest/dist/toolwarden-policy.wasm");
    let component = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    println!("cargo::rerun-if-changed={}", path.display());
    println!("cargo::rerun-if-changed=src/module/tuning.rs");
    println!("cargo::rerun-if-changed=build");

    let mut config = tuning::config();
    // Named, so that the code uses no feature of this very processor that the next one may lack.
    config.target(&env::var("TARGET")?)?;
    let compiled = wasmtime::Engine::new(&config)?
        .precompile_component(&component)
        .map_err(|error| format!("cannot compile {}: {error:?}", path.display()))?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("policy.cwasm"), compiled)?;
    fs::write(out.join("policy.sha256"), Sha256::digest(&component))?;
    fs::write(out.join("vendor.rs"), vendor::pack(&root.join(".."))?)?;
    Ok(())
}
