//! What is installed, and that it is found.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result};

use crate::support::{HERE, Installed, output};

/// The library, installed once for all tests of this run.
pub fn installed() -> Result<Installed> {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(installed) = INSTALLED.get() {
        return Ok(installed.clone());
    }
    let installed = Installed::into(target()?, "toolwarden-c")?;
    Ok(INSTALLED.get_or_init(|| installed).clone())
}

/// The target folder of this very build.
pub fn target() -> Result<&'static Path> {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().context("no target folder")
}

#[test]
fn header_libraries_and_pkg_config_file_are_there() -> Result<()> {
    let installed = installed()?;
    for file in ["include/toolwarden.h", "lib/libtoolwarden.so.1", "lib/libtoolwarden.a", "lib/pkgconfig/toolwarden.pc"]
    {
        assert!(installed.prefix.join(file).is_file(), "{file}");
    }
    assert_eq!(std::fs::read_link(installed.library().join("libtoolwarden.so"))?, Path::new("libtoolwarden.so.1"));
    assert_eq!(installed.pkg_config(&["--modversion"])?, [env!("CARGO_PKG_VERSION")]);
    let libraries = installed.pkg_config(&["--libs"])?;
    assert_eq!(libraries, [format!("-L{}", installed.library().display()), "-ltoolwarden".into()]);
    Ok(())
}

#[test]
fn the_shared_library_exports_the_header_and_nothing_else() -> Result<()> {
    let library = installed()?.library().join("libtoolwarden.so");
    let symbols = output(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(&library))?;
    let symbols = String::from_utf8(symbols.stdout)?;
    let exported: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split(' ').next()).collect();
    let header = std::fs::read_to_string(Path::new(HERE).join("include/toolwarden.h"))?;
    let declared: BTreeSet<&str> = header
        .lines()
        .filter(|line| line.ends_with(");"))
        .filter_map(|line| line.split('(').next()?.split(' ').next_back())
        .collect();
    assert_eq!(exported, declared);
    assert_eq!(exported.len(), 14);
    Ok(())
}

#[test]
fn the_name_for_the_loader_carries_the_version_of_the_abi() -> Result<()> {
    let installed = installed()?;
    let dynamic = output(Command::new("readelf").arg("-d").arg(installed.library().join("libtoolwarden.so")))?;
    let dynamic = String::from_utf8(dynamic.stdout)?;
    let header = std::fs::read_to_string(installed.prefix.join("include/toolwarden.h"))?;
    let version = header.lines().find_map(|line| line.strip_prefix("#define TW_ABI_VERSION ")).context("no version")?;
    assert!(dynamic.contains(&format!("Library soname: [libtoolwarden.so.{version}]")), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    Ok(())
}

/// A package is built into one folder, for another. What is taken off again leaves nothing.
#[test]
fn destdir_stands_before_the_prefix_and_uninstall_takes_all_off() -> Result<()> {
    installed()?;
    let stage = tempfile::tempdir()?;
    let make = |goal: &str| -> Result<()> {
        let mut make = Command::new("make");
        make.args(["-C", HERE, goal, "PREFIX=/opt/tw"]).arg(format!("TARGET={}", target()?.display()));
        output(make.arg(format!("DESTDIR={}", stage.path().display()))).map(drop)
    };
    make("install-strip")?;
    let config = std::fs::read_to_string(stage.path().join("opt/tw/lib/pkgconfig/toolwarden.pc"))?;
    assert!(config.starts_with("prefix=/opt/tw\nincludedir=/opt/tw/include\nlibdir=/opt/tw/lib\n"), "{config}");
    assert!(!config.contains('@') && !config.contains(&*stage.path().to_string_lossy()), "{config}");
    make("uninstall")?;
    let files = output(Command::new("find").arg(stage.path()).args(["-not", "-type", "d"]))?;
    assert_eq!(String::from_utf8(files.stdout)?, "");
    Ok(())
}
