//! Scenarios: an agent's calls one after the other, the answers of a person, what each call comes to, and what was run in the end.
//! Each is played with the native functions, with the component, and, verdict by verdict, on the command line.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwarden::approval::{Approval, Scripted};
use toolwarden::call::{Attendance, CallId};
use toolwarden::invoke::{Invoker, InvokerOptions, NoEvents, Outcome, State};
use toolwarden::module::Policy;
use toolwarden_harness::agent::Agent;
use toolwarden_harness::native::NativePolicy;
use toolwarden_harness::{cli, component, vectors};

fn scenarios() -> Vec<Value> {
    let text = std::fs::read_to_string(vectors::folder().join("scenarios/agent.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn approval(word: &Value) -> Approval {
    match word.as_str().unwrap() {
        "allowed-once" => Approval::AllowedOnce,
        "rejected" => Approval::Rejected,
        "cancelled" => Approval::Cancelled,
        "timed-out" => Approval::TimedOut,
        "unavailable" => Approval::Unavailable,
        other => panic!("{other}"),
    }
}

fn outcome(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Completed(_) => "completed",
        Outcome::Failed(_) => "failed",
        Outcome::Withheld(_) => "withheld",
        Outcome::Denied(verdict) => verdict.kind.as_ref().map_or("", |kind| kind.as_str()),
        Outcome::Cancelled => "cancelled",
        Outcome::TimedOut => "timed-out",
        Outcome::Unreadable(error) => error.code,
    }
}

/// Plays a scenario under a policy.
async fn play(scenario: &Value, policy: Arc<dyn Policy>) {
    let id = &scenario["id"];
    let floors = component::settings(&scenario["settings"]).unwrap().floors;
    let judge = component::judge(policy, vectors::catalogue(scenario).unwrap(), floors).unwrap();
    let agent = Arc::new(Agent::new().unwrap());
    let approver = Scripted::answering(scenario["answers"].as_array().unwrap().iter().map(approval));
    let invoker = Invoker::new(
        Arc::new(State::new(judge)),
        Arc::new(approver),
        Arc::clone(&agent) as _,
        Arc::new(NoEvents),
        InvokerOptions::default(),
    );
    for (number, call) in scenario["calls"].as_array().unwrap().iter().enumerate() {
        let attendance: Attendance = serde_json::from_value(call["attendance"].clone()).unwrap();
        let wire = json!({ "name": call["name"], "arguments": call["arguments"] }).to_string();
        let (caller, cancel) = (agent.caller(attendance), CancellationToken::new());
        let came = invoker.invoke_wire(CallId(number.to_string()), wire.as_bytes(), &caller, &cancel).await;
        assert_eq!(outcome(&came), call["outcome"], "{id}, call {number}: {came:?}");
    }
    let ran: Vec<String> = agent.ran().into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(json!(ran), scenario["ran"], "{id}");
}

#[tokio::test]
async fn scenarios_play_out_natively_and_as_the_component() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 12);
    for scenario in &scenarios {
        let settings = component::settings(&scenario["settings"]).unwrap();
        play(scenario, Arc::new(NativePolicy::new(&settings.policy_json()).unwrap())).await;
        play(scenario, component::configured(component::embedded().unwrap(), &settings).unwrap()).await;
    }
}

#[test]
fn scenarios_get_the_same_verdicts_on_the_command_line() {
    let mut verdicts = BTreeSet::new();
    for scenario in scenarios() {
        let agent = Agent::new().unwrap();
        let (settings, tools) = (agent.outside().join("settings.json"), agent.outside().join("tools.json"));
        std::fs::write(&settings, scenario["settings"].to_string()).unwrap();
        let mut arguments = vec!["decide", "--resolve", "--settings", settings.to_str().unwrap()];
        if let Some(catalogue) = scenario.get("catalogue") {
            std::fs::write(&tools, catalogue.to_string()).unwrap();
            arguments.extend(["--tools", tools.to_str().unwrap()]);
        }
        let calls = scenario["calls"].as_array().unwrap();
        let record = |(number, call): (usize, &Value)| {
            let route = if call["name"] == "tool_invoke" { "bridge" } else { "direct" };
            let workspace = &*agent.caller(Attendance::Interactive).workspace;
            let record = json!({
                "id": number.to_string(), "tool": call["name"], "arguments": call["arguments"], "route": route,
                "attendance": call["attendance"], "workspace": workspace,
            });
            format!("{record}\n")
        };
        let input: String = calls.iter().enumerate().map(record).collect();
        let answers = cli::lines(&cli::run(&arguments, input.as_bytes()).unwrap()).unwrap();
        assert_eq!(answers.len(), calls.len());
        for (answer, call) in answers.iter().zip(calls) {
            assert_eq!(answer["verdict"], call["verdict"], "{}: {answer}", scenario["id"]);
            // A denial has one kind, whoever finds it.
            if call["verdict"] == "deny" {
                assert_eq!(answer["kind"], call["outcome"], "{}: {answer}", scenario["id"]);
            }
            verdicts.insert(answer["verdict"].to_string());
        }
    }
    assert_eq!(verdicts.len(), 3, "scenarios have every verdict");
}
