//! The component, embedded or from bytes, under settings.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use serde_json::{Value, json};
use toolwarden::call::{Call, CallId};
use toolwarden::invoke::{FactSource, Floors, Judge};
use toolwarden::module::{Component, Limits, Policy, PolicyModule};
use toolwarden::registry::{Catalogue, Generation, Registry};
use toolwarden::settings::{Format, Settings};

use crate::vectors;

/// A module to be tested in the place of the embedded one: one that was just built, say.
#[must_use]
pub fn other_module() -> Option<PathBuf> {
    std::env::var_os("TOOLWARDEN_TEST_MODULE").map(PathBuf::from)
}

/// The embedded component, or the one that `TOOLWARDEN_TEST_MODULE` names, loaded once.
///
/// # Errors
///
/// Where the machine cannot run it.
pub fn embedded() -> Result<Arc<Component>> {
    static COMPONENT: OnceLock<Arc<Component>> = OnceLock::new();
    if let Some(component) = COMPONENT.get() {
        return Ok(Arc::clone(component));
    }
    let component = Arc::new(match other_module() {
        None => Component::embedded(Limits::default())?,
        Some(path) => Component::from_file(&path, Limits::default())?,
    });
    Ok(Arc::clone(COMPONENT.get_or_init(|| component)))
}

/// Settings out of their JSON.
///
/// # Errors
///
/// Where the host rejects them.
pub fn settings(json: &Value) -> Result<Settings> {
    Ok(Settings::parse(&json.to_string(), Format::Json, std::path::Path::new(""))?)
}

/// A judge over a policy and a catalogue.
///
/// # Errors
///
/// Where no registry is published.
pub fn judge(policy: Arc<dyn Policy>, catalogue: Catalogue, floors: Floors) -> Result<Judge> {
    let registry = Registry::build(&*policy, catalogue, 0, Generation(1))?;
    Ok(Judge::new(policy, Arc::new(registry), floors))
}

/// The component under settings.
///
/// # Errors
///
/// Where the component rejects them.
pub fn configured(component: Arc<Component>, settings: &Settings) -> Result<Arc<dyn Policy>> {
    Ok(Arc::new(PolicyModule::new(component, &settings.policy_json())?))
}

/// The verdict on a record, as JSON. The policy's name and digest are left out: they differ from face to face.
///
/// # Errors
///
/// Where the record cannot be read.
pub fn verdict(judge: &Judge, record: &Value) -> Result<Value> {
    let call = Call::from_json(record.to_string().as_bytes())?;
    let judged = judge.judge(&call, FactSource::Record, false);
    let mut verdict = serde_json::to_value(judged.verdict.record(&CallId(call.id.0), judge.policy()))?;
    verdict["policy"] = json!(null);
    Ok(verdict)
}

/// What is wrong with a module's verdict on a row; none where it is as the row expects. A row of the cwd vectors expects a
/// class, a row of the gate vectors a verdict.
#[must_use]
pub fn mismatch(module: &Arc<Component>, row: &Value, record: fn(&Value) -> Value) -> Option<String> {
    let judged = |row: &Value| -> Result<Value> {
        let settings = settings(row.get("settings").unwrap_or(&json!({})))?;
        let policy = configured(Arc::clone(module), &settings)?;
        verdict(&judge(policy, vectors::catalogue(row)?, settings.floors)?, &record(row))
    };
    let mut row = row.clone();
    if row["expect"].get("class").is_some() {
        row["expect"] = json!({ "cwd": row["expect"] });
    }
    match judged(&row) {
        Ok(verdict) => vectors::mismatch(&row, &verdict),
        Err(error) => Some(format!("{}: {error:#}", row["id"])),
    }
}
