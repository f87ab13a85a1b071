//! The header is what the sources say, and any compiler takes it.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::install::target;
use crate::support::{HERE, Language, output, run};

#[test]
fn the_header_is_that_of_the_sources() -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--release", "--locked", "--target-dir"]).arg(target()?);
    let written = output(cargo.current_dir(Path::new(HERE).join("header")))?;
    let committed = std::fs::read_to_string(Path::new(HERE).join("include/toolwarden.h"))?;
    let written = String::from_utf8(written.stdout)?;
    assert!(written == committed, "include/toolwarden.h is out of date: make -C bindings/c header");
    Ok(())
}

/// Alone, twice, and without a warning.
#[test]
fn the_header_stands_by_itself_in_c_and_in_cpp() -> Result<()> {
    for (language, name) in [(Language::C11, "c"), (Language::Cpp17, "c++")] {
        let mut compiler = language.compiler();
        compiler.args(["-fsyntax-only", "-Wconversion", "-Wundef", "-x", name, "-"]);
        compiler.arg(format!("-I{}", Path::new(HERE).join("include").display()));
        run(&mut compiler, b"#include <toolwarden.h>\n#include <toolwarden.h>\n")?;
    }
    Ok(())
}
