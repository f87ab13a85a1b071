//! How a connection begins: which era, which version, and who is there.
//!
//! A modern request goes first. A discover result or an error of the modern era means modern, anything else or silence
//! means `initialize`. Source: versioning and transports of 2026-07-28.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::error::{EndedWhy, Versions, WireError};
use super::link::{Link, Outbound};
use super::message::{Message, Notification};
use super::profile::{ClientProfile, EraChoice, META_SERVER_INFO};
use super::request::Ask;
use super::rpc_error::{RpcCode, RpcError};
use super::version::{Era, LEGACY_VERSIONS, MODERN_VERSIONS};

/// What a server said of itself. None of it is proven.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The era that is spoken.
    pub era: Era,
    /// The version that is spoken.
    pub version: String,
    /// `serverInfo`; null where there is none.
    pub server_info: Value,
    /// `capabilities`.
    pub capabilities: Map<String, Value>,
    /// `instructions`.
    pub instructions: Option<String>,
    /// All of the answer to `initialize` or `server/discover`.
    pub raw: Value,
}

/// Why a connection could not be opened.
pub(crate) enum Failure {
    /// For this reason.
    Error(WireError),
    /// The server left when it was asked for its versions; it may know `initialize` only.
    LeftAtDiscovery(WireError),
}

impl Failure {
    pub(crate) fn into_error(self) -> WireError {
        match self {
            Self::Error(error) | Self::LeftAtDiscovery(error) => error,
        }
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Self {
        Self::Error(error)
    }
}

/// What the first request found.
enum Found {
    Modern(Box<Opened>),
    Legacy,
}

/// Opens a connection.
pub(crate) async fn open(link: &Arc<Link>, profile: &ClientProfile, deadline: Instant) -> Result<Opened, Failure> {
    match profile.era {
        EraChoice::Only(Era::Legacy) => Ok(initialize(link, profile, deadline).await?),
        EraChoice::Only(Era::Modern) => match detect(link, profile, deadline).await? {
            Found::Modern(opened) => Ok(*opened),
            Found::Legacy => Err(WireError::BadOpening("the server does not know the modern era").into()),
        },
        EraChoice::Detect => {
            let patience = deadline.saturating_duration_since(Instant::now()) / 2;
            let until = Instant::now() + patience.min(link.limits.era_patience);
            let silent = match timeout_at(until, detect(link, profile, deadline)).await {
                Ok(found) => match found? {
                    Found::Modern(opened) => return Ok(*opened),
                    Found::Legacy => false,
                },
                Err(_) => true,
            };
            match initialize(link, profile, deadline).await {
                // It may have been slow and not silent, and be a modern one after all.
                Err(WireError::Refused(error)) if silent || error.code == RpcCode::UNSUPPORTED_PROTOCOL_VERSION => {
                    match detect(link, profile, deadline).await? {
                        Found::Modern(opened) => Ok(*opened),
                        Found::Legacy => Err(WireError::Refused(error).into()),
                    }
                }
                opened => Ok(opened?),
            }
        }
    }
}

/// Asks a server that is known to be modern who it is now.
pub(crate) async fn discover_again(
    link: &Arc<Link>,
    profile: &ClientProfile,
    version: &str,
    deadline: Instant,
) -> Result<Opened, WireError> {
    let result = discover(link, profile, version, deadline).await?.map_err(|error| link.refused(error))?;
    match offered(&result) {
        Some(versions) if versions.iter().any(|offered| offered == version) => Ok(discovered(version, result)),
        Some(versions) => Err(WireError::UnsupportedVersion(Versions(versions))),
        None => Err(WireError::BadOpening("`supportedVersions` is missing")),
    }
}

/// Sends the first modern request; a second one where the server knows other modern versions only.
async fn detect(link: &Arc<Link>, profile: &ClientProfile, deadline: Instant) -> Result<Found, Failure> {
    let mut version = profile.modern_version.clone();
    for again in [false, true] {
        let versions = match discover(link, profile, &version, deadline).await {
            Ok(Ok(result)) => match offered(&result) {
                Some(versions) if versions.contains(&version) => {
                    link.settle_era(Era::Modern);
                    return Ok(Found::Modern(Box::new(discovered(&version, result))));
                }
                Some(versions) => versions,
                // Whatever it is, no discover result.
                None => break,
            },
            Ok(Err(error)) if error.code == RpcCode::UNSUPPORTED_PROTOCOL_VERSION => match supported(&error) {
                Some(versions) => versions,
                None => break,
            },
            // Modern, and it wants something that this client cannot give.
            Ok(Err(error)) if error.code.is_modern() => return Err(link.refused(error).into()),
            Err(error) if is_no_era(&error) => return Err(error.into()),
            Err(error @ WireError::Closed(_)) => return Err(Failure::LeftAtDiscovery(error)),
            Ok(Err(_)) | Err(_) => break,
        };
        match choose(&versions) {
            Some(mutual) if !again => version = mutual,
            None if versions.iter().any(|version| LEGACY_VERSIONS.contains(&version.as_str())) => break,
            _ => return Err(WireError::UnsupportedVersion(Versions(versions)).into()),
        }
    }
    Ok(Found::Legacy)
}

/// Whether an error tells nothing of the era, since `initialize` would meet it as well.
fn is_no_era(error: &WireError) -> bool {
    match error {
        WireError::HttpStatus { status } => matches!(status, 401 | 403),
        WireError::Closed(ended) => ended.why != EndedWhy::ServerLeft,
        WireError::Unreachable { .. } | WireError::Redirected { .. } | WireError::DeadlineExceeded { .. } => true,
        _ => false,
    }
}

async fn discover(
    link: &Arc<Link>,
    profile: &ClientProfile,
    version: &str,
    deadline: Instant,
) -> Result<Result<Value, RpcError>, WireError> {
    settle(link, Some(version));
    let mut params = Map::new();
    profile.stamp(version, &mut params);
    let ask = Ask::new("server/discover").params(params).deadline(deadline).silent();
    Ok(link.ask(ask).await?.outcome)
}

async fn initialize(link: &Arc<Link>, profile: &ClientProfile, deadline: Instant) -> Result<Opened, WireError> {
    let began = Instant::now();
    settle(link, None);
    let ask = Ask::new("initialize").params(profile.initialize()).deadline(deadline).silent();
    let result = link.ask(ask).await?.outcome.map_err(|error| link.refused(error))?;
    let version = match result.get("protocolVersion") {
        Some(Value::String(version)) => version.clone(),
        _ => return Err(WireError::BadOpening("`protocolVersion` is missing")),
    };
    if !LEGACY_VERSIONS.contains(&version.as_str()) && version != profile.legacy_version {
        return Err(WireError::UnsupportedVersion(Versions(vec![version])));
    }
    let server_info = result.get("serverInfo").cloned().unwrap_or_default();
    let opened = opened(Era::Legacy, &version, server_info, result);
    link.settle_era(Era::Legacy);
    settle(link, Some(&version));
    let method = "notifications/initialized".to_owned();
    let ready = Message::Notification(Notification { method, params: None, extra: Map::new() });
    let late = |_| Err(WireError::DeadlineExceeded { after: began.elapsed(), strays: 0 });
    timeout_at(deadline, link.send(&ready)).await.unwrap_or_else(late)?;
    Ok(opened)
}

fn settle(link: &Link, version: Option<&str>) {
    if let Outbound::Http(http) = &link.outbound {
        http.settle_version(version);
    }
}

fn discovered(version: &str, result: Value) -> Opened {
    let server_info = result.get("_meta").and_then(|meta| meta.get(META_SERVER_INFO)).cloned().unwrap_or_default();
    opened(Era::Modern, version, server_info, result)
}

fn opened(era: Era, version: &str, server_info: Value, raw: Value) -> Opened {
    let capabilities = raw.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
    let instructions = raw.get("instructions").and_then(Value::as_str).map(str::to_owned);
    Opened { era, version: version.to_owned(), server_info, capabilities, instructions, raw }
}

fn offered(result: &Value) -> Option<Vec<String>> {
    texts(result.get("supportedVersions")?)
}

fn supported(error: &RpcError) -> Option<Vec<String>> {
    texts(error.data.as_ref()?.get("supported")?)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// The newest modern version that both know.
fn choose(versions: &[String]) -> Option<String> {
    MODERN_VERSIONS.iter().rev().find(|ours| versions.iter().any(|v| v == *ours)).map(|&ours| ours.to_owned())
}
