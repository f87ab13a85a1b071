#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::*;

fn key(name: &str) -> Key {
    Key(name.into())
}

fn cache() -> (tempfile::TempDir, CachePolicy, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("deep/modules");
    (outer, CachePolicy::Folder(folder.clone()), folder)
}

fn loaded(cache: &CachePolicy, name: &str) -> Option<Vec<u8>> {
    cache.load(&key(name)).unwrap().map(|code| code.0)
}

#[test]
fn what_is_kept_comes_back() {
    let (_outer, cache, _) = cache();
    assert_eq!(loaded(&cache, "a"), None);
    cache.store(&key("a"), b"code").unwrap();
    cache.store(&key("b"), b"").unwrap();
    assert_eq!(loaded(&cache, "a").unwrap(), b"code");
    assert_eq!(loaded(&cache, "b").unwrap(), b"");
    assert_eq!(cache.report().unwrap().modules, 2);
    assert_eq!(CachePolicy::Off.load(&key("a")).unwrap().map(|code| code.0), None);
}

#[test]
fn a_torn_cut_or_renamed_file_is_none() {
    let (_outer, cache, folder) = cache();
    cache.store(&key("a"), b"code").unwrap();
    let path = file_of(&folder, &key("a"));
    let whole = fs::read(&path).unwrap();
    fs::rename(&path, file_of(&folder, &key("b"))).unwrap();
    assert_eq!(loaded(&cache, "b"), None);
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(loaded(&cache, "a"), None, "{length}");
        let mut turned = whole.clone();
        turned[length] ^= 1;
        fs::write(&path, &turned).unwrap();
        assert_eq!(loaded(&cache, "a"), None, "{length}");
    }
    cache.store(&key("a"), b"code").unwrap();
    assert_eq!(loaded(&cache, "a").unwrap(), b"code");
}

#[test]
fn the_oldest_go_and_so_does_what_was_left_behind() {
    let (_outer, cache, folder) = cache();
    let age = |path: &Path, hours: u64| {
        let then = SystemTime::now() - Duration::from_hours(hours);
        File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    };
    for number in 0..FILES {
        cache.store(&key(&format!("n{number}")), b"code").unwrap();
        age(&file_of(&folder, &key(&format!("n{number}"))), 1000 - number as u64);
    }
    let left = folder.join(".writing-x");
    fs::write(&left, b"").unwrap();
    age(&left, 2);
    fs::write(folder.join(".writing-y"), b"").unwrap();
    // The oldest was used, so the second oldest goes.
    assert!(loaded(&cache, "n0").is_some());
    cache.store(&key("new"), b"code").unwrap();
    assert!(loaded(&cache, "n0").is_some() && loaded(&cache, "n2").is_some() && loaded(&cache, "new").is_some());
    assert_eq!(loaded(&cache, "n1"), None);
    assert!(!left.exists() && folder.join(".writing-y").exists());

    // By size. The files are sparse, so they take no space.
    File::options().write(true).open(file_of(&folder, &key("n5"))).unwrap().set_len(BYTES).unwrap();
    age(&file_of(&folder, &key("n5")), 1);
    cache.store(&key("newer"), b"code").unwrap();
    assert!(loaded(&cache, "newer").is_some() && loaded(&cache, "n6").is_some());
    assert_eq!(loaded(&cache, "n5"), None);
    assert!(cache.report().unwrap().bytes <= BYTES);
}

#[cfg(unix)]
#[test]
fn what_others_can_write_is_not_used() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (outer, cache, folder) = cache();
    cache.store(&key("a"), b"code").unwrap();
    let path = file_of(&folder, &key("a"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    let code = || cache.load(&key("a")).map(|code| code.is_some()).map_err(|e| e.code());

    for (open, closed, place) in [(0o777, 0o700, &folder), (0o720, 0o700, &folder), (0o602, 0o600, &path)] {
        set(place, open);
        assert_eq!(code(), Err("cache-writable-by-others"));
        set(place, closed);
        assert_eq!(code(), Ok(true));
    }
    set(&folder, 0o777);
    assert_eq!(cache.store(&key("b"), b"code").unwrap_err().code(), "cache-writable-by-others");
    assert_eq!(cache.report().unwrap_err().code(), "cache-writable-by-others");
    set(&folder, 0o700);

    let second = folder.join("second-name");
    fs::hard_link(&path, &second).unwrap();
    assert_eq!(code(), Err("cache-misshapen"));
    fs::remove_file(&path).unwrap();
    symlink(&second, &path).unwrap();
    assert_eq!(code(), Err("cache-misshapen"));

    let link = outer.path().join("link");
    symlink(&folder, &link).unwrap();
    let linked = CachePolicy::Folder(link);
    assert_eq!(linked.load(&key("a")).map(|_| ()).unwrap_err().code(), "cache-misshapen");
    // `/` is root's, and so somebody else's for anybody but root.
    let root = CachePolicy::Folder("/".into());
    assert!(rustix::process::geteuid().is_root() || root.report().unwrap_err().code() == "cache-foreign");
}

#[test]
fn the_place_is_the_systems_own() {
    let place = |variables: &[(&str, &str)], home: Option<&str>| {
        let variables: BTreeMap<String, OsString> =
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        place::of_user(|name| variables.get(name).cloned(), home.map(Path::new)).map_err(|error| error.code())
    };
    assert_eq!(place(&[("TOOLWARDEN_CACHE", "off")], None), Ok(CachePolicy::Off));
    for wrong in ["", "no", "relative/path"] {
        assert_eq!(place(&[("TOOLWARDEN_CACHE", wrong)], Some("/home/u")), Err("cache-without-place"), "{wrong}");
    }
    assert_eq!(place(&[], None), Err("cache-without-place"));
    if cfg!(all(unix, not(target_os = "macos"))) {
        let folder = |path: &str| Ok(CachePolicy::Folder(path.into()));
        assert_eq!(place(&[("TOOLWARDEN_CACHE", "/x")], None), folder("/x"));
        assert_eq!(place(&[], Some("/home/u")), folder("/home/u/.cache/toolwarden/modules"));
        assert_eq!(place(&[("XDG_CACHE_HOME", "/c")], Some("/home/u")), folder("/c/toolwarden/modules"));
        assert_eq!(place(&[("XDG_CACHE_HOME", "c")], Some("/home/u")), folder("/home/u/.cache/toolwarden/modules"));
        assert_eq!(place(&[], Some("home")), Err("cache-without-place"));
    }
}
