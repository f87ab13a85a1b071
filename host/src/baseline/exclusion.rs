//! What a person took out of the comparison, by name.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use toolwarden_text::clip;

use super::pointer::{is_pointer, keys};
use super::snapshot::ServerSnapshot;
use crate::call::ServerName;

/// Something that does not count. It is part of the baseline: with another exclusion, it is another baseline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Exclusion {
    /// A place in one tool's definition. Its value may change; that it is there, and of which type, still counts.
    Volatile {
        /// Of which server.
        server: String,
        /// Raw name of the tool.
        tool: String,
        /// JSON pointer into the definition.
        pointer: String,
    },
    /// A key of `_meta`, of all tools of a server.
    MetaKey {
        /// Of which server.
        server: String,
        /// Which key.
        #[serde(rename = "metaKey")]
        key: String,
    },
}

/// Why something cannot be excluded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ExclusionError {
    /// It is no pointer, or to what makes the tool what it is.
    #[error("`{}` cannot be excluded: it is {problem}", clip(.pointer, 200))]
    Pointer {
        /// What was named.
        pointer: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The server's name is none.
    #[error("`{}` is no server name", clip(.0, 60))]
    Server(String),
    /// What is excluded is not there; it would be a blank cheque.
    #[error("{0} is not there, so it cannot be excluded")]
    Absent(Box<Exclusion>),
}

impl ExclusionError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Pointer { .. } | Self::Server(_) => "bad-exclusion",
            Self::Absent(_) => "exclusion-absent",
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volatile { server, tool, pointer } => {
                write!(f, "`{}` of `{}` of server `{server}`", clip(pointer, 200), clip(tool, 100))
            }
            Self::MetaKey { server, key } => write!(f, "`_meta` key `{}` of server `{server}`", clip(key, 100)),
        }
    }
}

impl Exclusion {
    /// Which server it is about.
    #[must_use]
    pub fn server(&self) -> &str {
        let (Self::Volatile { server, .. } | Self::MetaKey { server, .. }) = self;
        server
    }

    fn check(&self) -> Result<(), ExclusionError> {
        ServerName::new(self.server()).map_err(|_| ExclusionError::Server(self.server().into()))?;
        let Self::Volatile { pointer, .. } = self else { return Ok(()) };
        let problem = match keys(pointer).next().as_deref() {
            _ if !is_pointer(pointer) => "no JSON pointer",
            None => "the whole definition",
            Some("name") => "the tool's name",
            _ => return Ok(()),
        };
        Err(ExclusionError::Pointer { pointer: pointer.clone(), problem })
    }

    fn is_in(&self, list: &ServerSnapshot) -> bool {
        match self {
            Self::Volatile { tool, pointer, .. } => {
                list.tool(tool).is_some_and(|tool| tool.definition().pointer(pointer).is_some())
            }
            Self::MetaKey { key, .. } => {
                list.tools().any(|tool| tool.definition().get("_meta").is_some_and(|meta| meta.get(key).is_some()))
            }
        }
    }
}

/// All that does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Exclusions(BTreeSet<Exclusion>);

impl Exclusions {
    /// These exclusions.
    ///
    /// # Errors
    ///
    /// [`ExclusionError`] where one can never be.
    pub fn new(exclusions: impl IntoIterator<Item = Exclusion>) -> Result<Self, ExclusionError> {
        let exclusions: BTreeSet<_> = exclusions.into_iter().collect();
        exclusions.iter().try_for_each(Exclusion::check)?;
        Ok(Self(exclusions))
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Exclusion> {
        self.0.iter()
    }

    /// Those that are about a server.
    pub(super) fn of_server<'e>(&'e self, server: &'e str) -> impl Iterator<Item = &'e Exclusion> + Clone {
        self.0.iter().filter(move |exclusion| exclusion.server() == server)
    }

    /// Whether all that is excluded is there.
    pub(super) fn check_in<'l>(&self, list: impl Fn(&str) -> Option<&'l ServerSnapshot>) -> Result<(), ExclusionError> {
        let absent = self.iter().find(|exclusion| !list(exclusion.server()).is_some_and(|list| exclusion.is_in(list)));
        absent.map_or(Ok(()), |exclusion| Err(ExclusionError::Absent(Box::new(exclusion.clone()))))
    }

    /// Volatile places of a tool, the outer ones first.
    pub(super) fn places<'e>(&'e self, server: &'e str, tool: &'e str) -> impl Iterator<Item = &'e str> {
        self.of_server(server).filter_map(move |exclusion| match exclusion {
            Exclusion::Volatile { tool: of, pointer, .. } if of == tool => Some(pointer.as_str()),
            _ => None,
        })
    }

    /// Keys of `_meta` that do not count at a server.
    pub(super) fn meta_keys<'e>(&'e self, server: &'e str) -> impl Iterator<Item = &'e str> + Clone {
        self.of_server(server).filter_map(|exclusion| match exclusion {
            Exclusion::MetaKey { key, .. } => Some(key.as_str()),
            Exclusion::Volatile { .. } => None,
        })
    }

    /// As a value, for the fingerprint.
    pub(super) fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// A definition without what does not count, where the accepted one has something to put in its place: volatile values are
    /// those that were accepted, if they are of the same type.
    pub(super) fn settled(&self, server: &str, tool: &str, accepted: &Value, shown: &Value) -> (Value, Value) {
        let (mut accepted, mut shown) = (accepted.clone(), shown.clone());
        for key in self.meta_keys(server) {
            remove_meta(&mut accepted, key);
            remove_meta(&mut shown, key);
        }
        for pointer in self.places(server, tool) {
            if let (Some(accepted), Some(shown)) = (accepted.pointer(pointer), shown.pointer_mut(pointer))
                && type_of(accepted) == type_of(shown)
            {
                shown.clone_from(accepted);
            }
        }
        (accepted, shown)
    }
}

/// Takes a key out of `_meta`, and `_meta` with it where nothing else is in it.
pub(super) fn remove_meta(definition: &mut Value, key: &str) {
    if let Value::Object(members) = definition
        && let Some(Value::Object(meta)) = members.get_mut("_meta")
    {
        meta.remove(key);
        if meta.is_empty() {
            members.remove("_meta");
        }
    }
}

/// The JSON type of a value.
pub(super) const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
