//! `toolwarden audit`: the audit trail.

mod export;
mod tail;
mod verify;

use clap::{Args, Subcommand, ValueEnum};

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
    #[arg(long, value_name = "KIND", value_parser = clap::value_parser!(KindArgument))]
    kind: Vec<KindArgument>,
    /// Records about this tool, by its raw name
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Records about tools of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

impl FilterArguments {
    fn filter(&self) -> Filter {
        let kinds = self.kind.iter().map(|kind| kind.0).collect();
        Filter { kinds, tool: self.tool.clone(), server: self.server.clone() }
    }
}

/// A kind of record on the command line.
#[derive(Clone, Copy)]
struct KindArgument(AuditKind);

impl ValueEnum for KindArgument {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [KindArgument; AuditKind::ALL.len()] = {
            let mut all = [KindArgument(AuditKind::Denied); AuditKind::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = KindArgument(AuditKind::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.as_str()))
    }
}

fn failed(error: &AuditError) -> Failure {
    Failure::text(Exit::BadInput, format!("{error} [{}]", error.code()))
}
