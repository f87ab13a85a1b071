//! Asks many questions at once through the queue in a store, takes half of them back, and tells what came of each.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;
use toolwarden::approval::{Approver as _, Broker, Question};
use toolwarden::store::Store;
use toolwarden_harness::question;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let data = arguments.next().context("a folder")?;
    let name = arguments.next().context("a name")?;
    let questions: usize = arguments.next().context("a number")?.parse()?;
    let broker = Broker::new(Arc::new(Store::open(Path::new(&data))?), Duration::from_mins(1));
    let tasks: Vec<_> = (0..questions)
        .map(|number| {
            let broker = broker.clone();
            let id = format!("{name}-{number}");
            let asked: Question = question::of(&id, &json!({ "number": number }));
            tokio::spawn(async move {
                let answer = broker.ask(&asked);
                if number % 2 == 0 {
                    return (id, answer.await.as_str());
                }
                // Taken back after a while, each after another.
                let patience = Duration::from_millis(20 * number as u64);
                (id, tokio::time::timeout(patience, answer).await.map_or("dropped", |approval| approval.as_str()))
            })
        })
        .collect();
    for task in tasks {
        let (id, outcome) = task.await?;
        println!("{id} {outcome}");
    }
    Ok(())
}
