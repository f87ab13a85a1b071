//! An HTTP server that does as it is told, also what no library would do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Seen {
    /// The JSON-RPC method; else that of HTTP.
    pub fn what(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.method)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What is answered.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Neither the body nor the connection ends.
    pub hangs: bool,
    /// The body breaks off.
    pub breaks: bool,
}

impl Answer {
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", kind.to_owned())];
        Self { status, headers, body: body.into(), hangs: false, breaks: false }
    }

    pub fn json(message: &Value) -> Self {
        Self::new(200, "application/json", message.to_string())
    }

    pub fn events(messages: &[Value]) -> Self {
        let body: String = messages.iter().map(|message| format!("event: message\ndata: {message}\n\n")).collect();
        Self::new(200, "text/event-stream", body)
    }

    pub fn empty(status: u16) -> Self {
        Self { headers: Vec::new(), ..Self::new(status, "", "") }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

type Handler = dyn Fn(&Seen) -> Answer + Send + Sync;

/// The server. It ends when it is dropped.
pub struct Web {
    pub origin: String,
    pub gone: Arc<Notify>,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Web {
    pub async fn start(handler: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (seen, gone) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::new(Notify::new()));
        let (handler, kept, notify): (Arc<Handler>, _, _) = (Arc::new(handler), Arc::clone(&seen), Arc::clone(&gone));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&handler), Arc::clone(&kept), Arc::clone(&notify)));
            }
        });
        Self { origin, gone, seen, task }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn told(&self) -> Vec<String> {
        self.seen().iter().map(|seen| seen.what().to_owned()).collect()
    }

    /// Waits for a request of this kind.
    pub async fn wait_for(&self, what: &str) -> Seen {
        loop {
            if let Some(seen) = self.seen().into_iter().find(|seen| seen.what() == what) {
                return seen;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
}

async fn serve(mut stream: TcpStream, handler: Arc<Handler>, kept: Arc<Mutex<Vec<Seen>>>, gone: Arc<Notify>) {
    let mut buffer = Vec::new();
    while let Some(seen) = read(&mut stream, &mut buffer).await {
        let answer = handler(&seen);
        kept.lock().unwrap().push(seen);
        let mut head = format!("HTTP/1.1 {} X\r\n", answer.status);
        for (name, value) in &answer.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let unknown = answer.hangs || answer.breaks;
        let length = if unknown {
            "transfer-encoding: chunked".into()
        } else {
            format!("content-length: {}", answer.body.len())
        };
        head.extend([&length, "\r\n\r\n"]);
        let mut out = head.into_bytes();
        if unknown {
            out.extend(format!("{:x}\r\n", answer.body.len()).into_bytes());
            out.extend(&answer.body);
            out.extend(b"\r\n");
        } else {
            out.extend(&answer.body);
        }
        if stream.write_all(&out).await.is_err() || answer.breaks {
            return;
        }
        if answer.hangs {
            let mut byte = [0];
            let _ = stream.read(&mut byte).await;
            gone.notify_one();
            return;
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer.drain(..end + 4).collect()).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while buffer.len() < length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body: Vec<u8> = buffer.drain(..length).collect();
    let body = serde_json::from_slice(&body).unwrap_or(json!(null));
    Some(Seen { method, path, headers, body })
}

/// An answer of JSON-RPC to a request.
pub fn result(seen: &Seen, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result})
}

pub fn refusal(seen: &Seen, code: i64, data: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": code, "message": "no", "data": data}})
}
