//! An agent host in small: calls come over a wire, a person at the terminal is asked, and what may run "runs".
//!
//!     cargo run --release -p toolwarden --example agent

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwarden::approval::Terminal;
use toolwarden::call::{Attendance, CallId, Flavour, Workspace};
use toolwarden::invoke::{
    Caller, Dispatch, Event, ExecutorError, Invoker, InvokerOptions, Judge, Outcome, State, ToolExecutor,
};
use toolwarden::module::{Component, PolicyModule};
use toolwarden::registry::{Catalogue, Generation, Registry};
use toolwarden::settings::Settings;

/// Says what it would do.
struct Pretend;

#[async_trait]
impl ToolExecutor for Pretend {
    async fn execute(&self, dispatch: Dispatch) -> Result<Value, ExecutorError> {
        Ok(json!({ "ran": dispatch.tool.public_name, "with": *dispatch.arguments }))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut settings = Settings::default();
    settings.make_dangerous();
    let component = Arc::new(Component::embedded(settings.limits)?);
    let module = Arc::new(PolicyModule::new(component, &settings.policy_json())?);
    let registry = Registry::build(&*module, Catalogue::builtin(), 0, Generation(1))?;
    let state = Arc::new(State::new(Judge::new(module, Arc::new(registry), settings.floors)));

    let events = |event: &Event| {
        if let Event::Judged { verdict, .. } = event {
            println!("  {:?}: {}", verdict.decision, verdict.reason);
        }
    };
    let options = InvokerOptions { approval_timeout: settings.approval_timeout, ..InvokerOptions::default() };
    let invoker = Invoker::new(state, Arc::new(Terminal::default()), Arc::new(Pretend), Arc::new(events), options);

    // Who calls, and from where: what the host itself knows.
    let workspace = Workspace {
        root: std::env::current_dir()?.display().to_string(),
        extra_roots: Vec::new(),
        flavour: Flavour::HERE,
        home: String::new(),
        skills: Vec::new(),
    };
    let caller = Caller { attendance: Attendance::Interactive, workspace: Arc::new(workspace) };

    let calls = [
        json!({ "name": "Bash", "arguments": { "command": "ls", "cwd": "." } }),
        json!({ "name": "Delete", "arguments": { "path": "build" } }),
    ];
    for (number, call) in calls.iter().enumerate() {
        println!("call {number}: {call}");
        let wire = call.to_string();
        let cancel = CancellationToken::new();
        match invoker.invoke_wire(CallId(number.to_string()), wire.as_bytes(), &caller, &cancel).await {
            Outcome::Completed(result) => println!("  result: {result}"),
            Outcome::Denied(verdict) => println!("  denied: {}", verdict.reason),
            other => println!("  {other:?}"),
        }
    }
    Ok(())
}
