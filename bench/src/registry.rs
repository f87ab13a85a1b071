//! Registry build: what the policy is asked about each tool, and the whole plan with its search index.

use std::hint::black_box;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use toolwarden::module::{Candidacy, Deferral, Definition, Isolation, Policy, Totals};
use toolwarden::registry::{Catalogue, Generation, Registry, Servers, Tool};
use toolwarden_harness::native::NativePolicy;

use crate::subject::Subject;
use crate::table::Row;
use crate::timing::{Figure, Measurement, Plan, samples};

/// Nanoseconds a tool.
const EACH: f64 = 1_000.0;
/// Times that a tool among ten thousand may take as long as one among a hundred: caches grow cold, but nothing is squared.
const LINEAR: f64 = 2.0;

/// The rows on registries of growing size.
pub fn rows(subject: &Subject, plan: Plan) -> Result<Vec<Row>> {
    let warm = subject.policy(Isolation::Pooled)?;
    let fresh = subject.policy(Isolation::PerCall)?;
    let native = NativePolicy::new(subject.settings())?;
    let mut rows = Vec::new();
    let mut smallest = None;
    for tools in [100, 1_000, 10_000] {
        let catalogue = catalogue(tools)?;
        let asked = &Asked::of(&catalogue);
        ensure!(asked.by(&native)? == asked.by(&*warm)?, "module and native functions answer differently");
        // Small registries are built in no time, so often.
        let often = Plan { samples: plan.samples * u32::try_from(1 + 1_000 / tools)?, ..plan };
        let asked_of = |policy| Measurement::prepared(|| (), move |()| black_box(asked).by(policy));
        let built_by = |policy| Measurement::prepared(|| catalogue.clone(), move |tools| build(policy, tools));
        let [native_asked, warm_asked, fresh_asked] =
            samples([asked_of(&native), asked_of(&*warm), asked_of(&*fresh)], often)?;
        let [native_built, warm_built] = samples([built_by(&native), built_by(&*warm)], often)?;
        let parts = u32::try_from(catalogue.tools().len())?;
        let each = |figure: Figure| figure.part(parts);
        let (native_asked, warm_asked, fresh_asked) = (each(native_asked), each(warm_asked), each(fresh_asked));
        let row = Row {
            fresh: fresh_asked.into(),
            warm: warm_asked.into(),
            native: native_asked.into(),
            ..Row::new(format!("registry of {tools} tools, decisions, a tool"))
        };
        rows.push(reach(row, warm_asked, *smallest.get_or_insert(warm_asked)));
        rows.push(Row {
            warm: each(warm_built).into(),
            native: each(native_built).into(),
            ..Row::new(format!("registry of {tools} tools, plan and index, a tool"))
        });
    }
    Ok(rows)
}

/// A small registry is held to a time, a large one to a multiple of it.
fn reach(row: Row, each: Figure, smallest: Figure) -> Row {
    let ratio = each.median / smallest.median;
    if ratio.total_cmp(&1.0).is_eq() {
        row.reach("warm <= 1 us", each.median <= EACH)
    } else {
        row.reach(format!("linear: {ratio:.2} x"), ratio <= LINEAR)
    }
}

/// What a policy is asked when a registry is built.
struct Asked<'c> {
    tools: Vec<(&'c Tool, String)>,
}

impl<'c> Asked<'c> {
    fn of(catalogue: &'c Catalogue) -> Self {
        Self { tools: catalogue.tools().iter().map(|tool| (tool, tool.definition.to_string())).collect() }
    }

    /// Admits all tools and asks what to show of them. Answers how many count towards the budget, and what is shown.
    fn by(&self, policy: &dyn Policy) -> Result<(u32, Vec<Deferral>)> {
        let definitions: Vec<Definition> = self
            .tools
            .iter()
            .map(|(tool, text)| Definition {
                tool: &tool.tool,
                trust: tool.trust,
                tokens: tool.tokens,
                definition: text,
            })
            .collect();
        let admissions = policy.admit_tools(&definitions)?;
        let mut totals = Totals { bridge_complete: true, candidates: 0, candidate_tokens: 0, context_window: 0 };
        for (admission, (tool, _)) in admissions.iter().zip(&self.tools) {
            if admission.candidacy == Candidacy::Candidate {
                totals.candidates += 1;
                totals.candidate_tokens += u64::from(tool.tokens);
            }
        }
        Ok((totals.candidates, policy.should_defer_all(&definitions, totals)?))
    }
}

fn build(policy: &dyn Policy, catalogue: Catalogue) -> Result<Registry> {
    Registry::build(policy, catalogue, 0, Generation(1)).context("no registry is published")
}

/// The built-in tools and those of ten servers, so many together, with definitions of usual size.
fn catalogue(tools: usize) -> Result<Catalogue> {
    const SERVERS: usize = 10;
    let others = tools - Catalogue::builtin().tools().len();
    let lists: Vec<Value> = (0..SERVERS)
        .map(|server| {
            let tools: Vec<Value> = (server..others).step_by(SERVERS).map(definition).collect();
            json!({ "server": format!("server{server}"), "tools": tools })
        })
        .collect();
    let servers = Servers::from_json(Value::from(lists).to_string().as_bytes(), None)?;
    let catalogue = Catalogue::with_servers(servers)?;
    ensure!(catalogue.tools().len() == tools, "{} tools instead of {tools}", catalogue.tools().len());
    Ok(catalogue)
}

/// A tool's definition, about 600 bytes.
fn definition(number: usize) -> Value {
    const VERBS: [&str; 7] = ["create", "list", "update", "delete", "search", "merge", "export"];
    const THINGS: [&str; 9] =
        ["issue", "pull request", "invoice", "calendar event", "document", "message", "table", "ticket", "release"];
    let pick = |words: &'static [&'static str], number: usize| words.iter().cycle().nth(number % words.len()).copied();
    let verb = pick(&VERBS, number).unwrap_or_default();
    let thing = pick(&THINGS, number / VERBS.len()).unwrap_or_default();
    json!({
        "name": format!("{verb}_{}_{number}", thing.replace(' ', "_")),
        "title": format!("{verb} {thing}"),
        "description": format!(
            "Use this to {verb} a {thing} in the project that the connection belongs to. The answer holds the {thing} as it is \
             stored afterwards, with its number and the time of the last change."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "project": { "type": "string", "description": "name of the project, as the list of projects spells it" },
                "number": { "type": "integer", "minimum": 1, "description": format!("number of the {thing}") },
                "labels": { "type": "array", "items": { "type": "string" }, "description": "labels to put on it" },
            },
            "required": ["project"],
        },
    })
}
