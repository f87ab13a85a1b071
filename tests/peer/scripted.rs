//! An MCP server with habits, for tests. Reads requests line by line and answers as its arguments say.
//!
//! | argument | habit |
//! |---|---|
//! | `era=legacy`, `modern`, `both` | which opening it knows; default `both` |
//! | `pages=N` | N pages of one tool each; default 1 |
//! | `text` | text among the messages |
//! | `early` | notifications before anything |
//! | `unknown` | notifications that nobody knows, before each answer |
//! | `forever` | each page leads to another one |
//! | `again` | the second page leads to itself |
//! | `duplicate` | a key twice in a tool |
//! | `no-list`, `bad-tool`, `bad-cursor` | a list that is none |
//! | `silent=METHOD` | no answer to that |
//! | `dies=METHOD` | ends instead of answering; `dies=start` at once |
//! | `dies-at-page=N` | ends instead of giving that page |
//! | `stays` | lives on after its input was closed |
//! | `grandchild=FILE` | starts a program that stays, and writes its number there |
//! | `huge=BYTES` | a list with a text so long |
//! | `list-error` | an error instead of the list |
//! | `wrong-id`, `text-id`, `twice` | answers to the list with another id, with the id as text, two times |
//! | `env` | names its variables in the tool |
//! | `says=TEXT` | writes that to standard error |
//! | `changes` | tells of a change before it gives the list |
//! | `mood=TEXT` | the tool's description |
//! | `mood-file=FILE` | the tool's description, read anew each time; ends where the file says `dies` |

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio, exit};
use std::thread::sleep;
use std::time::Duration;

struct Habits(Vec<String>);

impl Habits {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|arg| arg == name)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='))
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.parse().ok()
    }
}

fn main() {
    let habits = Habits(std::env::args().skip(1).collect());
    if let Some(text) = habits.get("says") {
        eprintln!("{text}");
    }
    if let Some(file) = habits.get("grandchild") {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn();
        if let Ok(child) = child {
            let _ = std::fs::write(file, child.id().to_string());
        }
    }
    if habits.get("dies") == Some("start") {
        eprintln!("I cannot go on");
        exit(3);
    }
    if habits.has("early") {
        say(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}"#);
        say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        answer(&habits, &line);
    }
    while habits.has("stays") {
        sleep(Duration::from_secs(1));
    }
}

fn answer(habits: &Habits, line: &str) {
    let Some(method) = between(line, "\"method\":\"", "\"") else { return };
    if habits.get("dies") == Some(method) {
        exit(3);
    }
    if habits.get("silent") == Some(method) {
        return;
    }
    let Some(id) = between(line, "\"id\":", ",") else { return };
    if habits.has("text") {
        say("Server is listening on stdio...");
        say("{\"level\":30,\"msg\":\"a log line that is JSON\"}");
        say("");
    }
    if habits.has("unknown") {
        say(r#"{"jsonrpc":"2.0","method":"notifications/of_tomorrow","params":{"x":[1]},"more":true}"#);
    }
    let era = habits.get("era").unwrap_or("both");
    match method {
        "server/discover" if era != "legacy" => result(
            id,
            concat!(
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"#,
                r#""instructions":"be nice","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}}"#
            ),
        ),
        "initialize" if era != "modern" => {
            let version = between(line, "\"protocolVersion\":\"", "\"").unwrap_or("2025-11-25");
            result(
                id,
                &format!(
                    r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"scripted","version":"1"}},"instructions":"be nice"}}"#
                ),
            );
        }
        "tools/list" => list(habits, line, id),
        _ => say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no such method"}}}}"#)),
    }
}

fn list(habits: &Habits, line: &str, id: &str) {
    let page: usize = between(line, "\"cursor\":\"", "\"").and_then(|cursor| cursor.parse().ok()).unwrap_or(1);
    if habits.number("dies-at-page") == Some(page) {
        exit(3);
    }
    if habits.has("changes") {
        say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    }
    if habits.has("list-error") {
        return say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"offline","data":{{"retry":true}}}}}}"#
        ));
    }
    let mut description = habits.get("mood").unwrap_or("a tool").to_owned();
    if let Some(file) = habits.get("mood-file") {
        description = std::fs::read_to_string(file).unwrap_or_default();
        if description == "dies" {
            exit(3);
        }
    }
    if habits.has("env") {
        let mut names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
        names.sort();
        description = names.join(",");
    }
    if let Some(bytes) = habits.number("huge") {
        description = "x".repeat(bytes);
    }
    let tool = if habits.has("bad-tool") {
        "7".to_owned()
    } else if habits.has("duplicate") {
        r#"{"name":"t","description":"good","inputSchema":{"type":"object"},"description":"bad"}"#.to_owned()
    } else {
        format!(
            r#"{{"name":"tool_{page}","description":"{description}","inputSchema":{{"type":"object"}},"new":{{"n":1.5}}}}"#
        )
    };
    let tools = if habits.has("no-list") { "{}".to_owned() } else { format!("[{tool}]") };
    let next = if habits.has("bad-cursor") {
        ",\"nextCursor\":2".to_owned()
    } else if habits.has("again") {
        ",\"nextCursor\":\"2\"".to_owned()
    } else if habits.has("forever") || page < habits.number("pages").unwrap_or(1) {
        format!(",\"nextCursor\":\"{}\"", page + 1)
    } else {
        String::new()
    };
    let list = format!("{{\"tools\":{tools}{next}}}");
    if habits.has("wrong-id") {
        return result("987654", &list);
    }
    if habits.has("text-id") {
        return result(&format!("\"{id}\""), &list);
    }
    result(id, &list);
    if habits.has("twice") {
        result(id, &list);
    }
}

fn result(id: &str, result: &str) {
    // The result first, as one of the official servers writes it.
    say(&format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#));
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        // Nobody reads.
        exit(4);
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}
