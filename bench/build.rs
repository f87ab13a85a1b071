//! Tells the program which compiler built it.

use std::process::Command;
use std::{env, io};

fn main() -> io::Result<()> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output()?.stdout;
    println!("cargo::rustc-env=BENCH_RUSTC={}", String::from_utf8_lossy(&version).trim());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
