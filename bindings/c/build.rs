//! Names the shared library for the loader, and keeps it loaded.

use std::env;

/// Counted up when a program that was built before would not run any more. `TW_ABI_VERSION` says the same; a test compares.
const ABI: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtoolwarden.so.{ABI}");
            // Its threads and signal handlers outlive a dlclose.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        Ok("macos") => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libtoolwarden.{ABI}.dylib"),
        _ => {}
    }
}
