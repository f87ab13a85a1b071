//! The whole list of a server's tools.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::config::ServerConfig;
use super::connection::{ConnectOptions, Connection};
use super::error::{ListFault, WireError};
use super::limits::Ending;
use super::opening::Opened;
use super::request::Ask;
use super::rpc_error::RpcCode;

/// Bounds of one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLimits {
    /// Pages. Default: 1000.
    pub pages: usize,
    /// Tools. Default: 100 000, as a registry holds.
    pub tools: usize,
    /// Bytes on the wire, all pages together. Default: 64 MiB; the largest of several hundred real lists has 150 kB.
    pub bytes: usize,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self { pages: 1_000, tools: 100_000, bytes: 64 << 20 }
    }
}

/// A server's tools, and what it said of itself. Values are as they were parsed, strictly: nothing is left out, nothing
/// added.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// What the server said of itself.
    pub server: Opened,
    /// The tools, in the server's order. Each is an object.
    pub tools: Vec<Value>,
    /// How many pages they came on.
    pub pages: usize,
    /// Whether the server told of a change while it was listing: the pages may belong to two lists.
    pub changed_meanwhile: bool,
}

/// Lists all tools over a connection, from the first page.
///
/// # Errors
///
/// [`WireError`]; half a list is no list.
pub async fn list_tools(connection: &Connection, limits: &ListLimits, deadline: Instant) -> Result<Listing, WireError> {
    let changes = connection.tools_changed();
    let before = *changes.borrow();
    let server = connection.look_again(deadline).await?;
    let (mut tools, mut pages, mut bytes) = (Vec::new(), 0, 0_usize);
    let (mut cursor, mut seen) = (None, HashSet::new());
    loop {
        pages += 1;
        if pages > limits.pages {
            return Err(ListFault::TooManyPages(limits.pages).into());
        }
        let mut params = Map::new();
        params.extend(cursor.take().map(|cursor| ("cursor".to_owned(), Value::String(cursor))));
        let reply = connection.ask(Ask::new("tools/list").params(params).deadline(deadline)).await?;
        bytes = bytes.saturating_add(reply.bytes);
        if bytes > limits.bytes {
            return Err(ListFault::TooManyBytes(limits.bytes).into());
        }
        let result = match reply.outcome {
            Ok(result) => result,
            // A server that has no tools need not know what they are.
            Err(error)
                if pages == 1
                    && error.code == RpcCode::METHOD_NOT_FOUND
                    && !server.capabilities.contains_key("tools") =>
            {
                break;
            }
            Err(error) => return Err(connection.refused(error)),
        };
        let page = Page::read(result, pages)?;
        tools.extend(page.tools);
        if tools.len() > limits.tools {
            return Err(ListFault::TooManyTools(limits.tools).into());
        }
        let Some(next) = page.next else { break };
        if !seen.insert(next.clone()) {
            return Err(ListFault::RepeatedCursor { page: pages }.into());
        }
        cursor = Some(next);
    }
    let changed_meanwhile = *changes.borrow() != before;
    Ok(Listing { server, tools, pages, changed_meanwhile })
}

/// Lists all tools over a connection of its own: connects, lists, ends. The deadline is one for all of it, the start of a
/// process included; the end comes after, in its own time.
///
/// # Errors
///
/// [`WireError`]; a process that was started is gone then, too.
pub async fn list_once(
    server: &ServerConfig,
    options: &ConnectOptions,
    limits: &ListLimits,
    ending: Ending,
    deadline: Instant,
) -> Result<Listing, WireError> {
    let began = Instant::now();
    let listed = timeout_at(deadline, async {
        let connection = Connection::open(server, options, deadline).await?;
        let listing = list_tools(&connection, limits, deadline).await;
        Ok((connection, listing))
    });
    let (connection, listing) =
        listed.await.unwrap_or(Err(WireError::DeadlineExceeded { after: began.elapsed(), strays: 0 }))?;
    // Who has failed is not waited for.
    if listing.is_ok() {
        connection.close_within(ending).await;
    }
    listing
}

struct Page {
    tools: Vec<Value>,
    next: Option<String>,
}

impl Page {
    fn read(result: Value, page: usize) -> Result<Self, ListFault> {
        let bad = |what| ListFault::BadPage { page, what };
        let Value::Object(mut members) = result else { return Err(bad("the result is no object")) };
        match members.get("resultType").map(Value::as_str) {
            None | Some(Some("complete")) => {}
            _ => return Err(bad("`resultType` is not `complete`")),
        }
        let Some(Value::Array(tools)) = members.remove("tools") else { return Err(bad("`tools` is no list")) };
        if !tools.iter().all(Value::is_object) {
            return Err(bad("a tool is no object"));
        }
        // An empty text is a cursor like any other.
        let next = match members.remove("nextCursor") {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(cursor),
            Some(_) => return Err(bad("`nextCursor` is no text")),
        };
        Ok(Self { tools, next })
    }
}
