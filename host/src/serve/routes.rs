//! What a request asks for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};

use super::answers::NotKept;
use super::metrics::Turned;
use super::reply::{self, Reply};
use super::server::Shared;
use super::token::Token;
use crate::approval::Approval;
use crate::embed::{EmbedError, Warden};

/// The description of all this.
const OPENAPI: &str = include_str!("../../../docs/openapi.json");

const OPENMETRICS: HeaderValue = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Answers a request. Whatever goes wrong is an error, and an error is no permission.
pub(super) async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    shared.metrics.requests.fetch_add(1, Ordering::Relaxed);
    if let Some(refusal) = turned_away(shared, &request) {
        return refusal;
    }
    let (head, body) = request.into_parts();
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    let path: Vec<&str> = path.split('/').skip(1).collect();
    let known = match path.as_slice() {
        ["health" | "metrics" | "openapi.json"] | ["v1", "listed" | "stats" | "questions"] | ["v1", "calls", _] => {
            "GET"
        }
        ["v1", "decide" | "invoke" | "settle" | "reload" | "rollback"] | ["v1", "questions", _] => "POST",
        ["v1", "tools"] => "GET, PUT",
        _ => return reply::error(StatusCode::NOT_FOUND, "unknown-path", "there is no such path; see /openapi.json"),
    };
    if !known.split(", ").any(|method| method == head.method.as_str()) {
        let refusal = reply::error(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", &format!("this path takes {known}"));
        return reply::with(refusal, ALLOW, known);
    }
    let body = match read(shared, body).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let warden = &shared.warden;
    match (&head.method, path.as_slice()) {
        (_, ["health"]) => reply::json(r#"{"ok":true}"#),
        (_, ["openapi.json"]) => reply::json(OPENAPI),
        (_, ["metrics"]) => metrics(shared),
        // A decision on what the record says takes microseconds; handing it to another thread would take longer.
        (_, ["v1", "decide"]) if !warden.follows_links() => reply::of(warden.decide(&body)),
        (_, ["v1", "decide"]) => blocking(shared, body, Warden::decide).await,
        (_, ["v1", "invoke"]) => {
            let reply = blocking(shared, body, Warden::invoke).await;
            // There may be a question more.
            shared.answers.ring();
            reply
        }
        (_, ["v1", "settle"]) => settle(shared, &body).await,
        (_, ["v1", "questions"]) => questions(shared, query).await,
        (_, ["v1", "questions", ticket]) => answered(shared, ticket, &body),
        (_, ["v1", "calls", ticket]) => collected(shared, ticket, query).await,
        (&Method::PUT, ["v1", "tools"]) => blocking(shared, body, Warden::set_tools).await,
        (_, ["v1", "tools"]) => reply::of(warden.plan()),
        (_, ["v1", "listed"]) => reply::of(warden.listed()),
        (_, ["v1", "reload"]) => blocking(shared, body, |warden, _| warden.reload()).await,
        (_, ["v1", "rollback"]) => blocking(shared, body, |warden, _| warden.rollback()).await,
        _ => reply::of(warden.stats()),
    }
}

/// What is turned away before anything of it is read.
fn turned_away(shared: &Shared, request: &Request<Incoming>) -> Option<Reply> {
    let headers = request.headers();
    let turn = |why, status, code, message: &str| {
        shared.metrics.turn(why);
        Some(reply::error(status, code, message))
    };
    // A program sends none; a web page always does where it writes.
    if headers.contains_key(ORIGIN) {
        return turn(Turned::Foreign, StatusCode::FORBIDDEN, "foreign-origin", "web pages may not ask");
    }
    if let Some((token, address)) = &shared.guard {
        if !is_for(headers, *address) {
            let message = "the request is for another host";
            return turn(Turned::Foreign, StatusCode::MISDIRECTED_REQUEST, "foreign-host", message);
        }
        if request.uri().path() != "/health" && !has(headers, token) {
            let message = "the request needs `Authorization: Bearer` and the token";
            shared.metrics.turn(Turned::Unauthorized);
            let refusal = reply::error(StatusCode::UNAUTHORIZED, "unauthorized", message);
            return Some(reply::with(refusal, WWW_AUTHENTICATE, "Bearer"));
        }
    }
    if !shared.rate.admits(Instant::now()) {
        return turn(Turned::Rate, StatusCode::TOO_MANY_REQUESTS, "too-many-requests", "over the rate; try later");
    }
    None
}

/// Whether the request names this server as a loopback host: a name that was bent to point here has another one.
fn is_for(headers: &HeaderMap, address: SocketAddr) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else { return false };
    let port = address.port();
    [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}"), address.to_string()]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(host))
}

fn has(headers: &HeaderMap, token: &Token) -> bool {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(text), None) = (given.next().and_then(|value| value.to_str().ok()), given.next()) else { return false };
    let Some((scheme, text)) = text.split_once(' ') else { return false };
    scheme.eq_ignore_ascii_case("bearer") && token.is(text.trim())
}

async fn read(shared: &Shared, body: Incoming) -> Result<Bytes, Reply> {
    let too_large = || {
        shared.metrics.turn(Turned::Size);
        let message = format!("the body has more than {} bytes", shared.limits.body);
        reply::error(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", &message)
    };
    // One that says so itself is not waited for.
    if body.size_hint().lower() > shared.limits.body as u64 {
        return Err(too_large());
    }
    let limited = Limited::new(body, shared.limits.body);
    let collected = tokio::time::timeout(shared.limits.wait, limited.collect()).await;
    match collected {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(reply::error(StatusCode::BAD_REQUEST, "body-broken", "the body broke off")),
        Err(_) => Err(reply::error(StatusCode::REQUEST_TIMEOUT, "body-too-slow", "the body did not come in time")),
    }
}

/// Asks the warden on a thread that serves nobody else: it may follow links on a slow disk, or compile a module.
async fn blocking(
    shared: &Arc<Shared>,
    body: Bytes,
    ask: impl FnOnce(&Warden, &[u8]) -> Result<String, EmbedError> + Send + 'static,
) -> Reply {
    let warden = Arc::clone(&shared.warden);
    let answer = tokio::task::spawn_blocking(move || ask(&warden, &body)).await;
    answer.map_or_else(
        |_| reply::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "no answer, which is no permission"),
        reply::of,
    )
}

fn metrics(shared: &Shared) -> Reply {
    let stats = shared.warden.stats().ok().and_then(|stats| serde_json::from_str(&stats).ok()).unwrap_or(Value::Null);
    reply::typed(StatusCode::OK, OPENMETRICS, shared.metrics.text(&stats))
}

fn bad(message: &str) -> Reply {
    reply::error(StatusCode::UNPROCESSABLE_ENTITY, "bad-answer", message)
}

/// The members of an object that has these and no others, all of them texts.
fn texts<const N: usize>(body: &[u8], names: [&str; N]) -> Option<[String; N]> {
    let Ok(Value::Object(mut object)) = toolwarden_json::parse(body) else { return None };
    let texts = names.map(|name| match object.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    });
    (object.is_empty() && texts.iter().all(|text| !text.is_empty())).then_some(texts)
}

async fn settle(shared: &Arc<Shared>, body: &[u8]) -> Reply {
    let Some([ticket, answer]) = texts(body, ["ticket", "answer"]) else {
        return bad("the body is an object with the texts `ticket` and `answer`");
    };
    let reply = blocking(shared, Bytes::new(), move |warden, _| warden.settle(&ticket, &answer)).await;
    shared.answers.ring();
    reply
}

/// The seconds that a request is willing to wait, no more than it may.
fn wait(shared: &Shared, query: &str) -> Option<Duration> {
    let seconds = number(query, "wait")?;
    Some(Duration::from_secs(seconds).min(shared.limits.wait))
}

/// A number of the query; 0 where it has none by this name, nothing where it is no number.
fn number(query: &str, name: &str) -> Option<u64> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map_or(Some(0), |(_, value)| value.parse().ok())
}

fn bad_query() -> Reply {
    reply::error(StatusCode::BAD_REQUEST, "bad-query", "`wait` and `after` are whole numbers")
}

/// Looks again each time the bell rings, until there is something, time is up or the sidecar stops.
async fn waited<T>(shared: &Shared, time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let until = tokio::time::Instant::now() + time;
    loop {
        let rung = shared.answers.rung();
        if let Some(found) = look() {
            return Some(found);
        }
        tokio::select! {
            () = rung => {}
            () = tokio::time::sleep_until(until) => return look(),
            () = shared.stopping.cancelled() => return None,
        }
    }
}

async fn questions(shared: &Arc<Shared>, query: &str) -> Reply {
    let (Some(time), Some(after)) = (wait(shared, query), number(query, "after")) else { return bad_query() };
    let look = || {
        let mut questions: Value = serde_json::from_str(&shared.warden.questions().ok()?).ok()?;
        let list = questions.get_mut("questions")?.as_array_mut()?;
        // What somebody has answered waits for its caller only.
        list.retain(|question| {
            let is_new = question["number"].as_u64().is_some_and(|number| number > after);
            is_new && !question["ticket"].as_str().is_some_and(|ticket| shared.answers.is_given(ticket))
        });
        (!list.is_empty()).then(|| questions.to_string())
    };
    reply::json(waited(shared, time, look).await.unwrap_or_else(|| json!({ "questions": [] }).to_string()))
}

fn answered(shared: &Shared, ticket: &str, body: &[u8]) -> Reply {
    let Some([answer]) = texts(body, ["answer"]) else { return bad("the body is an object with the text `answer`") };
    if let Err(error) = answer.parse::<Approval>() {
        return bad(&error.to_string());
    }
    let waits = |ticket: &str| shared.warden.is_waiting(ticket);
    shared.answers.keep_only(waits);
    if !waits(ticket) {
        return reply::error(StatusCode::NOT_FOUND, "unknown-ticket", "no question waits under this ticket");
    }
    match shared.answers.give(ticket, answer) {
        Ok(()) => reply::json(r#"{"answered":true}"#),
        Err(NotKept::Answered) => {
            reply::error(StatusCode::CONFLICT, "already-answered", "somebody has answered; the first answer counts")
        }
        Err(NotKept::TooMany) => {
            reply::error(StatusCode::SERVICE_UNAVAILABLE, "too-many-answers", "too many answers wait to be fetched")
        }
    }
}

async fn collected(shared: &Arc<Shared>, ticket: &str, query: &str) -> Reply {
    let Some(time) = wait(shared, query) else { return bad_query() };
    // The answer comes out once, for one of those who wait.
    let look = || shared.answers.take(ticket).map(Some).or_else(|| (!shared.warden.is_waiting(ticket)).then_some(None));
    match waited(shared, time, look).await {
        None => reply::typed(StatusCode::ACCEPTED, HeaderValue::from_static("application/json"), r#"{"waiting":true}"#),
        Some(None) => reply::error(StatusCode::NOT_FOUND, "unknown-ticket", "no question waits under this ticket"),
        Some(Some(answer)) => {
            let ticket = ticket.to_owned();
            let reply = blocking(shared, Bytes::new(), move |warden, _| warden.settle(&ticket, &answer)).await;
            shared.answers.ring();
            reply
        }
    }
}
