//! Prints what a check costs. Run with `--release`.

use std::hint::black_box;
use std::time::Instant;

use rusqlite::Connection;
use serde_json::{Value, json};
use toolwarden::baseline::{
    Acceptance, BaselineCache, Exclusion, Exclusions, Identity, MIGRATION, Reach, ServerSnapshot, Stored, Survey,
    Tolerance, accept, check, diff,
};
use toolwarden::call::ServerName;
use toolwarden::store::StoreFault;

fn tools(word: &str) -> Vec<Value> {
    let properties: serde_json::Map<_, _> = (0..8)
        .map(|index| {
            (format!("parameter_{index}"), json!({ "type": "string", "description": "What it is for. ".repeat(6) }))
        })
        .collect();
    let tool = |index| {
        json!({
            "name": format!("tool_{index}"), "title": "A tool", "description": format!("{word} {}", "Does something. ".repeat(20)),
            "inputSchema": { "type": "object", "properties": properties, "required": ["parameter_0"], "default": index },
            "annotations": { "readOnlyHint": true }, "_meta": { "fastmcp": { "tags": [] } },
        })
    };
    (0..100).map(tool).collect()
}

fn time(what: &str, mut run: impl FnMut()) {
    let mut times: Vec<_> = (0..201)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("{what:60} {:>10.1?}", times.get(100).copied().unwrap_or_default());
}

fn main() -> anyhow::Result<()> {
    let name = ServerName::new("demo")?;
    let list = |word: &str| ServerSnapshot::new(name.clone(), Identity::new(json!({})), None, tools(word));
    let survey = Survey::new([(name.clone(), list("a"))]);
    let other = Survey::new([(name.clone(), list("b"))]);
    let volatile = (0..4).map(|index| Exclusion::Volatile {
        server: "demo".into(),
        tool: format!("tool_{index}"),
        pointer: "/inputSchema/default".into(),
    });
    for exclusions in [Exclusions::default(), Exclusions::new(volatile)?] {
        println!(
            "{} places excluded, 100 tools of {} bytes",
            exclusions.iter().count(),
            tools("a").iter().map(|t| t.to_string().len()).sum::<usize>() / 100
        );
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(MIGRATION)?;
        let transaction = connection.transaction()?;
        let seen = survey.fingerprint(&exclusions)?;
        let acceptance = Acceptance {
            seen,
            base: None,
            survey: &survey,
            again: &survey,
            exclusions: &exclusions,
            who: "bench",
            time_ms: 0,
        };
        accept(&transaction, &acceptance).map_err(|fault| match fault {
            StoreFault::Database(error) => anyhow::Error::from(error),
            StoreFault::Own(error) => error.into(),
        })?;
        transaction.commit()?;
        let mut cache = BaselineCache::default();
        let (_, stored) = cache.load(&connection)?;
        time("  check of an unchanged survey", || {
            black_box(check(&survey, &stored, Reach::Catalogue, Tolerance::Nothing));
        });
        time("  the baseline read anew, unchanged", || {
            black_box(cache.load(&connection).is_ok());
        });
        time("  the baseline read and validated", || {
            black_box(BaselineCache::default().load(&connection).is_ok());
        });
        let definitions = tools("a");
        let known = survey.servers().get(&name).and_then(|list| list.clone().ok());
        time("  a list fetched anew, unchanged, to a snapshot", || {
            black_box(known.as_ref().map(|known| known.renewed(None, definitions.clone())).is_some());
        });
        time("  a list never seen, to a snapshot", || {
            black_box(list("a").is_ok());
        });
        time("  100 descriptions changed, told apart", || {
            black_box(check(&other, &stored, Reach::Catalogue, Tolerance::Nothing));
        });
        if let (Stored::Accepted(baseline), Ok(lists)) = (&*stored, other.lists()) {
            time("  the difference alone", || {
                black_box(diff(&baseline.lists(), &lists, &exclusions));
            });
        }
    }
    Ok(())
}
