//! Both ends in one process and a clock that waits for nobody: eras, ids, cancellation, progress, requests of the server.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolwarden::mcp::listing::{ListLimits, list_tools};
use toolwarden::mcp::{
    Ask, ConnectOptions, Connection, Era, EraChoice, Notification, Oddities, Peer, Request, RpcCode, RpcError,
    WireError,
};

use crate::fixture::{in_ms, object, options, soon};

/// The server's end.
struct Server {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
}

impl Server {
    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("a message");
        serde_json::from_str(&line).unwrap()
    }

    async fn say(&mut self, message: Value) {
        self.out.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message["id"].clone()
    }

    async fn answer(&mut self, id: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    async fn refuse(&mut self, id: &Value, code: i64, data: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}})).await;
    }

    async fn discover(&mut self) {
        let id = self.expect("server/discover").await;
        self.answer(&id, discovered()).await;
    }

    async fn initialize(&mut self) {
        let id = self.expect("initialize").await;
        self.answer(&id, initialized()).await;
        self.expect("notifications/initialized").await;
    }

    async fn legacy(&mut self) {
        let id = self.expect("server/discover").await;
        self.refuse(&id, -32_601, Value::Null).await;
        self.initialize().await;
    }
}

fn discovered() -> Value {
    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
}

fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
}

fn pair() -> (DuplexStream, Server) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (read, out) = tokio::io::split(theirs);
    (ours, Server { lines: BufReader::new(read).lines(), out })
}

async fn open(stream: DuplexStream, options: &ConnectOptions) -> Result<Connection, WireError> {
    let (read, write) = tokio::io::split(stream);
    Connection::over(read, write, options, soon()).await
}

/// Opens a connection while the server does this.
async fn opened(options: &ConnectOptions, era: Era) -> (Connection, Server) {
    let (stream, mut server) = pair();
    let opening = async {
        match era {
            Era::Legacy => server.legacy().await,
            Era::Modern => server.discover().await,
        }
    };
    let (connection, ()) = tokio::join!(open(stream, options), opening);
    (connection.unwrap(), server)
}

#[tokio::test(start_paused = true)]
async fn silence_means_the_legacy_era() {
    let options = options();
    let (stream, mut server) = pair();
    let silent = async {
        server.expect("server/discover").await;
        server.initialize().await;
    };
    let (connection, ()) = tokio::join!(open(stream, &options), silent);
    assert_eq!(connection.unwrap().opened().era, Era::Legacy);
}

#[tokio::test(start_paused = true)]
async fn slowness_does_not_make_a_modern_server_a_legacy_one() {
    let options = options();
    for code in [-32_601, -32_602, -32_022] {
        let (stream, mut server) = pair();
        let slow = async {
            server.expect("server/discover").await;
            let id = server.expect("initialize").await;
            server.refuse(&id, code, json!({"supported": ["2026-07-28"]})).await;
            server.discover().await;
        };
        let (connection, ()) = tokio::join!(open(stream, &options), slow);
        assert_eq!(connection.unwrap().opened().era, Era::Modern, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_error_is_no_reason_to_fall_back() {
    let try_with = async |code: i64, data: Value| {
        let (stream, mut server) = pair();
        let refusing = async {
            let id = server.expect("server/discover").await;
            server.refuse(&id, code, data).await;
            server
        };
        let options = options();
        let mut opening = Box::pin(open(stream, &options));
        tokio::select! {
            biased;
            (result, mut server) = async { tokio::join!(&mut opening, refusing) } => {
                drop(server.lines.next_line().await);
                result.map(|connection| connection.opened().era)
            }
            // It waits for `initialize` to be answered.
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => Ok(Era::Legacy),
        }
    };
    let refused = |code, data| {
        let data = Some(data).filter(|data: &Value| !data.is_null());
        Err(WireError::Refused(Box::new(RpcError { data, ..RpcError::new(RpcCode(code), "no") })))
    };
    for (code, data, expected) in [
        (
            -32_021,
            json!({"requiredCapabilities": {"roots": {}}}),
            refused(-32_021, json!({"requiredCapabilities": {"roots": {}}})),
        ),
        (-32_020, json!(1), refused(-32_020, json!(1))),
        (-32_601, json!(1), Ok(Era::Legacy)),
        (-32_602, json!(1), Ok(Era::Legacy)),
        (-32_022, json!(1), Ok(Era::Legacy)),
        (-32_022, json!({"supported": ["2025-11-25"]}), Ok(Era::Legacy)),
    ] {
        assert_eq!(try_with(code, data.clone()).await, expected, "{code} {data}");
    }
    let other = try_with(-32_022, json!({"supported": ["2099-01-01"]})).await.unwrap_err();
    assert_eq!(other.to_string(), "the server speaks the protocol version `2099-01-01` only");
}

#[tokio::test(start_paused = true)]
async fn a_version_that_both_know_is_taken() {
    let mut options = options();
    options.profile.modern_version = "2027-01-01".to_owned();
    let (stream, mut server) = pair();
    let serving = async {
        let first = server.next().await;
        assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2027-01-01");
        server.refuse(&first["id"], -32_022, json!({"supported": ["2026-07-28", "2025-11-25"]})).await;
        let second = server.next().await;
        assert_eq!(second["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        server.answer(&second["id"], discovered()).await;
    };
    let (connection, ()) = tokio::join!(open(stream, &options), serving);
    assert_eq!(connection.unwrap().opened().version, "2026-07-28");
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_says_nothing_is_refused() {
    let mut options = options();
    options.profile.era = EraChoice::Only(Era::Legacy);
    for (result, code) in [
        (json!({}), "bad-opening"),
        (json!({"protocolVersion": 7}), "bad-opening"),
        (json!({"protocolVersion": "2026-07-28"}), "unsupported-protocol-version"),
        (json!({"protocolVersion": "1999-01-01"}), "unsupported-protocol-version"),
    ] {
        let (stream, mut server) = pair();
        let serving = async {
            let id = server.expect("initialize").await;
            server.answer(&id, result.clone()).await;
        };
        let (connection, ()) = tokio::join!(open(stream, &options), serving);
        assert_eq!(connection.unwrap_err().code(), code, "{result}");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_requests_in_any_order() {
    let (connection, mut server) = opened(&options(), Era::Legacy).await;
    let asks = ["a", "b", "c"].map(|method| connection.request(Ask::new(method).deadline(soon())));
    let serving = async {
        let (a, b, c) = (server.expect("a").await, server.expect("b").await, server.expect("c").await);
        server.answer(&c, json!({"c": 1})).await;
        let error = json!({"jsonrpc": "2.0", "id": b, "error": {"code": -1, "message": "no"}});
        server.say(json!([error, {"jsonrpc": "2.0", "id": a, "result": {"a": 1}}])).await;
    };
    let (answers, ()) = tokio::join!(futures_of(asks), serving);
    let refused = Err(WireError::Refused(Box::new(RpcError::new(RpcCode(-1), "no"))));
    assert_eq!(answers, [Ok(json!({"a": 1})), refused, Ok(json!({"c": 1}))]);
}

async fn futures_of<F: Future>(futures: [F; 3]) -> [F::Output; 3] {
    let [a, b, c] = futures;
    let (a, b, c) = tokio::join!(a, b, c);
    [a, b, c]
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_disturbs_nobody() {
    let (connection, mut server) = opened(&options(), Era::Legacy).await;
    let late = connection.request(Ask::new("a").deadline(in_ms(300)));
    let serving = async { server.expect("a").await };
    let (late, id) = tokio::join!(late, serving);
    assert!(
        matches!(late, Err(WireError::DeadlineExceeded { after, strays: 0 }) if after.as_millis() == 300),
        "{late:?}"
    );
    let notice = server.next().await;
    assert_eq!(notice, json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));

    let next = connection.request(Ask::new("b").deadline(soon()));
    let serving = async {
        let b = server.expect("b").await;
        server.answer(&id, json!("late")).await;
        server.answer(&json!(b.to_string()), json!("another id")).await;
        server.answer(&b, json!("in time")).await;
    };
    let (next, ()) = tokio::join!(next, serving);
    assert_eq!(next, Ok(json!("in time")));
    assert_eq!(connection.oddities(), Oddities { stray_answers: 2, ..Oddities::default() });
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_fails_the_request_that_it_answers() {
    let (connection, mut server) = opened(&options(), Era::Legacy).await;
    let deep = "[".repeat(200);
    for (text, code) in [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"a":"#, "not-json"),
        (&format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{deep}"#), "not-json"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"a":1,"a":2}}"#, "duplicate-key"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":1e300}"#, "number-out-of-range"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":"\ud800"}"#, "not-json"),
        (r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#, "bad-jsonrpc-version"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":null}"#, "bad-answer"),
    ] {
        let serving = async {
            let id = server.expect("a").await;
            let line = text.replace("ID", &id.to_string());
            server.out.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        };
        let (answer, ()) = tokio::join!(connection.request(Ask::new("a").deadline(soon())), serving);
        assert_eq!(answer.unwrap_err().code(), code, "{text}");
    }
    assert_eq!(connection.oddities(), Oddities { malformed: 7, ..Oddities::default() });
    assert_eq!(connection.last_words(), [""; 0], "what is no prose is not shown");
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_up_says_so_once() {
    let (connection, mut server) = opened(&options(), Era::Modern).await;
    let token = CancellationToken::new();
    let ask = connection.request(Ask::new("a").cancel(token.clone()));
    let serving = async {
        let id = server.expect("a").await;
        token.cancel();
        assert_eq!(server.next().await["params"], json!({"requestId": id}));
    };
    assert_eq!(tokio::join!(ask, serving), (Err(WireError::Cancelled), ()));

    // One that is dropped, one that was answered.
    let mut dropped = Box::pin(connection.request(Ask::new("b")));
    let b = tokio::select! { _ = &mut dropped => panic!("it has no answer"), id = server.expect("b") => id };
    drop(dropped);
    assert_eq!(server.next().await["params"], json!({"requestId": b}));
    let answered = connection.request(Ask::new("c"));
    let serving = async {
        let id = server.expect("c").await;
        server.answer(&id, json!({})).await;
    };
    assert_eq!(tokio::join!(answered, serving), (Ok(json!({})), ()));
    connection.notify("end", None).await.unwrap();
    server.expect("end").await;
}

#[tokio::test(start_paused = true)]
async fn progress_goes_to_the_request_that_asked_for_it() {
    let (connection, mut server) = opened(&options(), Era::Legacy).await;
    let (sink, mut progress) = mpsc::channel(8);
    let params = object(json!({"_meta": {"progressToken": "theirs", "k": 1}}));
    let ask = connection.request(Ask::new("a").params(params).progress(sink));
    let serving = async {
        let request = server.next().await;
        let token = request["params"]["_meta"]["progressToken"].clone();
        assert_eq!(request["params"]["_meta"], json!({"progressToken": request["id"], "k": 1}));
        let tell = |token: &Value, n| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": n}});
        server.say(tell(&token, 1)).await;
        server.say(tell(&json!("theirs"), 2)).await;
        server.say(tell(&token, 3)).await;
        server.answer(&request["id"], json!({})).await;
        server.say(tell(&token, 4)).await;
        token
    };
    let (answer, token) = tokio::join!(ask, serving);
    assert_eq!(answer, Ok(json!({})));
    let mut seen = Vec::new();
    while let Some(params) = progress.recv().await {
        seen.push(params);
    }
    assert_eq!(seen, [json!({"progressToken": token, "progress": 1}), json!({"progressToken": token, "progress": 3})]);
    connection.notify("x", None).await.unwrap();
    server.expect("x").await;
    assert_eq!(connection.oddities().stray_progress, 2);
}

/// Answers `roots/list`, never answers `slow`, and notes what it hears.
#[derive(Default)]
struct Ears(Mutex<Vec<String>>);

#[async_trait]
impl Peer for Ears {
    async fn request(&self, request: Request) -> Result<Value, RpcError> {
        match request.method.as_str() {
            "roots/list" => Ok(json!({"roots": [], "asked": request.extra})),
            "slow" => std::future::pending().await,
            _ => Err(RpcError::new(RpcCode::METHOD_NOT_FOUND, "not here")),
        }
    }

    fn notification(&self, notification: Notification) {
        self.0.lock().unwrap().push(notification.method);
    }
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_may_ask() {
    let (connection, mut server) = opened(&options(), Era::Legacy).await;
    server.say(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})).await;
    assert_eq!(server.next().await, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
        server.say(json!({"jsonrpc": "2.0", "id": 9_007_199_254_740_993_u64, "method": method, "params": {}})).await;
        let error = json!({"code": -32601, "message": format!("`{method}` is not supported")});
        assert_eq!(server.next().await, json!({"jsonrpc": "2.0", "id": 9_007_199_254_740_993_u64, "error": error}));
    }
    drop(connection);

    let ears = Arc::new(Ears::default());
    let options = ConnectOptions { peer: Arc::clone(&ears) as _, ..options() };
    let (connection, mut server) = opened(&options, Era::Legacy).await;
    server.say(json!({"jsonrpc": "2.0", "id": "s", "method": "slow"})).await;
    server.say(json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list", "x": 1})).await;
    let result = json!({"roots": [], "asked": {"x": 1}});
    assert_eq!(
        server.next().await,
        json!({"jsonrpc": "2.0", "id": 1, "result": result}),
        "the slow one holds up nobody"
    );
    server.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}})).await;
    server.say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
    let mut changes = connection.tools_changed();
    changes.wait_for(|times| *times == 1).await.unwrap();
    assert_eq!(*ears.0.lock().unwrap(), ["notifications/cancelled", "notifications/tools/list_changed"]);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_requests_is_not_answered() {
    let mut options = ConnectOptions { peer: Arc::new(Ears::default()), ..options() };
    options.limits.peer_requests = 2;
    let (connection, mut server) = opened(&options, Era::Legacy).await;
    for id in 0..5 {
        server.say(json!({"jsonrpc": "2.0", "id": id, "method": "slow"})).await;
    }
    server.say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
    connection.tools_changed().wait_for(|times| *times == 1).await.unwrap();
    assert_eq!(connection.oddities().refused_requests, 3);
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_may_not_ask_and_is_told_who_asks() {
    let (connection, mut server) = opened(&options(), Era::Modern).await;
    server.say(json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})).await;
    let ask = connection.request(Ask::new("tools/call").params(object(json!({"name": "x"}))));
    let serving = async {
        let request = server.next().await;
        assert_eq!(
            request["params"],
            json!({"name": "x", "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}
            }})
        );
        server.answer(&request["id"], json!({"resultType": "of-tomorrow"})).await;
    };
    assert_eq!(tokio::join!(ask, serving), (Ok(json!({"resultType": "of-tomorrow"})), ()));
    assert_eq!(connection.oddities().refused_requests, 1);
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_listened_to() {
    let (connection, mut server) = opened(&options(), Era::Modern).await;
    connection.listen(object(json!({"toolsListChanged": true})));
    let request = server.next().await;
    assert_eq!(
        (&request["method"], &request["params"]["notifications"]),
        (&json!("subscriptions/listen"), &json!({"toolsListChanged": true}))
    );
    let meta = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": request["id"]}});
    server.say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": meta})).await;
    connection.tools_changed().wait_for(|times| *times == 1).await.unwrap();
    assert!(connection.is_listening());
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request["id"]}}))
        .await;
    while connection.is_listening() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tools_has_an_empty_list() {
    for (capabilities, expected) in [(json!({"resources": {}}), Ok(0)), (json!({"tools": {}}), Err("server-error"))] {
        let (stream, mut server) = pair();
        let opening = async {
            let id = server.expect("server/discover").await;
            server.answer(&id, json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities})).await;
            // The listing asks again who is there.
            let id = server.expect("server/discover").await;
            server.answer(&id, json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities})).await;
            let id = server.expect("tools/list").await;
            server.refuse(&id, -32_601, Value::Null).await;
        };
        let listing = async {
            let connection = open(stream, &options()).await.unwrap();
            list_tools(&connection, &ListLimits::default(), soon()).await
        };
        let (listing, ()) = tokio::join!(listing, opening);
        assert_eq!(
            listing.map(|listing| listing.tools.len()).map_err(|error| error.code()),
            expected,
            "{capabilities}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn one_deadline_holds_for_all_pages() {
    let (connection, mut server) = opened(&options(), Era::Legacy).await;
    let dribbling = async {
        for page in 0.. {
            let id = server.expect("tools/list").await;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            server.answer(&id, json!({"tools": [], "nextCursor": page.to_string()})).await;
        }
    };
    let limits = ListLimits::default();
    let listed = tokio::select! { listed = list_tools(&connection, &limits, in_ms(1_000)) => listed, () = dribbling => panic!() };
    assert_eq!(listed.unwrap_err().code(), "deadline-exceeded");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_connection_is_the_end_of_its_requests() {
    let (connection, server) = opened(&options(), Era::Legacy).await;
    let ask = connection.request(Ask::new("a"));
    let (answer, ()) = tokio::join!(ask, async { drop(server) });
    assert_eq!(answer.unwrap_err().code(), "connection-closed");
    assert_eq!(connection.request(Ask::new("b")).await.unwrap_err().code(), "connection-closed");
    assert_eq!(connection.ended().await.code(), "connection-closed");
}
