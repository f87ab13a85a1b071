//! Packs the kit for module authors into the program. The crates are published nowhere, so `toolwarden policy new` writes
//! their sources beside the new crate. Whatever their manifests say is taken from this repository's own: nothing is typed a
//! second time, so nothing can fall behind.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// The crates, as folders of the repository. They keep their places to each other.
const CRATES: [&str; 3] = ["policy-guest", "crates/json", "crates/text"];
/// Where they lie in a new crate.
const PLACE: &str = "vendor";

/// The text of a Rust file with what `host/src/authoring/new.rs` writes out.
pub fn pack(root: &Path) -> Result<String, Box<dyn Error>> {
    let workspace: Table = table(&root.join("Cargo.toml"))?;
    let shared = section(&workspace, "workspace")?;
    let known = section(shared, "dependencies")?;

    let mut files = vec![(format!("{PLACE}/LICENSE"), text(&root.join("LICENSE"))?)];
    collect(root, "wit", &mut files)?;
    let mut names = Vec::new();
    let mut dependencies = Table::new();
    for folder in CRATES {
        let manifest = manifest(table(&root.join(folder).join("Cargo.toml"))?);
        for name in needed(&manifest) {
            let dependency = known.get(&name).ok_or_else(|| format!("{folder}: {name} is no dependency of all"))?;
            dependencies.insert(name, at_its_place(dependency));
        }
        names.push(section(&manifest, "package")?["name"].as_str().ok_or("a crate without a name")?.to_owned());
        files.push((format!("{PLACE}/{folder}/Cargo.toml"), manifest.to_string()));
        collect(root, &format!("{folder}/src"), &mut files)?;
        if root.join(folder).join("build.rs").is_file() {
            collect(root, &format!("{folder}/build.rs"), &mut files)?;
        }
    }
    for name in &names {
        dependencies.insert(name.clone(), at_its_place(known.get(name).ok_or("a crate that is no dependency of all")?));
    }

    let lock = lock(&table(&root.join("Cargo.lock"))?, &names, &dependencies)?;

    let mut own = Table::new();
    for (key, value) in [("package", &shared["package"]), ("lints", &shared["lints"])] {
        own.insert(key.into(), value.clone());
    }
    own.insert("dependencies".into(), Value::Table(dependencies));
    let own = Table::from_iter([("workspace".to_owned(), Value::Table(own))]);

    let mut out = String::new();
    writeln!(out, "pub(super) const WORKSPACE: &str = {:?};", own.to_string())?;
    writeln!(out, "pub(super) const LOCK: &str = {:?};", lock.to_string())?;
    writeln!(out, "pub(super) const PROFILE: &str = {:?};", text(&root.join("policy-guest/.cargo/config.toml"))?)?;
    writeln!(out, "pub(super) const NAMES: &[&str] = &{names:?};")?;
    writeln!(out, "pub(super) const FILES: &[(&str, &str)] = &{files:?};")?;
    Ok(out)
}

/// A manifest as a part of another module: nothing of its own to export, link, or test.
fn manifest(mut manifest: Table) -> Table {
    manifest.remove("dev-dependencies");
    // With the default features on, a build of the whole workspace would export the default module beside the author's.
    if let Some(features) = manifest.get_mut("features").and_then(Value::as_table_mut) {
        features.insert("default".into(), Value::Array(Vec::new()));
    }
    let lib = Table::from_iter(["test", "doctest"].map(|key| (key.to_owned(), Value::Boolean(false))));
    manifest.insert("lib".into(), Value::Table(lib));
    manifest
}

/// Names of all that a crate depends on.
fn needed(manifest: &Table) -> Vec<String> {
    dependency_tables(manifest).iter().flat_map(|table| table.keys().cloned()).collect()
}

/// The versions that this repository was tested with: of the lock file, all that the crates need, however far off. Cargo adds
/// what is missing, the crates themselves.
fn lock(lock: &Table, names: &[String], dependencies: &Table) -> Result<Table, Box<dyn Error>> {
    let packages = lock.get("package").and_then(Value::as_array).ok_or("a lock file without packages")?;
    let is = |package: &Value, wanted: &str| {
        let mut words = wanted.split(' ');
        words.next() == package["name"].as_str() && words.next().is_none_or(|v| package["version"].as_str() == Some(v))
    };
    let needs = |package: &Value| -> Vec<String> {
        let list = package.get("dependencies").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let own = packages.iter().filter(|package| names.iter().any(|name| is(package, name)));
    let mut wanted: Vec<String> = own.flat_map(needs).collect();
    // What only their tests need is left out, and so are they.
    wanted.retain(|wanted| wanted.split(' ').next().is_some_and(|name| dependencies.contains_key(name)));
    wanted.retain(|wanted| !names.contains(wanted));
    let mut kept: Vec<&Value> = Vec::new();
    while let Some(next) = wanted.pop() {
        let package = packages.iter().find(|package| is(package, &next)).ok_or("a lock file that lacks a package")?;
        if !kept.contains(&package) {
            kept.push(package);
            wanted.append(&mut needs(package));
        }
    }
    let kept = packages.iter().filter(|package| kept.contains(package)).cloned().collect();
    Ok(Table::from_iter([
        ("version".to_owned(), lock.get("version").ok_or("a lock file without a version")?.clone()),
        ("package".to_owned(), Value::Array(kept)),
    ]))
}

/// `[dependencies]`, and those of each target.
fn dependency_tables(manifest: &Table) -> Vec<&Table> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    let tables = [manifest].into_iter().chain(targets);
    tables.filter_map(|table| table.get("dependencies").and_then(Value::as_table)).collect()
}

/// A dependency of the workspace; a crate of this repository lies in its new place.
fn at_its_place(dependency: &Value) -> Value {
    let mut dependency = dependency.clone();
    if let Some(path) = dependency.get_mut("path")
        && let Some(old) = path.as_str()
    {
        *path = Value::String(format!("{PLACE}/{old}"));
    }
    dependency
}

/// Adds a file, or all files of a folder in order of their names, so that the program is the same wherever it is built.
fn collect(root: &Path, name: &str, files: &mut Vec<(String, String)>) -> Result<(), Box<dyn Error>> {
    let path = root.join(name);
    if path.is_file() {
        files.push((format!("{PLACE}/{name}"), text(&path)?));
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", path.display());
    let mut entries = fs::read_dir(&path)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        collect(root, &format!("{name}/{}", entry.file_name().to_string_lossy()), files)?;
    }
    Ok(())
}

fn text(path: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    Ok(fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?)
}

fn table(path: &Path) -> Result<Table, Box<dyn Error>> {
    Ok(text(path)?.parse::<Table>().map_err(|error| format!("{}: {error}", path.display()))?)
}

fn section<'t>(table: &'t Table, key: &str) -> Result<&'t Table, Box<dyn Error>> {
    Ok(table.get(key).and_then(Value::as_table).ok_or_else(|| format!("no section `{key}`"))?)
}
