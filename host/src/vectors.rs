//! Vectors: rows of JSON that say what a policy must answer. Modules carry their own, and the host has some for every module.
//!
//! A row is a call of `decide` and what must come of it:
//!
//! ```text
//! {"id":"r1","note":"why","settings":{...},"catalogue":{"tools":[...]},"call":{...},
//!  "expect":{"verdict":"ask","kind":"external-cwd","decidedBy":"cwd-gate"}}
//! ```
//!
//! or a cwd and where it lies: `{"id":"c1","cwd":"..","workspace":{...},"resolved":...,"resolvedRoot":...,"expect":{"class":
//! "outside","why":"parent-escape"}}`. `settings`, `catalogue`, `note` and each member of `expect` may be left out.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::call::{Call, RecordError};
use crate::invoke::{FactSource, Judge, Judged};
use crate::module::{Component, Policy, PolicyModule, StepOutcome};
use crate::registry::{Catalogue, Generation, Registry, Servers};
use crate::settings::{Format, Settings};

/// Members that `expect` may have.
const EXPECTATIONS: [&str; 10] =
    ["verdict", "kind", "cwd", "class", "why", "detail", "detailContains", "reasonContains", "decidedBy", "trail"];

/// Judges that a runner keeps at once.
const MOST_JUDGES: usize = 32;

/// Why a row is none.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct VectorError {
    /// The line.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its name.
    pub id: String,
    /// Why it is there.
    pub note: String,
    /// Settings of its own, as JSON; none: those that the module runs under.
    pub settings: Option<Value>,
    catalogue: Option<Value>,
    call: Call,
    expect: Map<String, Value>,
}

impl Vector {
    /// All rows of a text, a line each.
    ///
    /// # Errors
    ///
    /// [`VectorError`] for the first line that is no row.
    pub fn parse_all(text: &[u8]) -> Result<Vec<Self>, VectorError> {
        let lines = text.split(|&byte| byte == b'\n').enumerate();
        let rows = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
        rows.map(|(at, line)| Self::parse(line).map_err(|problem| VectorError { line: at + 1, problem })).collect()
    }

    fn parse(line: &[u8]) -> Result<Self, String> {
        let Value::Object(mut row) = toolwarden_json::parse(line).map_err(|error| error.to_string())? else {
            return Err("a row is an object".into());
        };
        let Some(Value::String(id)) = row.remove("id") else { return Err("`id` is missing or no text".into()) };
        let Some(Value::Object(expect)) = row.remove("expect") else {
            return Err("`expect` is missing or no object".into());
        };
        if let Some(unknown) = expect.keys().find(|key| !EXPECTATIONS.contains(&key.as_str())) {
            return Err(format!("`expect.{unknown}` is unknown; known are {}", EXPECTATIONS.join(", ")));
        }
        if expect.is_empty() {
            return Err("`expect` expects nothing".into());
        }
        let note = row.get("note").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (settings, catalogue) = (row.remove("settings"), row.remove("catalogue"));
        let mut record = match row.remove("call") {
            Some(Value::Object(call)) => call,
            Some(_) => return Err("`call` is no object".into()),
            None => shell(&row)?,
        };
        record.insert("id".into(), id.clone().into());
        let call = Call::from_json(Value::Object(record).to_string().as_bytes());
        let call = call.map_err(|error: RecordError| format!("the call cannot be read: {error}"))?;
        Ok(Self { id, note, settings, catalogue, call, expect })
    }

    /// The call.
    #[must_use]
    pub const fn call(&self) -> &Call {
        &self.call
    }

    /// What a member of `expect` says.
    #[must_use]
    pub fn expected(&self, member: &str) -> Option<&Value> {
        self.expect.get(member)
    }

    /// What is wrong with the judgement of a judge; none where it is as expected.
    #[must_use]
    pub fn mismatch(&self, judged: &Judged) -> Option<String> {
        let verdict = &judged.verdict;
        let decided = judged.trail.iter().find(|step| step.outcome == StepOutcome::Decided);
        let cwd = json!(verdict.cwd);
        self.expect.iter().find_map(|(key, wanted)| {
            let found = match key.as_str() {
                "verdict" => json!(verdict.decision),
                "kind" => json!(verdict.kind),
                "cwd" => cwd.clone(),
                "class" => cwd.get("class").cloned().unwrap_or_default(),
                "why" => cwd.get("why").cloned().unwrap_or_default(),
                "detail" => json!(verdict.detail),
                "detailContains" => return lacks(key, wanted, &verdict.detail),
                "reasonContains" => return lacks(key, wanted, &verdict.reason),
                "decidedBy" => json!(decided.map(|step| &step.rule)),
                _ => json!(judged.trail.iter().map(|step| &step.rule).collect::<Vec<_>>()),
            };
            (found != *wanted).then(|| format!("{key} is {found} instead of {wanted}"))
        })
    }
}

/// The call of a row that only tells a cwd: a shell that would start there.
fn shell(row: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let Some(workspace) = row.get("workspace") else { return Err("there is neither `call` nor `workspace`".into()) };
    let mut arguments = json!({ "command": "ls" });
    if let (Some(cwd), Some(arguments)) = (row.get("cwd"), arguments.as_object_mut()) {
        arguments.insert("cwd".into(), cwd.clone());
    }
    let mut record = Map::new();
    if let Some(resolved) = row.get("resolved") {
        record.insert("facts".into(), json!({ "resolved": resolved, "resolvedRoot": row.get("resolvedRoot") }));
    }
    record.insert("tool".into(), "Bash".into());
    record.insert("arguments".into(), arguments);
    record.insert("route".into(), "direct".into());
    record.insert("attendance".into(), "interactive".into());
    record.insert("workspace".into(), workspace.clone());
    Ok(record)
}

/// The first wanted text that another lacks.
fn lacks(key: &str, wanted: &Value, text: &str) -> Option<String> {
    let wanted = wanted.as_array().map_or_else(|| std::slice::from_ref(wanted), Vec::as_slice);
    let missing = wanted.iter().find(|wanted| wanted.as_str().is_none_or(|wanted| !text.contains(wanted)))?;
    Some(format!("{key}: {text:?} lacks {missing}"))
}

/// Runs rows against a component: each under its own settings and catalogue, or under those that are given.
#[derive(Debug)]
pub struct Runner {
    component: Arc<Component>,
    settings: Settings,
    judges: HashMap<String, Result<Arc<Judge>, String>>,
}

impl Runner {
    /// A runner.
    #[must_use]
    pub fn new(component: Arc<Component>, settings: Settings) -> Self {
        Self { component, settings, judges: HashMap::new() }
    }

    /// What came of a row, with the rules that were looked at.
    ///
    /// # Errors
    ///
    /// Where the row's settings or catalogue cannot be used.
    pub fn run(&mut self, vector: &Vector) -> Result<Judged, String> {
        let key = json!([vector.settings, vector.catalogue]).to_string();
        let judge = if let Some(judge) = self.judges.get(&key) {
            judge.clone()
        } else {
            // Each holds an instance, and an engine has so many.
            if self.judges.len() >= MOST_JUDGES {
                self.judges.clear();
            }
            let judge = self.judge(vector);
            self.judges.insert(key, judge.clone());
            judge
        };
        Ok(judge?.judge(&vector.call, FactSource::Record, true))
    }

    fn judge(&self, vector: &Vector) -> Result<Arc<Judge>, String> {
        let settings = match &vector.settings {
            None => self.settings.clone(),
            Some(json) => {
                let settings = Settings::parse(&json.to_string(), Format::Json, Path::new(""));
                settings.map_err(|error| format!("the row's settings: {error}"))?
            }
        };
        let catalogue = match &vector.catalogue {
            None => Catalogue::builtin(),
            Some(lists) => Servers::from_json(lists.to_string().as_bytes(), None)
                .and_then(Catalogue::with_servers)
                .map_err(|error| format!("the row's catalogue: {error}"))?,
        };
        let module = PolicyModule::new(Arc::clone(&self.component), &settings.policy_json());
        let module: Arc<dyn Policy> = Arc::new(module.map_err(|error| error.to_string())?);
        let registry = Registry::build(&*module, catalogue, 0, Generation(1)).map_err(|error| error.to_string())?;
        Ok(Arc::new(Judge::new(module, Arc::new(registry), settings.floors)))
    }
}
