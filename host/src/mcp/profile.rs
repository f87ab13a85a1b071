//! Who we say that we are.

use serde_json::{Map, Value};

use super::version::{Era, LEGACY_VERSIONS, MODERN_VERSIONS, era_of};

/// Which era is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraChoice {
    /// The modern one where the server knows it, else the legacy one.
    #[default]
    Detect,
    /// This one, without asking: the agent's client speaks no other, or it was found out before.
    Only(Era),
}

/// The client as a server sees it. Real servers show other tools to other clients, so whoever looks for the agent must look
/// like the agent's client.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientProfile {
    /// `clientInfo`: at least name and version.
    pub info: Map<String, Value>,
    /// `capabilities`.
    pub capabilities: Map<String, Value>,
    /// Which era is spoken.
    pub era: EraChoice,
    /// The version that is offered in the legacy era. Default: the newest.
    pub legacy_version: String,
    /// The version that is used in the modern era. Default: the newest.
    pub modern_version: String,
}

impl ClientProfile {
    /// A client with a name and a version, without capabilities, that speaks both eras.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        let newest = |versions: &[&str]| versions.last().copied().unwrap_or_default().to_owned();
        let mut info = Map::new();
        info.insert("name".into(), name.into());
        info.insert("version".into(), version.into());
        Self {
            info,
            capabilities: Map::new(),
            era: EraChoice::Detect,
            legacy_version: newest(&LEGACY_VERSIONS),
            modern_version: newest(&MODERN_VERSIONS),
        }
    }

    /// The client that sent these `initialize` parameters. Offers the very version that it offered.
    #[must_use]
    pub fn from_initialize(params: &Map<String, Value>) -> Self {
        let object = |name: &str| params.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let version = params.get("protocolVersion").and_then(Value::as_str);
        let mut profile = Self::new("", "");
        profile.info = object("clientInfo");
        profile.capabilities = object("capabilities");
        profile.legacy_version = version.map_or(profile.legacy_version, str::to_owned);
        profile
    }

    /// The client that sent a request with this `_meta`; none where it is not of the modern era.
    #[must_use]
    pub fn from_meta(meta: &Map<String, Value>) -> Option<Self> {
        let version = meta.get(META_VERSION)?.as_str()?;
        if era_of(version) == Some(Era::Legacy) {
            return None;
        }
        let object = |name: &str| meta.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut profile = Self::new("", "");
        profile.info = object(META_CLIENT_INFO);
        profile.capabilities = object(META_CAPABILITIES);
        version.clone_into(&mut profile.modern_version);
        Some(profile)
    }

    pub(crate) fn initialize(&self) -> Map<String, Value> {
        let mut params = Map::new();
        params.insert("protocolVersion".into(), self.legacy_version.clone().into());
        params.insert("capabilities".into(), self.capabilities.clone().into());
        params.insert("clientInfo".into(), self.info.clone().into());
        params
    }

    /// Puts into a request what each one of the modern era carries. Information and capabilities that are there already
    /// stay: whoever passes on a request of another client says who that is.
    pub(crate) fn stamp(&self, version: &str, params: &mut Map<String, Value>) {
        with_meta(params, |meta| {
            meta.insert(META_VERSION.into(), version.into());
            meta.entry(META_CLIENT_INFO).or_insert_with(|| self.info.clone().into());
            meta.entry(META_CAPABILITIES).or_insert_with(|| self.capabilities.clone().into());
        });
    }
}

/// Changes `_meta` of parameters; what is there and no object gives way.
pub(crate) fn with_meta(params: &mut Map<String, Value>, change: impl FnOnce(&mut Map<String, Value>)) {
    let place = params.entry("_meta").or_insert(Value::Null);
    let mut meta = match place.take() {
        Value::Object(meta) => meta,
        _ => Map::new(),
    };
    change(&mut meta);
    *place = Value::Object(meta);
}

/// `_meta` key of the protocol version.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// `_meta` key of the client's information.
pub const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// `_meta` key of the client's capabilities.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// `_meta` key of the server's information.
pub const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_modern_request_says_who_asks() {
        let profile = ClientProfile::new("us", "1");
        let stamped = |params: Value| {
            let Value::Object(mut params) = params else { panic!("an object") };
            profile.stamp("2026-07-28", &mut params);
            Value::Object(params)
        };
        assert_eq!(
            stamped(json!({"name": "x"})),
            json!({"name": "x", "_meta": {META_VERSION: "2026-07-28", META_CLIENT_INFO: {"name": "us", "version": "1"}, META_CAPABILITIES: {}}})
        );
        assert_eq!(
            stamped(
                json!({"_meta": {META_VERSION: "x", META_CLIENT_INFO: {"name": "c"}, META_CAPABILITIES: {"roots": {}}, "k": 1}})
            ),
            json!({"_meta": {META_VERSION: "2026-07-28", META_CLIENT_INFO: {"name": "c"}, META_CAPABILITIES: {"roots": {}}, "k": 1}})
        );
    }

    #[test]
    fn a_client_is_known_by_its_opening() {
        let initialize = json!({"protocolVersion": "2025-03-26", "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "2"}});
        let profile = ClientProfile::from_initialize(initialize.as_object().unwrap());
        assert_eq!(Value::Object(profile.initialize()), initialize);
        let meta =
            json!({META_VERSION: "2026-07-28", META_CLIENT_INFO: {"name": "c"}, META_CAPABILITIES: {"roots": {}}});
        let profile = ClientProfile::from_meta(meta.as_object().unwrap()).unwrap();
        assert_eq!((profile.info.len(), profile.capabilities.len()), (1, 1));
        assert_eq!(ClientProfile::from_meta(json!({META_VERSION: "2025-11-25"}).as_object().unwrap()), None);
        assert_eq!(ClientProfile::from_meta(&Map::new()), None);
    }
}
