//! `tool_invoke` in a scripted agent host: every attendance, approvals, aborts, parallel calls, and files that change meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwarden::approval::{Approval, Approver, Nobody, Question, Scripted};
use toolwarden::call::{Attendance, Call, CallId};
use toolwarden::invoke::{Event, Invoker, InvokerOptions, NoEvents, Outcome, State};
use toolwarden::registry::{Catalogue, Servers};
use toolwarden_harness::agent::Agent;
use toolwarden_harness::component;

const DANGEROUS: &str = r#"{"system":{"toolApprovalMode":"dangerous"}}"#;
const LOCKED: &str = r#"{"system":{"toolApprovalMode":"dangerous","bashCwdPolicy":"workspace-only"}}"#;
const DEFERRING: &str = r#"{"deferral":{"mode":"always"},"rules":[{"tool":"mcp__git__push","decision":"ask"},
    {"tool":"mcp__git__force","decision":"deny"}]}"#;

struct Host {
    agent: Arc<Agent>,
    invoker: Arc<Invoker>,
}

fn state(settings: &str) -> State {
    let settings = component::settings(&serde_json::from_str(settings).unwrap()).unwrap();
    let policy = component::configured(component::embedded().unwrap(), &settings).unwrap();
    let list = json!({ "server": "git", "tools": [
        { "name": "push", "description": "Pushes commits to a remote", "inputSchema": { "type": "object" } },
        { "name": "log", "description": "Shows the history of commits", "inputSchema": { "type": "object" } },
        { "name": "force", "description": "Rewrites history", "inputSchema": { "type": "object" } },
    ]});
    let servers = Servers::from_json(list.to_string().as_bytes(), None).unwrap();
    State::new(component::judge(policy, Catalogue::with_servers(servers).unwrap(), settings.floors).unwrap())
}

fn host(settings: &str, approver: Arc<dyn Approver>) -> Host {
    let agent = Arc::new(Agent::new().unwrap());
    let executor = Arc::clone(&agent);
    let options =
        InvokerOptions { approval_timeout: Duration::from_mins(1), execution_timeout: Duration::from_mins(1) };
    let invoker = Invoker::new(Arc::new(state(settings)), approver, executor, Arc::new(NoEvents), options);
    Host { agent, invoker: Arc::new(invoker) }
}

impl Host {
    async fn call(&self, attendance: Attendance, call: Value) -> Outcome {
        self.wire(attendance, call.to_string().as_bytes()).await
    }

    async fn wire(&self, attendance: Attendance, wire: &[u8]) -> Outcome {
        let cancel = CancellationToken::new();
        self.invoker.invoke_wire(CallId("c".into()), wire, &self.agent.caller(attendance), &cancel).await
    }
}

fn kind(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Completed(_) => "completed",
        Outcome::Failed(_) => "failed",
        Outcome::Withheld(_) => "withheld",
        Outcome::Denied(verdict) => verdict.kind.as_ref().map_or("", |k| k.as_str()),
        Outcome::Cancelled => "cancelled",
        Outcome::TimedOut => "timed-out",
        Outcome::Unreadable(error) => error.code,
    }
}

fn bash(cwd: &str) -> Value {
    json!({ "name": "Bash", "arguments": { "command": "ls", "cwd": cwd } })
}

#[tokio::test]
async fn a_person_is_asked_only_where_one_is_there_and_only_about_what_may_run() {
    let attendances = [Attendance::Interactive, Attendance::Remote, Attendance::Delegated, Attendance::Scheduled];
    for attendance in attendances {
        let is_there = attendance == Attendance::Interactive;
        let approver = Arc::new(Scripted::answering([Approval::AllowedOnce, Approval::Rejected]));
        let host = host(LOCKED, Arc::clone(&approver) as Arc<dyn Approver>);
        std::fs::write(host.agent.root().join("x"), "x").unwrap();
        let delete = json!({ "name": "Delete", "arguments": { "path": "x" } });

        let first = host.call(attendance, delete.clone()).await;
        assert_eq!(kind(&first), if is_there { "completed" } else { "delete" });
        assert_eq!(host.agent.root().join("x").exists(), !is_there);
        assert_eq!(kind(&host.call(attendance, delete).await), if is_there { "approval-rejected" } else { "delete" });
        assert_eq!(kind(&host.call(attendance, bash("/etc")).await), "cwd-locked", "refused, and nobody is asked");
        assert_eq!(kind(&host.call(attendance, bash(".")).await), "completed");
        assert_eq!(approver.asked().len(), if is_there { 2 } else { 0 });
    }
}

#[tokio::test]
async fn the_texts_tell_a_persons_no_from_silence_and_from_absence() {
    let delete = json!({ "name": "Delete", "arguments": { "path": "x" } });
    let reason = |outcome: Outcome| match outcome {
        Outcome::Denied(verdict) => verdict.reason,
        other => panic!("{other:?}"),
    };
    let declined = host(DANGEROUS, Arc::new(Scripted::answering([Approval::Rejected])));
    let declined = reason(declined.call(Attendance::Interactive, delete.clone()).await);
    let absent = reason(host(DANGEROUS, Arc::new(Nobody)).call(Attendance::Interactive, delete.clone()).await);
    let scheduled = reason(host(DANGEROUS, Arc::new(Nobody)).call(Attendance::Scheduled, delete).await);
    assert!(declined.contains("a person declined"), "{declined}");
    assert!(absent.contains("nobody can approve here"), "{absent}");
    assert!(scheduled.contains("nobody can approve it here"), "{scheduled}");
    for text in [declined, absent, scheduled] {
        assert!(text.contains("do not try"), "{text}");
    }
}

#[tokio::test]
async fn all_ssh_actions_meet_their_gate() {
    let gated = [
        "exec",
        "send_input",
        "sftp_write_text",
        "sftp_mkdir",
        "sftp_rename",
        "sftp_delete",
        "sftp_upload",
        "sftp_download",
    ];
    let free = [
        "list_hosts",
        "list_sessions",
        "read_session",
        "sftp_list",
        "sftp_stat",
        "sftp_read_text",
        "sftp_transfer_status",
        "create_session",
        "resize_session",
        "close_session",
        "sftp_cancel_transfer",
    ];
    let host = host(DANGEROUS, Arc::new(Nobody));
    for (actions, expected) in [(&gated[..], "ssh-mutation"), (&free[..], "completed")] {
        for action in actions {
            let call = json!({ "name": "SSHManager", "arguments": { "action": action } });
            assert_eq!(kind(&host.call(Attendance::Scheduled, call).await), expected, "{action}");
        }
    }
    assert_eq!(host.agent.ran().len(), free.len());
}

#[tokio::test]
async fn a_deferred_tool_is_found_read_and_run_through_the_bridge() {
    let host = host(DEFERRING, Arc::new(Scripted::answering([Approval::AllowedOnce])));
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let bridged = |name: &str| call("tool_invoke", json!({ "name": name, "arguments": { "n": 1 } }));

    let found = host.call(Attendance::Scheduled, call("tool_search", json!({ "query": "history of commits" }))).await;
    let Outcome::Completed(found) = found else { panic!("{found:?}") };
    assert_eq!(found["tools"][0]["name"], "mcp__git__log", "{found}");
    assert!(!found.to_string().contains("force"), "a denied tool is in no answer: {found}");

    let told = host.call(Attendance::Scheduled, call("tool_describe", json!({ "name": "mcp__git__log" }))).await;
    let Outcome::Completed(told) = told else { panic!("{told:?}") };
    assert_eq!(told["tool"]["description"], "Shows the history of commits");

    assert_eq!(kind(&host.call(Attendance::Scheduled, bridged("mcp__git__log")).await), "completed");
    assert_eq!(host.agent.ran(), [("mcp__git__log".into(), json!({ "n": 1 }))], "the effective call is what runs");
    assert_eq!(kind(&host.call(Attendance::Scheduled, bridged("mcp__git__push")).await), "rule-ask");
    assert_eq!(kind(&host.call(Attendance::Interactive, bridged("mcp__git__push")).await), "completed");
    assert_eq!(kind(&host.call(Attendance::Interactive, bridged("mcp__git__force")).await), "unknown-tool");
    assert_eq!(kind(&host.call(Attendance::Interactive, call("mcp__git__force", json!({}))).await), "rule-deny");
    assert_eq!(kind(&host.call(Attendance::Interactive, bridged("Bash")).await), "call-directly");
    assert_eq!(kind(&host.call(Attendance::Interactive, bridged("tool_invoke")).await), "nested-bridge");
    assert_eq!(kind(&host.call(Attendance::Interactive, call("mcp__git__log", json!({}))).await), "completed");
}

#[tokio::test]
async fn a_text_with_two_meanings_runs_nothing() {
    let host = host(DEFERRING, Arc::new(Nobody));
    let rows: [(&[u8], &str); 9] = [
        (br#"{"name":"Read","name":"Delete","arguments":{}}"#, "duplicate-key"),
        (br#"{"name":"Read","arguments":{"path":"a","path":"b"}}"#, "duplicate-key"),
        (br#"{"name":"tool_invoke","arguments":{"name":"mcp__git__log","arguments":{"a":1,"a":2}}}"#, "bad-envelope"),
        (br#"{"name":"tool_invoke","arguments":{"name":"mcp__git__log","name":"x","arguments":{}}}"#, "bad-envelope"),
        (br#"{"name":"tool_invoke","arguments":{"name":"mcp__git__log","arguments":{},"extra":1}}"#, "bad-envelope"),
        (br#"{"name":"tool_invoke","arguments":{"name":"mcp__git__log","arguments":"{}"}}"#, "bad-envelope"),
        (br#"{"name":"Read","arguments":{"path":"\ud800"}}"#, "not-json"),
        (br#"{"name":"Read","arguments":[]}"#, "bad-arguments"),
        (br#"{"name":"Nothing","arguments":{}}"#, "unknown-tool"),
    ];
    for (wire, expected) in rows {
        let outcome = host.wire(Attendance::Interactive, wire).await;
        assert_eq!(kind(&outcome), expected, "{}", String::from_utf8_lossy(wire));
    }
    assert_eq!(host.agent.ran(), []);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_leads_out_is_outside_and_what_came_with_the_call_is_not_believed() {
    let host = host(LOCKED, Arc::new(Nobody));
    let (root, outside) = (host.agent.root(), host.agent.outside().to_owned());
    std::fs::create_dir(root.join("real")).unwrap();
    for (link, target) in [
        ("inner", root.join("real")),
        ("outer", outside.clone()),
        ("dangling", outside.join("not-yet")),
        ("loop", root.join("loop")),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let rows = [
        ("real", "completed"),
        ("inner", "completed"),
        ("real/not-yet", "completed"),
        ("outer", "cwd-locked"),
        ("outer/x", "cwd-locked"),
        ("dangling", "cwd-locked"),
        ("loop", "cwd-locked"),
        (root.to_str().unwrap(), "completed"),
        (outside.to_str().unwrap(), "cwd-locked"),
    ];
    for (cwd, expected) in rows {
        assert_eq!(kind(&host.call(Attendance::Scheduled, bash(cwd)).await), expected, "{cwd}");
    }
    // A caller that claims to have looked.
    let caller = host.agent.caller(Attendance::Scheduled);
    let root = root.to_str().unwrap();
    let record = json!({
        "id": "c", "tool": "Bash", "arguments": { "command": "ls", "cwd": "outer" }, "route": "direct",
        "attendance": "scheduled", "workspace": *caller.workspace, "facts": { "resolved": root, "resolvedRoot": root },
    });
    let call = Call::from_json(record.to_string().as_bytes()).unwrap();
    assert_eq!(kind(&host.invoker.invoke(call, &CancellationToken::new()).await), "cwd-locked");
}

/// A person who changes something before saying yes.
struct Meanwhile<F>(F, Scripted);

#[async_trait::async_trait]
impl<F: Fn() + Send + Sync> Approver for Meanwhile<F> {
    async fn ask(&self, question: &Question) -> Approval {
        (self.0)();
        self.1.ask(question).await
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_turned_while_the_person_thought_does_not_ride_on_the_answer() {
    let agent = Arc::new(Agent::new().unwrap());
    let (root, outside) = (agent.root(), agent.outside().to_owned());
    std::fs::create_dir(root.join("build")).unwrap();
    let settings = r#"{"rules":[{"tool":"Bash","decision":"ask"}]}"#;
    let turn = {
        let root = root.clone();
        move || {
            if root.join("build").is_symlink() {
                return;
            }
            std::fs::remove_dir(root.join("build")).unwrap();
            std::os::unix::fs::symlink(&outside, root.join("build")).unwrap();
        }
    };
    let approver = Arc::new(Meanwhile(turn, Scripted::answering([Approval::AllowedOnce, Approval::Rejected])));
    let invoker = Invoker::new(
        Arc::new(state(settings)),
        Arc::clone(&approver) as Arc<dyn Approver>,
        Arc::clone(&agent) as _,
        Arc::new(NoEvents),
        InvokerOptions::default(),
    );
    let wire = json!({ "name": "Bash", "arguments": { "command": "make", "cwd": "build" } }).to_string();
    let caller = agent.caller(Attendance::Interactive);
    let outcome = invoker.invoke_wire(CallId("c".into()), wire.as_bytes(), &caller, &CancellationToken::new()).await;
    assert_eq!(kind(&outcome), "approval-rejected", "asked again, as the place is another one");
    assert_eq!(approver.1.asked().len(), 2);
    assert_eq!(agent.ran(), []);
}

#[tokio::test]
async fn a_policy_swapped_while_the_person_thought_decides_anew() {
    let agent = Arc::new(Agent::new().unwrap());
    let state = Arc::new(state(DANGEROUS));
    let swap = {
        let state = Arc::clone(&state);
        move || {
            let denying = r#"{"rules":[{"tool":"Delete","decision":"deny"}]}"#;
            state.replace(Arc::unwrap_or_clone(self::state(denying).current()));
        }
    };
    let approver = Arc::new(Meanwhile(swap, Scripted::answering([Approval::AllowedOnce])));
    let invoker = Invoker::new(state, approver, Arc::clone(&agent) as _, Arc::new(NoEvents), InvokerOptions::default());
    let wire = br#"{"name":"Delete","arguments":{"path":"x"}}"#;
    let caller = agent.caller(Attendance::Interactive);
    let outcome = invoker.invoke_wire(CallId("c".into()), wire, &caller, &CancellationToken::new()).await;
    assert_eq!(kind(&outcome), "rule-deny");
    assert_eq!(agent.ran(), []);
}

#[tokio::test(start_paused = true)]
async fn silence_times_out_and_so_does_a_tool() {
    let host = host(DANGEROUS, Arc::new(Scripted::silent()));
    let delete = json!({ "name": "Delete", "arguments": { "path": "x" } });
    assert_eq!(kind(&host.call(Attendance::Interactive, delete).await), "approval-timed-out");
    let sleep = json!({ "name": "Bash", "arguments": { "command": "sleep forever" } });
    assert_eq!(kind(&host.call(Attendance::Scheduled, sleep).await), "timed-out");
    assert_eq!(host.agent.running(), 0, "what was started has ended");
}

#[tokio::test]
async fn an_abort_settles_the_question_and_ends_the_tool() {
    let host = host(DANGEROUS, Arc::new(Scripted::silent()));
    for wire in [
        br#"{"name":"Delete","arguments":{"path":"x"}}"# as &[u8],
        br#"{"name":"Bash","arguments":{"command":"sleep forever"}}"#,
    ] {
        let (cancel, caller) = (CancellationToken::new(), host.agent.caller(Attendance::Interactive));
        let running = host.invoker.invoke_wire(CallId("c".into()), wire, &caller, &cancel);
        let abort = async {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(running, abort);
        assert_eq!(outcome, Outcome::Cancelled);
    }
    assert_eq!(host.agent.running(), 0);
    // A call that was taken back before it began asks nothing.
    let approver = Arc::new(Scripted::answering([Approval::AllowedOnce]));
    let late = self::host(DANGEROUS, Arc::clone(&approver) as _);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let caller = late.agent.caller(Attendance::Interactive);
    let wire = br#"{"name":"Delete","arguments":{"path":"x"}}"#;
    assert_eq!(late.invoker.invoke_wire(CallId("c".into()), wire, &caller, &cancel).await, Outcome::Cancelled);
    assert!(approver.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_calls_keep_to_themselves() {
    let host = host(LOCKED, Arc::new(Nobody));
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            let (invoker, caller) = (Arc::clone(&host.invoker), host.agent.caller(Attendance::Delegated));
            let (cwd, expected) = if n % 2 == 0 { ("src", "completed") } else { ("/etc", "cwd-locked") };
            let wire =
                json!({ "name": "Bash", "arguments": { "command": format!("echo {n}"), "cwd": cwd } }).to_string();
            tokio::spawn(async move {
                let cancel = CancellationToken::new();
                let outcome = invoker.invoke_wire(CallId(n.to_string()), wire.as_bytes(), &caller, &cancel).await;
                assert_eq!(kind(&outcome), expected);
                if let Outcome::Completed(result) = outcome {
                    assert_eq!(result, json!({ "stdout": format!("ran echo {n}") }));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(host.agent.ran().len(), 100);
}

#[tokio::test]
async fn events_tell_the_whole_story_in_order() {
    let agent = Arc::new(Agent::new().unwrap());
    let story = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let story = Arc::clone(&story);
        move |event: &Event| {
            let word = match event {
                Event::Judged { verdict, policy, .. } => format!("judged {:?} {}", verdict.decision, policy.generation),
                Event::Asked { .. } => "asked".into(),
                Event::Settled { approval, .. } => format!("settled {approval:?}"),
                Event::Dispatched { tool, .. } => format!("dispatched {}", tool.name),
                Event::Finished { end, .. } => format!("finished {end:?}"),
            };
            story.lock().unwrap().push(word);
        }
    };
    let approver = Arc::new(Scripted::answering([Approval::AllowedOnce]));
    let invoker = Invoker::new(
        Arc::new(state(DANGEROUS)),
        approver,
        Arc::clone(&agent) as _,
        Arc::new(sink),
        InvokerOptions::default(),
    );
    let wire = br#"{"name":"SSHManager","arguments":{"action":"exec","command":"id"}}"#;
    let caller = agent.caller(Attendance::Interactive);
    let outcome = invoker.invoke_wire(CallId("c".into()), wire, &caller, &CancellationToken::new()).await;
    assert_eq!(kind(&outcome), "completed");
    let told =
        ["judged Ask 1", "asked", "settled AllowedOnce", "judged Ask 1", "dispatched SSHManager", "finished Completed"];
    assert_eq!(*story.lock().unwrap(), told);
}
