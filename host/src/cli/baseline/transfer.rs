//! `toolwarden baseline export` and `import`.

use std::io::{Read as _, Write};
use std::path::PathBuf;

use serde_json::json;

use super::arguments::StoreArguments;
use crate::baseline::{self, ImportError};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output;
use crate::store::Store;

/// Bytes of a baseline at most; one more is read, to see that there are more.
const LARGEST: u64 = 32 << 20;

/// Arguments of `baseline export`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  toolwarden baseline export > baseline.json")]
pub struct ExportArguments {
    #[command(flatten)]
    store: StoreArguments,
}

/// Arguments of `baseline import`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  toolwarden baseline import baseline.json

What is imported is a proposal: look with `baseline diff --imported`, then accept what the servers here show.")]
pub struct ImportArguments {
    #[command(flatten)]
    store: StoreArguments,
    /// What `baseline export` wrote
    file: PathBuf,
}

pub(super) fn export(arguments: &ExportArguments, out: &mut dyn Write) -> Outcome {
    let failed = |error| Failure::new(Exit::BadInput, error);
    let store = Store::open_to_read(&arguments.store.folder()?).map_err(failed)?;
    match store.read(baseline::export).map_err(failed)? {
        Some(text) => writeln!(out, "{text}")?,
        None => return Err(Failure::text(Exit::BadInput, "there is no valid baseline in force")),
    }
    Ok(Exit::Done)
}

pub(super) fn import(arguments: &ImportArguments, now_ms: i64, out: &mut dyn Write) -> Outcome {
    let unreadable = |error| Failure::text(Exit::BadInput, format!("`{}`: {error}", arguments.file.display()));
    let mut text = Vec::new();
    let file = std::fs::File::open(&arguments.file).map_err(unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(unreadable)?;
    let store = Store::open(&arguments.store.folder()?).map_err(|error| Failure::new(Exit::BadInput, error))?;
    let brought = store.write::<_, ImportError>(|transaction| baseline::import(transaction, &text, now_ms));
    match brought {
        Ok(fingerprint) => output::json_line(out, &json!({ "imported": fingerprint, "trusted": false }))?,
        Err(error) => {
            let refused = json!({ "error": { "code": error.code(), "message": error.to_string() } });
            output::json_line(out, &refused)?;
            return Ok(Exit::BadInput);
        }
    }
    Ok(Exit::Done)
}
