//! Accepts one baseline after the other until it is killed, and tells each on a line. For a test.

use std::io::Write as _;
use std::path::Path;

use serde_json::json;
use toolwarden::baseline::{AcceptError, Acceptance, Exclusions, Identity, ServerSnapshot, Survey, accept, revision};
use toolwarden::call::ServerName;
use toolwarden::store::Store;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).ok_or_else(|| anyhow::anyhow!("give a folder"))?;
    let store = Store::open(Path::new(&folder))?;
    let exclusions = Exclusions::default();
    for round in 0_u64.. {
        let tools =
            (0..200).map(|tool| json!({ "name": format!("t{tool}"), "description": format!("{round} {tool}") }));
        let name = ServerName::new("demo")?;
        let list = ServerSnapshot::new(name.clone(), Identity::new(json!({})), None, tools.collect());
        let survey = Survey::new([(name, list)]);
        let acceptance = Acceptance {
            seen: survey.fingerprint(&exclusions)?,
            base: store.read(revision)?,
            survey: &survey,
            again: &survey,
            exclusions: &exclusions,
            who: "test",
            time_ms: 0,
        };
        let accepted = store.write::<_, AcceptError>(|transaction| accept(transaction, &acceptance))?;
        writeln!(std::io::stdout(), "{}", accepted.get())?;
    }
    Ok(())
}
