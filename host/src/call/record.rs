//! The `decide` record: a call as it comes over a wire.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;
use toolwarden_text::clip;

use super::arguments::Arguments;
use super::facts::DefinitionTrust;
use super::strict;
use super::tool::ServerName;

/// Whether a person sits in front of the agent. There is no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attendance {
    /// A job that a schedule started.
    Scheduled,
    /// A subagent.
    Delegated,
    /// A session steered from afar.
    Remote,
    /// A person is there and can be asked.
    Interactive,
}

/// How the model addressed the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// Through `tool_invoke`.
    Bridge,
    /// By its own name.
    Direct,
}

/// Whose rules a path follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// Drives, both slashes, ASCII letters compare without case.
    Windows,
    /// `/`, bytes compare exactly.
    Posix,
}

impl Flavour {
    /// The flavour of the machine that this program runs on.
    pub const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };
}

/// Where the agent works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workspace {
    /// The root that a relative cwd starts from.
    pub root: String,
    /// Further roots. Default: none.
    #[serde(default)]
    pub extra_roots: Vec<String>,
    /// Whose rules the paths follow.
    #[serde(deserialize_with = "strict::word")]
    pub flavour: Flavour,
    /// The person's home folder. Default: not known.
    #[serde(default)]
    pub home: String,
    /// Folders whose subfolders are skills. Default: none.
    #[serde(default)]
    pub skills: Vec<String>,
}

/// What the caller calls this call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Facts that came with the record, found out by another host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenFacts {
    /// Real path of the cwd, or one for each way to read it. Default: nobody looked.
    #[serde(default)]
    pub resolved: OneOrMany,
    /// Real path of the workspace's root.
    pub resolved_root: Option<String>,
    /// Real paths of the extra roots. Default: none.
    #[serde(default)]
    pub resolved_extra_roots: Vec<String>,
    /// Real paths of the skills roots. Default: as the workspace names them.
    #[serde(default)]
    pub resolved_skills: Vec<String>,
    /// Whether resolving was tried and failed. Default: no.
    #[serde(default)]
    pub unresolvable: bool,
    /// Real paths of other arguments, by JSON pointer. Default: none.
    #[serde(default)]
    pub paths: BTreeMap<String, String>,
    /// How the definition compares with its baseline. Default: as the registry has it.
    #[serde(default, deserialize_with = "strict::optional_word")]
    pub trust: Option<DefinitionTrust>,
    /// What differs, in one line. Default: nothing said.
    #[serde(default)]
    pub trust_summary: String,
}

/// One text, or a list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OneOrMany {
    /// None.
    #[default]
    None,
    /// One.
    One(String),
    /// A list.
    Many(Vec<String>),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("expected a string or a list of strings");
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::One(text)),
            Value::Array(items) => {
                let text = |item| if let Value::String(text) = item { Ok(text) } else { Err(wrong()) };
                items.into_iter().map(text).collect::<Result<_, _>>().map(Self::Many)
            }
            _ => Err(wrong()),
        }
    }
}

impl OneOrMany {
    /// The texts.
    #[must_use]
    pub fn into_vec(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// Characters of a message at most. It may quote the input, which may be of any length.
const LONGEST_MESSAGE: usize = 400;

/// Why a record cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct RecordError {
    /// A stable code.
    pub code: &'static str,
    /// What is wrong, naming the place.
    pub message: String,
}

impl RecordError {
    /// An error.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: clip(&message.into(), LONGEST_MESSAGE).into_owned() }
    }
}

impl From<toolwarden_json::Error> for RecordError {
    fn from(error: toolwarden_json::Error) -> Self {
        Self::new(error.code.as_str(), error.message)
    }
}

/// A call as it was made, before anything is known about its tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the caller calls it.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The server, where the caller names one.
    pub server: Option<ServerName>,
    /// The arguments.
    pub arguments: Arc<Arguments>,
    /// How the tool was addressed.
    pub route: Route,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// Where the agent works.
    pub workspace: Arc<Workspace>,
    /// Facts that came along.
    pub facts: GivenFacts,
    /// Where the arguments held a duplicate key or an inexact number: what was said about it.
    pub ambiguous: Option<String>,
}

/// Characters of a call id or tool name at most. Source: ours; a name that no registry can hold is no name.
const LONGEST_WORD: usize = 1024;

/// Fields of a record.
const FIELDS: [&str; 8] = ["id", "tool", "server", "arguments", "route", "attendance", "workspace", "facts"];

impl Call {
    /// Reads one record.
    ///
    /// # Errors
    ///
    /// [`RecordError`] that names the field.
    pub fn from_json(text: &[u8]) -> Result<Self, RecordError> {
        let parsed = toolwarden_json::parse_lenient(text)?;
        let Value::Object(record) = parsed.value else {
            return Err(RecordError::new("not-a-record", "a record is a JSON object"));
        };
        let mut fields = Fields::of(record)?;
        // An ambiguous envelope of a bridged call is answered with a denial. Anything else ambiguous is unreadable.
        let ambiguous = match parsed.fault {
            Some(fault) if fields.is_bridged() && fault.pointer.starts_with("/arguments/") => Some(fault.message),
            Some(fault) => return Err(fault.into()),
            None => None,
        };
        let server = match fields.take("server") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => {
                Some(ServerName::new(&name).map_err(|e| RecordError::new("bad-server-name", e.to_string()))?)
            }
            Some(_) => return Err(RecordError::new("wrong-type", "`server` is neither a string nor null")),
        };
        Ok(Self {
            id: CallId(fields.word("id")?),
            tool: fields.word("tool")?,
            server,
            arguments: match fields.take("arguments") {
                None => Arc::default(),
                Some(value) => Arc::new(Arguments::from_value(value)?),
            },
            route: typed(&fields.required("route")?, "route", Shape::Word)?,
            attendance: typed(&fields.required("attendance")?, "attendance", Shape::Word)?,
            workspace: Arc::new(typed(&fields.required("workspace")?, "workspace", Shape::Object)?),
            facts: match fields.take("facts") {
                None => GivenFacts::default(),
                Some(value) => typed(&value, "facts", Shape::Object)?,
            },
            ambiguous,
        })
    }
}

/// The fields of a record, each in its place.
struct Fields([Option<Value>; FIELDS.len()]);

impl Fields {
    fn of(record: Map<String, Value>) -> Result<Self, RecordError> {
        let mut fields = Self(Default::default());
        for (key, value) in record {
            let Some(place) = fields.place(&key) else {
                return Err(RecordError::new("unknown-field", format!("unknown field `{}`", clip(&key, 60))));
            };
            *place = Some(value);
        }
        Ok(fields)
    }

    fn place(&mut self, field: &str) -> Option<&mut Option<Value>> {
        FIELDS.iter().position(|known| *known == field).and_then(|at| self.0.get_mut(at))
    }

    fn is_bridged(&mut self) -> bool {
        self.place("route").is_some_and(|route| route.as_ref().and_then(Value::as_str) == Some("bridge"))
    }

    fn take(&mut self, field: &str) -> Option<Value> {
        self.place(field)?.take()
    }

    fn required(&mut self, field: &'static str) -> Result<Value, RecordError> {
        self.take(field).ok_or_else(|| RecordError::new("missing-field", format!("missing field `{field}`")))
    }

    fn word(&mut self, field: &'static str) -> Result<String, RecordError> {
        match self.required(field)? {
            Value::String(text) if text.len() <= LONGEST_WORD || text.chars().nth(LONGEST_WORD).is_none() => Ok(text),
            Value::String(_) => {
                Err(RecordError::new("too-long", format!("`{field}` is longer than {LONGEST_WORD} characters")))
            }
            _ => Err(RecordError::new("wrong-type", format!("`{field}` is not a string"))),
        }
    }
}

/// What a field's value must be before it is read: a derived reader would also take a list for a table.
#[derive(Clone, Copy)]
enum Shape {
    Word,
    Object,
}

fn typed<T: serde::de::DeserializeOwned>(value: &Value, field: &'static str, shape: Shape) -> Result<T, RecordError> {
    match shape {
        Shape::Word if !value.is_string() => {
            return Err(RecordError::new("bad-field", format!("`{field}` is not a string, but one of a few words")));
        }
        Shape::Object if !value.is_object() => {
            return Err(RecordError::new("bad-field", format!("`{field}` is not an object")));
        }
        Shape::Word | Shape::Object => {}
    }
    // Keeping track of the place costs more than the reading, so it is looked for only where something is wrong.
    T::deserialize(value).or_else(|_| serde_path_to_error::deserialize(value)).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { field.into() } else { format!("{field}.{path}") };
        let (place, problem) = (clip(&place, 100), error.inner().to_string());
        RecordError::new("bad-field", format!("`{place}`: {}", clip(&problem, 280)))
    })
}
