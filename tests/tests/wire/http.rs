//! Servers that are endpoints: both eras, both kinds of answers, and what goes wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolwarden::mcp::config::ServerConfig;
use toolwarden::mcp::listing::{ListLimits, Listing, list_once, list_tools};
use toolwarden::mcp::{Ask, Connection, Era, Notification, Peer, RpcCode, RpcError, WireError};

use crate::fixture::{expected, in_ms, object, options, quick, server, soon, tool};
use crate::web::{Answer, Seen, Web, refusal, result};

/// How a good server answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Json,
    Events,
}

impl Form {
    fn answer(self, message: &Value) -> Answer {
        match self {
            Self::Json => Answer::json(message),
            Self::Events => Answer::events(&[
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}),
                message.clone(),
            ]),
        }
    }
}

fn good(seen: &Seen, era: Era, form: Form) -> Answer {
    let opening = expected(era).raw;
    match (era, seen.what()) {
        (Era::Legacy, "initialize") => form.answer(&result(seen, &opening)).header("mcp-session-id", "session-1"),
        (Era::Legacy, "server/discover") => Answer::new(400, "text/plain", "Bad Request: no valid session ID"),
        (Era::Modern, "server/discover") => form.answer(&result(seen, &opening)),
        (_, "tools/list") => {
            let page = if seen.body["params"]["cursor"].is_null() { 1 } else { 2 };
            let next = if page == 1 { json!({"nextCursor": ""}) } else { json!({}) };
            let mut list = object(json!({"tools": [tool(page)]}));
            list.extend(object(next));
            form.answer(&result(seen, &list.into()))
        }
        (_, "notifications/initialized") => Answer::empty(202),
        (_, "DELETE") => Answer::empty(200),
        (_, "GET") => Answer::empty(405),
        _ => Answer::new(404, "application/json", refusal(seen, -32_601, &Value::Null).to_string()),
    }
}

fn at(web: &Web) -> ServerConfig {
    server(&json!({"url": format!("{}/mcp?key=s3cret", web.origin), "headers": {"X-Key": "k3y!", "Accept": "x"}}))
}

async fn list(web: &Web) -> Result<Listing, WireError> {
    list_once(&at(web), &options(), &ListLimits::default(), quick(), soon()).await
}

#[tokio::test]
async fn both_eras_and_both_forms() {
    for era in [Era::Legacy, Era::Modern] {
        for form in [Form::Json, Form::Events] {
            let web = Web::start(move |seen| good(seen, era, form)).await;
            let server = expected(era);
            let listing = Listing { server, tools: vec![tool(1), tool(2)], pages: 2, changed_meanwhile: false };
            assert_eq!(list(&web).await, Ok(listing), "{era:?} {form:?}");
            let told = web.told();
            let seen = web.seen();
            let of = |name| seen.iter().map(|seen| seen.header(name)).collect::<Vec<_>>();
            let (modern, legacy, session) = (Some("2026-07-28"), Some("2025-11-25"), Some("session-1"));
            match era {
                Era::Modern => {
                    assert_eq!(told, ["server/discover", "server/discover", "tools/list", "tools/list"]);
                    assert_eq!(of("mcp-protocol-version"), [modern; 4]);
                    assert_eq!(of("mcp-method"), told.iter().map(|told| Some(told.as_str())).collect::<Vec<_>>());
                    assert_eq!(of("mcp-session-id"), [None; 4]);
                }
                Era::Legacy => {
                    let opening = ["server/discover", "initialize", "notifications/initialized"];
                    assert_eq!(told, [&opening[..], &["tools/list", "tools/list", "DELETE"]].concat());
                    assert_eq!(of("mcp-protocol-version"), [modern, None, legacy, legacy, legacy, legacy]);
                    assert_eq!(of("mcp-session-id"), [None, None, session, session, session, session]);
                    assert_eq!(of("mcp-method")[1..], [None; 5]);
                }
            }
            assert!(of("x-key").iter().all(|value| *value == Some("k3y!")));
            assert!(of("accept").iter().all(|value| *value == Some("application/json, text/event-stream")));
            assert!(seen.iter().all(|seen| seen.path == "/mcp?key=s3cret"));
        }
    }
}

#[tokio::test]
async fn a_call_names_its_tool_in_a_header() {
    let web = Web::start(|seen| match seen.what() {
        "tools/call" => Answer::json(&result(seen, &json!({}))),
        _ => good(seen, Era::Modern, Form::Json),
    })
    .await;
    let connection = Connection::open(&at(&web), &options(), soon()).await.unwrap();
    for (name, header) in [("echo", "echo"), ("écho", "=?base64?w6ljaG8=?=")] {
        let ask = Ask::new("tools/call").params(object(json!({"name": name})));
        let ask = ask.header("mcp-param-region".parse().unwrap(), toolwarden::mcp::header_text("eu"));
        assert_eq!(connection.request(ask).await, Ok(json!({})));
        let seen = web.seen().pop().unwrap();
        assert_eq!((seen.header("mcp-name"), seen.header("mcp-param-region")), (Some(header), Some("eu")));
    }
}

#[tokio::test]
async fn a_user_in_the_url_signs_in() {
    let web = Web::start(|seen| good(seen, Era::Modern, Form::Json)).await;
    let url = web.origin.replace("http://", "http://me:p%40ss@");
    let listing = list_once(&server(&json!({"url": url})), &options(), &ListLimits::default(), quick(), soon()).await;
    assert_eq!(listing.unwrap().tools.len(), 2);
    assert_eq!(web.seen()[0].header("authorization"), Some("Basic bWU6cEBzcw=="));
}

#[tokio::test]
async fn a_redirect_is_followed_within_its_origin_only() {
    let other = Web::start(|seen| good(seen, Era::Modern, Form::Json)).await;
    for (status, to, expected) in [
        (307, "/new".to_owned(), Ok(2)),
        (308, "/new".to_owned(), Ok(2)),
        (307, format!("{}/new", other.origin), Err(other.origin.as_str())),
        (308, "https://127.0.0.1/new".to_owned(), Err("https://127.0.0.1")),
        (307, "//127.0.0.1/new".to_owned(), Err("no place")),
        (307, "/mcp?key=s3cret".to_owned(), Err("itself, again and again")),
        (302, "/new".to_owned(), Err("")),
        (303, "/new".to_owned(), Err("")),
    ] {
        let target = to.clone();
        let web = Web::start(move |seen| match seen.path.as_str() {
            "/new" => good(seen, Era::Modern, Form::Json),
            _ => Answer::empty(status).header("location", target.clone()),
        })
        .await;
        // Where the method would be lost, the place itself is told.
        let place = |place: &str| if place.is_empty() { web.origin.clone() } else { place.to_owned() };
        let expected = expected.map_err(|to| WireError::Redirected { to: place(to) });
        assert_eq!(list(&web).await.map(|listing| listing.tools.len()), expected, "{status} {to}");
    }
    assert_eq!(other.told(), [""; 0]);
}

#[tokio::test]
async fn a_lost_session_is_told_as_such() {
    let web = Web::start(|seen| match seen.what() {
        "tools/list" => Answer::new(404, "application/json", refusal(seen, -32_001, &Value::Null).to_string()),
        _ => good(seen, Era::Legacy, Form::Json),
    })
    .await;
    assert_eq!(list(&web).await, Err(WireError::SessionLost));
}

#[tokio::test]
async fn what_is_no_answer_has_its_error() {
    type Make = fn(&Seen) -> Answer;
    let html = || WireError::ContentType("text/html; charset=utf-8".to_owned());
    let limit = options().limits.message_bytes;
    let cases: [(Make, WireError); 12] = [
        (|_| Answer::empty(401), WireError::HttpStatus { status: 401 }),
        (|_| Answer::new(500, "text/plain", "k3y!"), WireError::HttpStatus { status: 500 }),
        (|_| Answer::new(502, "application/json", "{"), WireError::HttpStatus { status: 502 }),
        (|_| Answer::new(200, "text/html; charset=utf-8", "<p>"), html()),
        (|_| Answer::empty(202), WireError::NoAnswer),
        (|_| Answer::events(&[]), WireError::NoAnswer),
        (|_| Answer::events(&[json!({"jsonrpc": "2.0", "id": 99, "result": {}})]), WireError::NoAnswer),
        (|seen| Answer { breaks: true, ..Answer::json(&result(seen, &json!({}))) }, WireError::NoAnswer),
        (|_| Answer { breaks: true, ..Answer::events(&[]) }, WireError::NoAnswer),
        (|_| Answer::new(200, "application/json", vec![b' '; (32 << 20) + 1]), WireError::TooLarge { limit }),
        (
            |_| Answer {
                hangs: true,
                ..Answer::new(200, "text/event-stream", [b"data: ".to_vec(), vec![b'x'; 32 << 20]].concat())
            },
            WireError::TooLarge { limit },
        ),
        (
            |_| {
                Answer::new(
                    400,
                    "application/json",
                    json!({"jsonrpc": "2.0", "error": {"code": -32020, "message": "m"}}).to_string(),
                )
            },
            WireError::Refused(Box::new(RpcError::new(RpcCode::HEADER_MISMATCH, "m"))),
        ),
    ];
    for (index, (make, error)) in cases.into_iter().enumerate() {
        let web = Web::start(move |seen| match seen.what() {
            "tools/list" => make(seen),
            _ => good(seen, Era::Modern, Form::Json),
        })
        .await;
        assert_eq!(list(&web).await, Err(error), "case {index}");
    }
    let web = Web::start(|seen| match seen.what() {
        "tools/list" => Answer::new(
            200,
            "application/json",
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"a":1,"a":2}}}}"#, seen.body["id"]),
        ),
        _ => good(seen, Era::Modern, Form::Json),
    })
    .await;
    assert_eq!(list(&web).await.unwrap_err().code(), "duplicate-key");
}

#[tokio::test]
async fn a_secret_that_the_server_repeats_is_not_shown() {
    let web = Web::start(|seen| match seen.what() {
        "tools/list" => Answer::json(&refusal(seen, -32_000, &json!({"key": ["s3cret", "is not k3y!"]}))),
        _ => good(seen, Era::Modern, Form::Json),
    })
    .await;
    let Err(WireError::Refused(error)) = list(&web).await else { panic!("not refused") };
    assert_eq!(error.data, Some(json!({"key": ["[hidden]", "is not [hidden]"]})));
}

#[tokio::test]
async fn an_opening_that_is_refused_is_understood() {
    let modern = |code| {
        move |seen: &Seen| match seen.what() {
            "server/discover" => Answer::new(
                400,
                "application/json",
                refusal(seen, code, &json!({"supported": ["2099-01-01"]})).to_string(),
            ),
            _ => good(seen, Era::Legacy, Form::Json),
        }
    };
    for (code, expected) in [
        (-32_020, Err("server-error")),
        (-32_021, Err("server-error")),
        (-32_022, Err("unsupported-protocol-version")),
        (-32_600, Ok(2)),
    ] {
        let web = Web::start(modern(code)).await;
        assert_eq!(
            list(&web).await.map(|listing| listing.tools.len()).map_err(|error| error.code()),
            expected,
            "{code}"
        );
    }
    for (status, expected) in [
        (400, Ok(2)),
        (404, Ok(2)),
        (405, Ok(2)),
        (406, Ok(2)),
        (500, Ok(2)),
        (401, Err(WireError::HttpStatus { status: 401 })),
        (403, Err(WireError::HttpStatus { status: 403 })),
    ] {
        let web = Web::start(move |seen| match seen.what() {
            "server/discover" => Answer::empty(status),
            _ => good(seen, Era::Legacy, Form::Json),
        })
        .await;
        assert_eq!(list(&web).await.map(|listing| listing.tools.len()), expected, "{status}");
    }
}

#[tokio::test]
async fn nobody_there_is_told_without_secrets() {
    let web = Web::start(|_| Answer::empty(500)).await;
    let config = at(&web);
    let origin = web.origin.clone();
    drop(web);
    let error = Connection::open(&config, &options(), soon()).await.unwrap_err();
    assert!(matches!(&error, WireError::Unreachable { origin: found, .. } if *found == origin), "{error:?}");
    for shown in [format!("{error:?} {error}"), format!("{config:?}"), config.identity.to_value().to_string()] {
        assert!(!shown.contains("s3cret") && !shown.contains("k3y!"), "{shown}");
    }
    // One that speaks no TLS.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = server(&json!({"url": format!("https://{}", listener.local_addr().unwrap())}));
    let answering = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        stream
    };
    let options = options();
    let (opened, _stream) = tokio::join!(Connection::open(&config, &options, soon()), answering);
    let error = opened.unwrap_err();
    assert_eq!(error.code(), "unreachable", "{error}");
}

#[tokio::test]
async fn an_endless_stream_ends_with_the_deadline() {
    for era in [Era::Modern, Era::Legacy] {
        let web = Web::start(move |seen| match seen.what() {
            "tools/list" => Answer { hangs: true, ..Answer::new(200, "text/event-stream", ": still there\n\n") },
            _ => good(seen, era, Form::Json),
        })
        .await;
        let connection = Connection::open(&at(&web), &options(), soon()).await.unwrap();
        let error = list_tools(&connection, &ListLimits::default(), in_ms(300)).await.unwrap_err();
        assert_eq!(error.code(), "deadline-exceeded");
        // The server sees that nobody reads any more; a legacy one must be told.
        web.gone.notified().await;
        if era == Era::Legacy {
            let told = web.wait_for("notifications/cancelled").await;
            let asked = web.seen().into_iter().find(|seen| seen.what() == "tools/list").unwrap();
            assert_eq!(told.body["params"], json!({"requestId": asked.body["id"]}));
            assert_eq!(told.header("mcp-session-id"), Some("session-1"));
        }
        drop(connection);
        if era == Era::Legacy {
            web.wait_for("DELETE").await;
        } else {
            assert!(!web.told().contains(&"notifications/cancelled".to_owned()));
        }
    }
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_again() {
    let asked: Arc<Mutex<Option<Value>>> = Arc::default();
    let web = Web::start(move |seen| match seen.what() {
        "tools/list" => {
            *asked.lock().unwrap() = Some(result(seen, &json!({"tools": []})));
            Answer::new(200, "text/event-stream", "id: place-1\nretry: 50\ndata:\n\n")
        }
        "GET" if seen.header("last-event-id") == Some("place-1") => {
            Answer::events(&[asked.lock().unwrap().clone().unwrap()])
        }
        _ => good(seen, Era::Legacy, Form::Json),
    })
    .await;
    assert_eq!(list(&web).await.map(|listing| listing.tools.len()), Ok(0));
}

#[tokio::test]
async fn one_that_cannot_be_taken_up_is_given_up() {
    let web = Web::start(move |seen| match seen.what() {
        "tools/list" => Answer::new(200, "text/event-stream", "id: 1\nretry: 50\ndata:\n\n"),
        _ => good(seen, Era::Legacy, Form::Json),
    })
    .await;
    assert_eq!(list(&web).await, Err(WireError::NoAnswer));
    assert_eq!(web.told().iter().filter(|told| *told == "GET").count(), options().limits.resumptions);
}

#[derive(Default)]
struct Ears(Mutex<Vec<String>>);

#[async_trait]
impl Peer for Ears {
    fn notification(&self, notification: Notification) {
        self.0.lock().unwrap().push(notification.method);
    }
}

#[tokio::test]
async fn what_comes_with_an_answer_is_heard() {
    let web = Web::start(|seen| match seen.what() {
        "slow" => {
            let token = &seen.body["params"]["_meta"]["progressToken"];
            Answer::events(&[
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}),
                json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
                json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}),
                result(seen, &json!({"done": true})),
            ])
        }
        "POST" => Answer::empty(202),
        _ => good(seen, Era::Legacy, Form::Events),
    })
    .await;
    let ears = Arc::new(Ears::default());
    let options = toolwarden::mcp::ConnectOptions { peer: Arc::clone(&ears) as _, ..options() };
    let connection = Connection::open(&at(&web), &options, soon()).await.unwrap();
    let (sink, mut progress) = mpsc::channel(4);
    assert_eq!(connection.request(Ask::new("slow").progress(sink)).await, Ok(json!({"done": true})));
    assert_eq!(progress.recv().await.unwrap()["progress"], 1);
    assert_eq!(*connection.tools_changed().borrow(), 1);
    assert_eq!(*ears.0.lock().unwrap(), ["notifications/message", "notifications/tools/list_changed"]);
    let pong = web.wait_for("POST").await;
    assert_eq!(pong.body, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
}

#[tokio::test]
async fn changes_are_heard_on_a_stream_of_their_own() {
    let gets = AtomicUsize::new(0);
    let change = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let web = Web::start(move |seen| match seen.what() {
        "GET" => match gets.fetch_add(1, Ordering::SeqCst) {
            0 => Answer::new(200, "text/event-stream", format!("id: 7\nretry: 50\ndata: {change}\n\n")),
            1 => Answer { hangs: true, ..Answer::events(std::slice::from_ref(&change)) },
            _ => Answer::empty(405),
        },
        _ => good(seen, Era::Legacy, Form::Json),
    })
    .await;
    let connection = Connection::open(&at(&web), &options(), soon()).await.unwrap();
    connection.listen(object(json!({"toolsListChanged": true})));
    connection.tools_changed().wait_for(|times| *times == 2).await.unwrap();
    let gets: Vec<_> = web.seen().into_iter().filter(|seen| seen.what() == "GET").collect();
    assert_eq!(gets.iter().map(|get| get.header("last-event-id")).collect::<Vec<_>>(), [None, Some("7")]);
    assert!(connection.is_listening());
    connection.close().await;
    web.gone.notified().await;

    let web = Web::start(|seen| good(seen, Era::Legacy, Form::Json)).await;
    let connection = Connection::open(&at(&web), &options(), soon()).await.unwrap();
    connection.listen(object(json!({})));
    web.wait_for("GET").await;
    while connection.is_listening() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
