//! Event streams: the one that answers a request, and the one that a legacy server speaks on unasked.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};

use super::{HttpClient, LAST_EVENT_ID, body, headers};
use crate::mcp::error::WireError;
use crate::mcp::link::Link;
use crate::mcp::sse::SseParser;
use crate::mcp::version::Era;

/// Pause before a stream is taken up again, where the server names none. Source: the official clients.
const PAUSE: Duration = Duration::from_secs(1);

/// The pauses that a server may ask for: it is neither asked without rest nor left alone for ever.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(30));

/// How long, and how many pieces, a response may go on after its answer. Then its connection is given up; else it is used
/// again.
const REST: (Duration, usize) = (Duration::from_secs(1), 16);

/// How a stream came to its end.
enum End {
    Answered,
    Over,
}

/// Hands on what a response brings, until the answer is there. A stream that breaks off before is taken up again, where its
/// server supports that.
pub(super) async fn answer(
    client: &HttpClient,
    link: &Arc<Link>,
    id: u64,
    response: Response<Incoming>,
) -> Result<(), WireError> {
    let mut response = response;
    let mut attempts = 0;
    loop {
        let mut parser = SseParser::new(client.limits.message_bytes);
        if let End::Answered = read(link, Some(id), response.into_body(), &mut parser).await? {
            return Ok(());
        }
        let Some(place) = place(&parser).filter(|_| link.era() == Era::Legacy) else {
            return Err(WireError::NoAnswer);
        };
        response = loop {
            if attempts >= client.limits.resumptions {
                return Err(WireError::NoAnswer);
            }
            attempts += 1;
            sleep(pause(&parser)).await;
            match open(client, Some(&place)).await {
                Ok(response) => {
                    attempts = 0;
                    break response;
                }
                Err(error @ (WireError::SessionLost | WireError::Redirected { .. })) => return Err(error),
                Err(_) => {}
            }
        };
    }
}

/// Listens until the server has none of it, or has left for good.
pub(super) async fn listen(client: &HttpClient, link: &Arc<Link>) -> Result<(), WireError> {
    let mut last: Option<HeaderValue> = None;
    let mut attempts = 0;
    loop {
        let mut parser = SseParser::new(client.limits.message_bytes);
        match open(client, last.as_ref()).await {
            Ok(response) => {
                attempts = 0;
                read(link, None, response.into_body(), &mut parser).await?;
                last = place(&parser).or(last);
            }
            Err(WireError::Unreachable { .. }) if attempts < client.limits.resumptions => attempts += 1,
            Err(error) => return Err(error),
        }
        sleep(pause(&parser)).await;
    }
}

async fn open(client: &HttpClient, place: Option<&HeaderValue>) -> Result<Response<Incoming>, WireError> {
    let mut headers = client.base_headers(false);
    headers.extend(place.map(|place| (LAST_EVENT_ID, place.clone())));
    let response = client.send(Method::GET, &headers, Bytes::new()).await?;
    match headers::kind(&response) {
        Some(headers::Kind::Events) if response.status() == StatusCode::OK => Ok(response),
        _ if response.status().is_success() => Err(client.content_type(&response)),
        _ => Err(client.status(&response)),
    }
}

/// Hands on the messages of a stream. A stream that breaks off has ended.
async fn read(
    link: &Arc<Link>,
    own: Option<u64>,
    mut body: Incoming,
    parser: &mut SseParser,
) -> Result<End, WireError> {
    while let Ok(Some(piece)) = body::next(&mut body).await {
        let Ok(events) = parser.push(&piece) else {
            link.receive_too_long(None);
            return Err(WireError::TooLarge { limit: link.limits.message_bytes });
        };
        for event in events {
            if event.is_message() {
                // A malformed one is counted, and fails the request that it answers.
                let _ = link.receive(&event.data, own);
            }
        }
        if own.is_some_and(|id| !link.waits(id)) {
            tokio::spawn(timeout(REST.0, rest(body)));
            return Ok(End::Answered);
        }
    }
    Ok(End::Over)
}

/// Reads a stream to its end after the answer.
async fn rest(mut body: Incoming) {
    for _ in 0..REST.1 {
        if !matches!(body::next(&mut body).await, Ok(Some(_))) {
            return;
        }
    }
}

fn place(parser: &SseParser) -> Option<HeaderValue> {
    HeaderValue::from_bytes(parser.last_id()?).ok()
}

fn pause(parser: &SseParser) -> Duration {
    parser.retry_ms().map_or(PAUSE, Duration::from_millis).clamp(PAUSES.0, PAUSES.1)
}
