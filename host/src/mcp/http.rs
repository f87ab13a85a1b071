//! Messages over streamable HTTP: each one a POST, answered by JSON or by an event stream.
//!
//! There is no proxy, no cookie, no compression and no redirect to another origin. The official clients read proxies from
//! the environment; here whatever decides where requests go stands in the configuration.

mod body;
mod endpoint;
mod headers;
mod stream;
mod tls;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::error::WireError;
use super::limits::WireLimits;
use super::link::Link;
use super::secret::{Mask, Secret};
use super::version::{Era, FIRST_WITH_HEADER};

pub use endpoint::{Endpoint, EndpointError};
pub use headers::{header_text, is_reserved};

use headers::{ACCEPTED, JSON, LAST_EVENT_ID, METHOD, NAME, SESSION_ID, VERSION};

/// Bytes of an error's body that are looked at for a message.
const ERROR_BODY: usize = 1 << 20;

/// How long the end of a session is told.
const DELETE_TIME: Duration = Duration::from_secs(2);

/// What a request is about, for those who read headers only.
pub(crate) struct About<'a> {
    pub id: u64,
    pub method: &'a str,
    /// `params.name` or `params.uri`.
    pub named: Option<&'a str>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// The client of one endpoint.
pub(crate) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    endpoint: Endpoint,
    headers: HeaderMap,
    limits: WireLimits,
    mask: Mask,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpClient").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl HttpClient {
    pub(crate) fn new(
        endpoint: Endpoint,
        own: &[(HeaderName, Secret)],
        limits: WireLimits,
        mask: Mask,
    ) -> Result<Self, WireError> {
        let unreachable = |why: String| WireError::Unreachable { origin: endpoint.origin().to_owned(), why };
        let connector = tls::connector(endpoint.is_tls()).map_err(|error| unreachable(error.to_string()))?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static("toolwarden"));
        if let Some(value) = endpoint.authorization() {
            headers.insert(http::header::AUTHORIZATION, secret_value(&value).map_err(unreachable)?);
        }
        for (name, value) in own {
            headers.insert(name, secret_value(value).map_err(unreachable)?);
        }
        let mut client = Client::builder(TokioExecutor::new());
        client.pool_timer(TokioTimer::new());
        Ok(Self { client: client.build(connector), endpoint, headers, limits, mask, state: Mutex::default() })
    }

    /// The version that each request names from now on; none where it is not agreed on, or too old to be named.
    pub(crate) fn settle_version(&self, version: Option<&str>) {
        let version = version.filter(|version| *version >= FIRST_WITH_HEADER);
        self.state().version = version.and_then(|version| HeaderValue::from_str(version).ok());
    }

    /// Makes a request and hands on all that comes on its response, until the answer is there or the response ends.
    pub(crate) async fn exchange(&self, link: &Arc<Link>, about: About<'_>, text: String) -> Result<(), WireError> {
        let id = about.id;
        let opens = about.method == "initialize";
        let mut headers = self.base_headers(true);
        if link.era() == Era::Modern || about.method == "server/discover" {
            headers.insert(METHOD, header_text(about.method));
            let has_name = matches!(about.method, "tools/call" | "resources/read" | "prompts/get");
            if let Some(name) = about.named.filter(|_| has_name) {
                headers.insert(NAME, header_text(name));
            }
        }
        headers.extend(about.headers);
        let response = self.send(Method::POST, &headers, text.into()).await?;
        if opens && let Some(session) = response.headers().get(SESSION_ID) {
            let mut session = session.clone();
            session.set_sensitive(true);
            self.state().session = Some(session);
        }
        let status = response.status();
        if !status.is_success() {
            return self.refused(link, id, response).await;
        }
        match headers::kind(&response) {
            Some(headers::Kind::Json) => {
                let body = body::whole(response, self.limits.message_bytes).await?;
                link.receive(&body, Some(id)).map_err(WireError::Malformed)
            }
            Some(headers::Kind::Events) => stream::answer(self, link, id, response).await,
            None if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => Err(WireError::NoAnswer),
            None => Err(self.content_type(&response)),
        }
    }

    /// Tells something that gets no answer.
    pub(crate) async fn tell(&self, text: String) -> Result<(), WireError> {
        let response = self.send(Method::POST, &self.base_headers(true), text.into()).await?;
        if response.status().is_success() { Ok(()) } else { Err(self.status(&response)) }
    }

    /// Listens to what the server has to say without being asked (legacy), until it does not want to any more.
    pub(crate) async fn listen(&self, link: &Arc<Link>) -> Result<(), WireError> {
        stream::listen(self, link).await
    }

    /// Ends the session, if there is one.
    pub(crate) async fn leave(&self) {
        if self.state().session.is_none() {
            return;
        }
        let headers = self.base_headers(false);
        // A server need not support this, and nobody waits for one that is slow.
        let _ = tokio::time::timeout(DELETE_TIME, self.send(Method::DELETE, &headers, Bytes::new())).await;
        self.state().session = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn base_headers(&self, has_body: bool) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, ACCEPTED);
        if has_body {
            headers.insert(CONTENT_TYPE, JSON);
        }
        let state = self.state();
        headers.extend(state.session.clone().map(|session| (SESSION_ID, session)));
        headers.extend(state.version.clone().map(|version| (VERSION, version)));
        headers
    }

    /// Sends a request, and follows where the server leads within its origin.
    async fn send(&self, method: Method, headers: &HeaderMap, body: Bytes) -> Result<Response<Incoming>, WireError> {
        let mut uri = self.endpoint.uri().clone();
        for _ in 0..=self.limits.redirects {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = headers.clone();
            let response = self.client.request(request).await.map_err(|error| self.broken(&error))?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            uri = self.redirected(&uri, &response)?;
        }
        Err(WireError::Redirected { to: "itself, again and again".into() })
    }

    /// Where a redirect leads. Only such as keep the method are followed, and only within the origin: headers hold secrets.
    fn redirected(&self, from: &Uri, response: &Response<Incoming>) -> Result<Uri, WireError> {
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let keeps = matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let to = location.and_then(|location| endpoint::resolve(from, location));
        let origin = to.as_ref().and_then(endpoint::origin_of);
        match to {
            Some(to) if keeps && origin.as_deref() == Some(self.endpoint.origin()) => Ok(to),
            _ => Err(WireError::Redirected { to: origin.unwrap_or_else(|| "no place".into()) }),
        }
    }

    /// What a status other than success means.
    async fn refused(&self, link: &Arc<Link>, id: u64, response: Response<Incoming>) -> Result<(), WireError> {
        let error = self.status(&response);
        let is_json = matches!(headers::kind(&response), Some(headers::Kind::Json));
        if error == WireError::SessionLost || !is_json {
            return Err(error);
        }
        let Ok(text) = body::whole(response, ERROR_BODY).await else { return Err(error) };
        let _ = link.receive(&text, Some(id));
        if link.waits(id) { Err(error) } else { Ok(()) }
    }

    fn status(&self, response: &Response<Incoming>) -> WireError {
        match response.status() {
            StatusCode::NOT_FOUND if self.state().session.is_some() => WireError::SessionLost,
            status => WireError::HttpStatus { status: status.as_u16() },
        }
    }

    fn content_type(&self, response: &Response<Incoming>) -> WireError {
        let kind = response.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let kind = self.mask.apply(kind.as_deref().unwrap_or("none"));
        WireError::ContentType(toolwarden_text::clip(&kind, 80).into_owned())
    }

    /// Why a request could not be made: all that the libraries say, from the outside in.
    fn broken(&self, error: &(dyn std::error::Error + 'static)) -> WireError {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            why.push_str(": ");
            why.push_str(&error.to_string());
            cause = error.source();
        }
        let why = toolwarden_text::clip(&self.mask.apply(&why), 300).into_owned();
        WireError::Unreachable { origin: self.endpoint.origin().to_owned(), why }
    }
}

fn secret_value(secret: &Secret) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(secret.reveal()).map_err(|_| "a header has a character that is not allowed")?;
    value.set_sensitive(true);
    Ok(value)
}

/// The length that a response announces.
fn announced(response: &Response<Incoming>) -> Option<u64> {
    response.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
