//! Reads the records of the contract out of JSON. Nothing has a default.

use serde_json::{Map, Value};

use crate::model::{
    Argument, Attendance, BridgeState, CwdFacts, Facts, Flavour, Invocation, JsonKind, Origin, PathFact, Registration,
    Resolution, Route, ToolDefinition, ToolRef, Totals, Trust, Workspace,
};

pub(super) const ARGUMENT: &[&str] = &["name", "kind", "text"];
pub(super) const CWD_FACTS: &[&str] = &["resolution", "paths", "roots", "skillsRoots"];
pub(super) const DEFINITION: &[&str] = &["tool", "trust", "tokens", "definition"];
pub(super) const INVOCATION: &[&str] = &["tool", "arguments", "route", "attendance", "workspace", "facts", "explain"];
pub(super) const TOTALS: &[&str] = &["bridge", "candidates", "candidateTokens", "contextWindow"];
pub(super) const WORKSPACE: &[&str] = &["flavour", "root", "extraRoots", "skillsRoots", "home"];
const FACTS: &[&str] = &["cwd", "paths", "definition", "nearest"];
const TOOL: &[&str] = &["origin", "registration", "server", "name", "publicName"];

/// Why a request was not answered.
pub(super) struct Refused(pub String);

/// The fields of a record, and where it stands.
pub(super) struct Fields<'v> {
    at: String,
    map: &'v Map<String, Value>,
    keys: &'static [&'static str],
}

impl<'v> Fields<'v> {
    /// An object with these keys and no other.
    pub fn of(value: &'v Value, at: &str, keys: &'static [&'static str]) -> Result<Self, Refused> {
        let map = value.as_object().ok_or_else(|| Refused(format!("`{at}` is not an object")))?;
        if let Some(key) = map.keys().filter(|key| !keys.contains(&key.as_str())).min() {
            return Err(Refused(format!("unknown field `{at}/{}`", toolwarden_text::clip(key, 60))));
        }
        Ok(Self { at: at.into(), map, keys })
    }

    pub fn get(&self, key: &str) -> Result<&'v Value, Refused> {
        debug_assert!(self.keys.contains(&key));
        self.map.get(key).ok_or_else(|| Refused(format!("missing field `{}/{key}`", self.at)))
    }

    pub fn text(&self, key: &str) -> Result<&'v str, Refused> {
        self.get(key)?.as_str().ok_or_else(|| self.wrong(key, "a string"))
    }

    pub fn flag(&self, key: &str) -> Result<bool, Refused> {
        self.get(key)?.as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }

    fn number<T: TryFrom<u64>>(&self, key: &str) -> Result<T, Refused> {
        self.get(key)?
            .as_u64()
            .and_then(|n| T::try_from(n).ok())
            .ok_or_else(|| self.wrong(key, "a whole number in range"))
    }

    fn word<T>(&self, key: &str, read: fn(&str) -> Option<T>) -> Result<T, Refused> {
        read(self.text(key)?).ok_or_else(|| self.wrong(key, "a word of the contract"))
    }

    fn texts(&self, key: &str) -> Result<Vec<&'v str>, Refused> {
        let wrong = || self.wrong(key, "a list of strings");
        self.get(key)?.as_array().ok_or_else(wrong)?.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
    }

    pub fn object(&self, key: &str, keys: &'static [&'static str]) -> Result<Self, Refused> {
        Self::of(self.get(key)?, &format!("{}/{key}", self.at), keys)
    }

    fn objects(
        &self,
        key: &'static str,
        keys: &'static [&'static str],
    ) -> Result<impl Iterator<Item = Result<Self, Refused>> + use<'v>, Refused> {
        let items = self.get(key)?.as_array().ok_or_else(|| self.wrong(key, "a list"))?;
        let at = format!("{}/{key}", self.at);
        Ok(items.iter().enumerate().map(move |(index, item)| Self::of(item, &format!("{at}/{index}"), keys)))
    }

    /// A list of tool definitions.
    pub fn items(&self, key: &'static str) -> Result<impl Iterator<Item = Result<Self, Refused>> + use<'v>, Refused> {
        self.objects(key, DEFINITION)
    }

    fn wrong(&self, key: &str, wanted: &str) -> Refused {
        Refused(format!("`{}/{key}` is not {wanted}", self.at))
    }
}

fn tool<'v>(fields: &Fields<'v>) -> Result<ToolRef<'v>, Refused> {
    Ok(ToolRef {
        origin: fields.word("origin", Origin::from_word)?,
        registration: fields.word("registration", Registration::from_word)?,
        server: fields.text("server")?,
        name: fields.text("name")?,
        public_name: fields.text("publicName")?,
    })
}

pub(super) fn definition<'v>(fields: &Fields<'v>) -> Result<ToolDefinition<'v>, Refused> {
    Ok(ToolDefinition {
        tool: tool(&fields.object("tool", TOOL)?)?,
        trust: fields.word("trust", Trust::from_word)?,
        tokens: fields.number("tokens")?,
        definition: fields.text("definition")?,
    })
}

pub(super) fn totals(fields: &Fields) -> Result<Totals, Refused> {
    Ok(Totals {
        bridge: fields.word("bridge", BridgeState::from_word)?,
        candidates: fields.number("candidates")?,
        candidate_tokens: fields.number("candidateTokens")?,
        context_window: fields.number("contextWindow")?,
    })
}

pub(super) fn argument<'v>(fields: &Fields<'v>) -> Result<Argument<'v>, Refused> {
    Ok(Argument {
        name: fields.text("name")?,
        kind: fields.word("kind", JsonKind::from_word)?,
        text: fields.text("text")?,
    })
}

pub(super) fn workspace<'v>(fields: &Fields<'v>) -> Result<Workspace<'v>, Refused> {
    Ok(Workspace {
        flavour: fields.word("flavour", Flavour::from_word)?,
        root: fields.text("root")?,
        extra_roots: fields.texts("extraRoots")?,
        skills_roots: fields.texts("skillsRoots")?,
        home: fields.text("home")?,
    })
}

pub(super) fn cwd_facts<'v>(fields: &Fields<'v>) -> Result<CwdFacts<'v>, Refused> {
    Ok(CwdFacts {
        resolution: fields.word("resolution", Resolution::from_word)?,
        paths: fields.texts("paths")?,
        roots: fields.texts("roots")?,
        skills_roots: fields.texts("skillsRoots")?,
    })
}

fn path_fact<'v>(fields: &Fields<'v>) -> Result<PathFact<'v>, Refused> {
    Ok(PathFact {
        argument: fields.text("argument")?,
        resolution: fields.word("resolution", Resolution::from_word)?,
        path: fields.text("path")?,
    })
}

fn facts<'v>(fields: &Fields<'v>) -> Result<Facts<'v>, Refused> {
    let definition = fields.object("definition", &["trust", "summary"])?;
    Ok(Facts {
        cwd: cwd_facts(&fields.object("cwd", CWD_FACTS)?)?,
        paths: fields
            .objects("paths", &["argument", "resolution", "path"])?
            .map(|fact| path_fact(&fact?))
            .collect::<Result<_, _>>()?,
        trust: definition.word("trust", Trust::from_word)?,
        trust_summary: definition.text("summary")?,
        nearest: fields.text("nearest")?,
    })
}

pub(super) fn invocation<'v>(fields: &Fields<'v>) -> Result<Invocation<'v>, Refused> {
    Ok(Invocation {
        tool: tool(&fields.object("tool", TOOL)?)?,
        arguments: fields.objects("arguments", ARGUMENT)?.map(|a| argument(&a?)).collect::<Result<_, _>>()?,
        route: fields.word("route", Route::from_word)?,
        attendance: fields.word("attendance", Attendance::from_word)?,
        workspace: workspace(&fields.object("workspace", WORKSPACE)?)?,
        facts: facts(&fields.object("facts", FACTS)?)?,
        explain: fields.flag("explain")?,
    })
}
