//! Where a server is reached.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use thiserror::Error;

use crate::mcp::secret::Secret;

/// Part of a path from this length on may be a key: some services put one there. Shorter ones are words, as `mcp`.
const LIKE_A_KEY: usize = 16;

/// Why a text is no endpoint. Says nothing of it, since it may hold secrets.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EndpointError {
    /// It is no URL.
    #[error("this is no URL")]
    NotAUrl,
    /// It has another scheme.
    #[error("the scheme must be `http` or `https`")]
    Scheme,
    /// It has no host.
    #[error("the host is missing")]
    NoHost,
}

/// The URL of an MCP endpoint. Only its origin is ever shown: paths, queries and users hold keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    uri: Uri,
    origin: String,
    user: Option<Secret>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.origin).finish()
    }
}

impl Endpoint {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// [`EndpointError`].
    pub fn parse(url: &str) -> Result<Self, EndpointError> {
        let url = url.split('#').next().unwrap_or_default();
        let mut parts = url.parse::<Uri>().map_err(|_| EndpointError::NotAUrl)?.into_parts();
        let scheme = parts.scheme.as_ref().ok_or(EndpointError::NotAUrl)?;
        if *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS {
            return Err(EndpointError::Scheme);
        }
        let authority = parts.authority.take().ok_or(EndpointError::NoHost)?;
        // The last `@`: what stands before it is not where the request goes.
        let (user, place) = authority
            .as_str()
            .rsplit_once('@')
            .map_or((None, authority.as_str()), |(user, place)| (Some(Secret::new(decoded(user))), place));
        let place: Authority = place.to_ascii_lowercase().parse().map_err(|_| EndpointError::NotAUrl)?;
        if place.host().is_empty() {
            return Err(EndpointError::NoHost);
        }
        parts.authority = Some(place);
        parts.path_and_query.get_or_insert(PathAndQuery::from_static("/"));
        let uri = Uri::from_parts(parts).map_err(|_| EndpointError::NotAUrl)?;
        let origin = origin_of(&uri).ok_or(EndpointError::NotAUrl)?;
        Ok(Self { uri, origin, user })
    }

    /// Scheme, host and port; the port only where it is not the scheme's own.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) const fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(super) fn is_tls(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// The header that the user and password of the URL stand for.
    pub(super) fn authorization(&self) -> Option<Secret> {
        let user = self.user.as_ref()?.reveal();
        let user = if user.contains(':') { user.to_owned() } else { format!("{user}:") };
        Some(Secret::new(format!("Basic {}", BASE64_STANDARD.encode(user))))
    }

    /// All parts that nobody may see, each as it is written and as it is meant.
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        let mut secrets: Vec<Secret> = self.authorization().into_iter().collect();
        let user = self.user.as_ref().map(Secret::reveal).unwrap_or_default();
        secrets.extend(user.split(':').map(Secret::new));
        let segments = self.uri.path().split('/').filter(|segment| segment.len() >= LIKE_A_KEY);
        secrets.extend(segments.map(Secret::new));
        for pair in self.uri.query().unwrap_or_default().split('&') {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            secrets.extend([Secret::new(value), Secret::new(decoded(value))]);
        }
        secrets
    }
}

/// Scheme, host and port of a URI.
pub(super) fn origin_of(uri: &Uri) -> Option<String> {
    let (scheme, host) = (uri.scheme()?, uri.host()?.to_ascii_lowercase());
    let usual = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    Some(match uri.port_u16() {
        Some(port) if port != usual => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    })
}

/// Where a `Location` leads. Relative ones are understood where they begin with one slash.
pub(super) fn resolve(from: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    if location.starts_with('/') && !location.starts_with("//") && !location.starts_with("/\\") {
        let mut parts = from.clone().into_parts();
        parts.path_and_query = Some(location.parse().ok()?);
        return Uri::from_parts(parts).ok();
    }
    // Whoever names a user elsewhere would have us sign in there.
    location
        .parse::<Uri>()
        .ok()
        .filter(|uri| uri.scheme().is_some() && uri.authority().is_some_and(|place| !place.as_str().contains('@')))
}

/// The text that percent signs stand for. What is no UTF-8 then stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .filter(|two| byte == b'%' && two.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let meant = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(meant.unwrap_or(byte));
        rest = if meant.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |url: &str| Endpoint::parse(url).map(|endpoint| endpoint.origin().to_owned());
        for (url, expected) in [
            ("https://Example.com/mcp?k=1#x", "https://example.com"),
            ("https://example.com:443", "https://example.com"),
            ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000"),
            ("http://[::1]:80/", "http://[::1]"),
            ("https://good.example@evil.example/", "https://evil.example"),
        ] {
            assert_eq!(origin(url).as_deref(), Ok(expected), "{url}");
        }
        for (url, error) in [
            ("", EndpointError::NotAUrl),
            ("/mcp", EndpointError::NotAUrl),
            ("ftp://example.com/", EndpointError::Scheme),
            ("http://exämple.com/", EndpointError::NotAUrl),
            ("http:///mcp", EndpointError::NotAUrl),
        ] {
            assert_eq!(origin(url), Err(error), "{url}");
        }
    }

    #[test]
    fn what_is_secret_in_a_url_is_not_shown() {
        let endpoint =
            Endpoint::parse("https://me:pa%3Ass@h.example/key1234key1234key/mcp?token=t%20oken&plain").unwrap();
        assert_eq!(format!("{endpoint:?}"), "Endpoint(\"https://h.example\")");
        assert_eq!(endpoint.uri(), "https://h.example/key1234key1234key/mcp?token=t%20oken&plain");
        let secrets: Vec<_> = endpoint.secrets().iter().map(|secret| secret.reveal().to_owned()).collect();
        let authorization = format!("Basic {}", BASE64_STANDARD.encode("me:pa:ss"));
        assert_eq!(
            secrets,
            [&authorization, "me", "pa", "ss", "key1234key1234key", "t%20oken", "t oken", "plain", "plain"]
        );
        assert_eq!(
            Endpoint::parse("https://token@h.example/").unwrap().authorization().unwrap().reveal(),
            "Basic dG9rZW46"
        );
    }

    #[test]
    fn a_redirect_is_resolved_against_where_it_came_from() {
        let from: Uri = "https://h.example:8443/a/b?q=1".parse().unwrap();
        let to = |location: &str| resolve(&from, location).map(|uri| uri.to_string());
        assert_eq!(to("/mcp/").as_deref(), Some("https://h.example:8443/mcp/"));
        assert_eq!(to("https://o.example/x#y").as_deref(), Some("https://o.example/x"));
        assert_eq!((to("//o.example/x"), to("c"), to("https://u@h.example:8443/")), (None, None, None));
    }
}
