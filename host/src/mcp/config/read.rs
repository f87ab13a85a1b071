//! From a file's text to its servers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use toolwarden_json::pointer_token;

use super::environment::Environment;
use super::error::{ConfigCode, ConfigError};
use super::expand::expand;
use super::identity::{ServerIdentity, TransportIdentity};
use super::{FOREIGN_KEYS, Http, McpConfig, ServerConfig, Stdio, Transport};
use crate::call::ServerName;
use crate::mcp::http::{Endpoint, is_reserved};
use crate::mcp::secret::Secret;

const STDIO_KEYS: [&str; 4] = ["command", "args", "env", "cwd"];
const HTTP_KEYS: [&str; 2] = ["url", "headers"];
const OTHER_KEYS: [&str; 2] = ["type", "disabled"];

/// A place in a file.
#[derive(Clone, Copy)]
struct At<'a> {
    file: &'a str,
    server: &'a str,
    environment: &'a Environment,
    used: &'a RefCell<Vec<Secret>>,
}

pub(super) fn file(file: &str, text: &[u8], environment: &Environment) -> Result<McpConfig, ConfigError> {
    let fault = |code, key: &str, message: String| ConfigError { file: file.into(), key: key.into(), code, message };
    let root = toolwarden_json::parse(text)
        .map_err(|error| fault(ConfigCode::Json(error.code), &error.pointer, error.message))?;
    let Some(Value::Object(entries)) = root.get("mcpServers") else {
        let message = "the file must be an object with an object `mcpServers`".to_owned();
        return Err(fault(ConfigCode::NoServers, "", message));
    };
    let mut config = McpConfig { servers: Vec::new(), disabled: Vec::new() };
    for (name, entry) in entries {
        let used = RefCell::default();
        let at = At { file, server: name, environment, used: &used };
        let server_name =
            ServerName::new(name).map_err(|error| at.fault("", ConfigCode::BadServerName, error.to_string()))?;
        let Value::Object(entry) = entry else { return Err(at.wrong_type("", "an object")) };
        match at.server(server_name.clone(), entry)? {
            Some(server) => config.servers.push(server),
            None => config.disabled.push(server_name),
        }
    }
    Ok(config)
}

impl<'a> At<'a> {
    fn server(self, name: ServerName, entry: &Map<String, Value>) -> Result<Option<ServerConfig>, ConfigError> {
        let known = |key: &str| {
            [&STDIO_KEYS[..], &HTTP_KEYS, &OTHER_KEYS, &FOREIGN_KEYS].iter().any(|keys| keys.contains(&key))
        };
        if let Some(key) = entry.keys().find(|key| !known(key)) {
            let ours: Vec<_> = [&STDIO_KEYS[..], &HTTP_KEYS, &OTHER_KEYS].concat();
            let message = format!("the key is not known; allowed are `{}`", ours.join("`, `"));
            return Err(self.fault(&pointer(key), ConfigCode::UnknownKey, message));
        }
        match entry.get("disabled") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => return Ok(None),
            Some(_) => return Err(self.wrong_type("/disabled", "true or false")),
        }
        let has = |keys: &[&str]| keys.iter().any(|key| entry.contains_key(*key));
        let is_http = match entry.get("type").map(Value::as_str) {
            None if has(&["command"]) || has(&["url"]) => has(&["url"]),
            None => return Err(self.fault("", ConfigCode::MissingKey, "`command` or `url` is missing".into())),
            Some(Some("stdio")) => false,
            Some(Some("http" | "streamable-http" | "streamableHttp")) => true,
            Some(Some(other)) => {
                let shown = toolwarden_text::clip(other, 40);
                let message = format!("the transport `{shown}` is not supported; `stdio` and `http` are");
                return Err(self.fault("/type", ConfigCode::UnsupportedTransport, message));
            }
            Some(None) => return Err(self.wrong_type("/type", "a string")),
        };
        if has(if is_http { &STDIO_KEYS } else { &HTTP_KEYS }) {
            let message = "keys of a program and of an endpoint stand side by side".to_owned();
            return Err(self.fault("", ConfigCode::TwoTransports, message));
        }
        let (transport, identity) = if is_http { self.http(entry)? } else { self.stdio(entry)? };
        let used = self.used.take();
        Ok(Some(ServerConfig { name, transport, identity: ServerIdentity { transport: identity }, used }))
    }

    fn stdio(self, entry: &Map<String, Value>) -> Result<(Transport, TransportIdentity), ConfigError> {
        let (written, command) = self.required(entry, "command")?;
        self.plain("/command", &command)?;
        let (mut args, mut written_args) = (Vec::new(), Vec::new());
        let given = match entry.get("args") {
            None => &[][..],
            Some(Value::Array(given)) => given,
            Some(_) => return Err(self.wrong_type("/args", "a list of strings")),
        };
        for (index, arg) in given.iter().enumerate() {
            let key = format!("/args/{index}");
            let arg = self.text(&key, arg)?;
            let expanded = self.expanded(&key, arg)?;
            if expanded.contains('\0') {
                return Err(self.bad_value(&key, "an argument cannot hold NUL"));
            }
            args.push(expanded);
            written_args.push(arg.to_owned());
        }
        let mut env = BTreeMap::new();
        for (name, value) in self.object(entry, "env")? {
            let key = format!("/env{}", pointer(name));
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(self.bad_value(&key, "this is no name of a variable"));
            }
            let value = self.expanded(&key, self.text(&key, value)?)?;
            if value.contains('\0') {
                return Err(self.bad_value(&key, "a variable cannot hold NUL"));
            }
            env.insert(name.clone(), Secret::new(value));
        }
        let (mut cwd, mut written_cwd) = (None, None);
        if let Some(value) = entry.get("cwd") {
            let text = self.text("/cwd", value)?;
            let expanded = self.expanded("/cwd", text)?;
            self.plain("/cwd", &expanded)?;
            (cwd, written_cwd) = (Some(PathBuf::from(expanded)), Some(text.to_owned()));
        }
        let names = env.keys().cloned().collect();
        let inherited = self.environment.inherited();
        Ok((
            Transport::Stdio(Stdio { command, args, env, inherited, cwd }),
            TransportIdentity::Stdio { command: written, args: written_args, env: names, cwd: written_cwd },
        ))
    }

    fn http(self, entry: &Map<String, Value>) -> Result<(Transport, TransportIdentity), ConfigError> {
        let (_, url) = self.required(entry, "url")?;
        let endpoint = Endpoint::parse(&url).map_err(|error| self.bad_value("/url", &error.to_string()))?;
        let (mut headers, mut names) = (Vec::new(), BTreeSet::new());
        for (name, value) in self.object(entry, "headers")? {
            let key = format!("/headers{}", pointer(name));
            let header: HeaderName = name.parse().map_err(|_| self.bad_value(&key, "this is no name of a header"))?;
            if is_reserved(&header) {
                let message = "the protocol sets this header itself".to_owned();
                return Err(self.fault(&key, ConfigCode::ReservedHeader, message));
            }
            let value = self.expanded(&key, self.text(&key, value)?)?;
            if HeaderValue::from_str(&value).is_err() {
                return Err(self.bad_value(&key, "the value holds what a header cannot hold"));
            }
            if !names.insert(header.as_str().to_owned()) {
                return Err(self.bad_value(&key, "the header stands there twice"));
            }
            headers.push((header, Secret::new(value)));
        }
        let origin = endpoint.origin().to_owned();
        let headers = Http { endpoint, headers };
        Ok((Transport::Http(headers), TransportIdentity::Http { origin, headers: names.into_iter().collect() }))
    }

    /// A text that must be there: as it is written, and with its variables.
    fn required(self, entry: &Map<String, Value>, name: &str) -> Result<(String, String), ConfigError> {
        let key = pointer(name);
        let missing = || self.fault("", ConfigCode::MissingKey, format!("`{name}` is missing"));
        let text = self.text(&key, entry.get(name).ok_or_else(missing)?)?;
        Ok((text.to_owned(), self.expanded(&key, text)?))
    }

    fn object(self, entry: &'a Map<String, Value>, name: &str) -> Result<Vec<(&'a String, &'a Value)>, ConfigError> {
        match entry.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Object(members)) => Ok(members.iter().collect()),
            Some(_) => Err(self.wrong_type(&pointer(name), "an object of strings")),
        }
    }

    fn text<'v>(self, key: &str, value: &'v Value) -> Result<&'v str, ConfigError> {
        value.as_str().ok_or_else(|| self.wrong_type(key, "a string"))
    }

    fn expanded(self, key: &str, text: &str) -> Result<String, ConfigError> {
        expand(text, self.environment, &mut self.used.borrow_mut())
            .map_err(|(code, message)| self.fault(key, code, message))
    }

    fn plain(self, key: &str, text: &str) -> Result<(), ConfigError> {
        if text.trim().is_empty() || text.contains('\0') {
            return Err(self.bad_value(key, "it is empty, or holds NUL"));
        }
        Ok(())
    }

    fn wrong_type(self, key: &str, wanted: &str) -> ConfigError {
        self.fault(key, ConfigCode::WrongType, format!("it must be {wanted}"))
    }

    fn bad_value(self, key: &str, why: &str) -> ConfigError {
        self.fault(key, ConfigCode::BadValue, why.to_owned())
    }

    fn fault(self, key: &str, code: ConfigCode, message: String) -> ConfigError {
        let key = format!("/mcpServers{}{key}", pointer(self.server));
        ConfigError { file: self.file.to_owned(), key, code, message }
    }
}

fn pointer(key: &str) -> String {
    format!("/{}", pointer_token(key))
}
