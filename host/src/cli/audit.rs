//! `toolwarden audit`: the audit trail.

mod export;
mod tail;
mod verify;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::exit::{Exit, Failure, Outcome};
use crate::audit::{AuditError, AuditKind, Filter};

/// Commands on the audit trail.
#[derive(Subcommand)]
pub(super) enum Command {
    /// The newest records, and with --follow those that come
    Tail(tail::Arguments),
    /// All records, as JSON Lines or as OCSF events
    Export(export::Arguments),
    /// Whether the chain is whole
    Verify(verify::Arguments),
}

pub(super) fn run(command: &Command) -> Outcome {
    match command {
        Command::Tail(arguments) => tail::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
    }
}

/// Which records.
#[derive(Args)]
struct FilterArguments {
    /// Records of this kind; may be repeated
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    kind: Vec<AuditKind>,
    /// Records about this tool, by its raw name
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Records about tools of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

impl FilterArguments {
    fn filter(&self) -> Filter {
        Filter { kinds: self.kind.clone(), tool: self.tool.clone(), server: self.server.clone() }
    }
}

/// A kind of record on the command line.
fn kinds() -> impl TypedValueParser<Value = AuditKind> {
    let known = |word: String| AuditKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    PossibleValuesParser::new(AuditKind::ALL.map(AuditKind::as_str))
        .try_map(move |word| known(word).ok_or("no such kind"))
}

fn failed(error: &AuditError) -> Failure {
    Failure::text(Exit::BadInput, format!("{error} [{}]", error.code()))
}
