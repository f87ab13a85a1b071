//! A small server to look at.

use serde_json::{Value, json};
use toolwarden::baseline::{AcceptError, MIGRATION};
use toolwarden::baseline::{Acceptance, Exclusions, Identity, Revision, ServerSnapshot, SnapshotError, Survey, accept};
use toolwarden::call::ServerName;
use toolwarden::store::StoreFault;

pub fn name(name: &str) -> ServerName {
    ServerName::new(name).expect("a name")
}

pub fn echo(description: &str) -> Value {
    json!({ "name": "echo", "description": description, "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } } })
}

pub fn list(server: &str, tools: Vec<Value>) -> (ServerName, Result<ServerSnapshot, SnapshotError>) {
    let identity = Identity::new(json!({ "transport": "stdio", "command": "node", "args": ["server.js"], "env": [] }));
    (name(server), ServerSnapshot::new(name(server), identity, Some("Use echo.".into()), tools))
}

pub fn survey(tools: Vec<Value>) -> Survey {
    Survey::new([list("security_demo", tools)])
}

/// A database with the tables, in memory.
pub fn database() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().expect("a database");
    connection.execute_batch(MIGRATION).expect("the tables");
    connection
}

/// Accepts what there is, as a person would who has just looked at it.
pub fn accepted(
    connection: &mut rusqlite::Connection,
    base: Option<Revision>,
    survey: &Survey,
    exclusions: &Exclusions,
) -> Result<Revision, AcceptError> {
    let seen = survey.fingerprint(exclusions).expect("a fingerprint");
    let acceptance = Acceptance { seen, base, survey, again: survey, exclusions, who: "terminal", time_ms: 1 };
    written(connection, |transaction| accept(transaction, &acceptance))
}

pub fn written<T, E: std::fmt::Debug>(
    connection: &mut rusqlite::Connection,
    write: impl FnOnce(&rusqlite::Transaction) -> Result<T, StoreFault<E>>,
) -> Result<T, E> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).expect("a transaction");
    match write(&transaction) {
        Ok(written) => {
            transaction.commit().expect("a commit");
            Ok(written)
        }
        Err(StoreFault::Own(error)) => Err(error),
        Err(StoreFault::Database(error)) => panic!("{error}"),
    }
}
