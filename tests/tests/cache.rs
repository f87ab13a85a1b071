//! The cache of compiled modules, seen from outside: whether a load compiles, and what `doctor` says.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwarden::module::{CachePolicy, Compilation, Component, Limits};
use toolwarden_harness::{cli, guests};

fn load(bytes: &[u8], cache: &CachePolicy) -> Compilation {
    Component::from_bytes_with(bytes, Limits::default(), cache).unwrap().compilation()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|all| all.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

#[test]
fn a_second_load_compiles_nothing_unless_the_file_is_torn_or_the_cache_is_off() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("modules");
    let cache = CachePolicy::Folder(folder.clone());
    let bytes = guests::load("habits").unwrap();

    assert_eq!(load(&bytes, &CachePolicy::Off), Compilation::Now);
    assert!(files(outer.path()).is_empty(), "no cache, and yet something was written");
    assert_eq!([load(&bytes, &cache), load(&bytes, &cache)], [Compilation::Now, Compilation::Cached]);
    let [file] = <[PathBuf; 1]>::try_from(files(&folder)).unwrap();

    let whole = fs::read(&file).unwrap();
    let mut turned = whole.clone();
    turned[whole.len() / 2] ^= 1;
    for torn in [&whole[..whole.len() - 1], &whole[..20], b"", &turned] {
        fs::write(&file, torn).unwrap();
        assert_eq!([load(&bytes, &cache), load(&bytes, &cache)], [Compilation::Now, Compilation::Cached]);
        assert_eq!(fs::read(&file).unwrap(), whole);
    }

    // The embedded module is compiled ahead of time and needs none of it.
    assert_eq!(Component::embedded(Limits::default()).unwrap().compilation(), Compilation::AheadOfTime);
    // Memory and deadline are no part of the code.
    let other = Limits { memory: 64 << 20, ..Limits::default() };
    assert_eq!(Component::from_bytes_with(&bytes, other, &cache).unwrap().compilation(), Compilation::Cached);
}

#[cfg(unix)]
#[test]
fn a_folder_or_file_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("modules");
    let cache = CachePolicy::Folder(folder.clone());
    let bytes = guests::load("habits").unwrap();
    load(&bytes, &cache);
    let [file] = <[PathBuf; 1]>::try_from(files(&folder)).unwrap();

    set(&file, 0o622);
    assert_eq!(load(&bytes, &cache), Compilation::Now);
    // It was written anew, by us alone.
    assert_eq!(load(&bytes, &cache), Compilation::Cached);
    set(&folder, 0o770);
    assert_eq!([load(&bytes, &cache), load(&bytes, &cache)], [Compilation::Now; 2]);

    let (health, found, fix) = doctor(&folder.display().to_string());
    assert_eq!(health, "optional");
    assert!(found.contains("written by others") && found.contains("cache-writable-by-others"), "{found}");
    assert!(fix.contains("chmod go-w"), "{fix}");
    set(&folder, 0o700);
    let (health, found, _) = doctor(&folder.display().to_string());
    assert_eq!(health, "good");
    assert!(found.contains("1 compiled module"), "{found}");
}

#[test]
fn the_command_line_keeps_modules_and_doctor_says_so() {
    let outer = tempfile::tempdir().unwrap();
    let module = outer.path().join("m.wasm");
    fs::write(&module, guests::load("habits").unwrap()).unwrap();
    let folder = outer.path().join("kept");
    let place = folder.display().to_string();
    for _ in 0..2 {
        let check = ["policy", "check", module.to_str().unwrap()];
        let output = cli::run_with(&[("TOOLWARDEN_CACHE", &place)], &check, b"").unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(cli::lines(&output).unwrap()[0]["imports"], serde_json::json!([]));
        assert_eq!(files(&folder).len(), 1);
    }
    assert!(doctor("off").1.starts_with("off"));
    assert!(doctor("somewhere").1.contains("cache-without-place"));
}

/// What `doctor` says of the cache: health, what it found, what to type.
fn doctor(cache: &str) -> (String, String, String) {
    let output = cli::run_with(&[("TOOLWARDEN_CACHE", cache)], &["doctor"], b"").unwrap();
    assert_eq!(output.status.code(), Some(0));
    let lines = cli::lines(&output).unwrap();
    let finding = lines.into_iter().find(|line| line["what"] == "module cache").unwrap();
    let text = |field: &str| finding.get(field).and_then(Value::as_str).unwrap().to_owned();
    (text("health"), text("found"), text("fix"))
}
