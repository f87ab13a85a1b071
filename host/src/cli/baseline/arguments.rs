//! Arguments that several commands take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::baseline::{Exclusion, Exclusions, Language, Stored};
use crate::cli::exit::{Exit, Failure};
use crate::store::data_folder;

/// Where the baseline is kept.
#[derive(Args, Debug)]
pub(super) struct StoreArguments {
    /// Folder of the store; without it the user's data folder
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl StoreArguments {
    /// The folder.
    pub fn folder(&self) -> Result<PathBuf, Failure> {
        self.data.clone().map_or_else(data_folder, Ok).map_err(|error| Failure::new(Exit::BadInput, error))
    }
}

/// Which servers are asked.
#[derive(Args, Debug)]
pub(super) struct ServerArguments {
    /// The `mcpServers` file that other clients use
    #[arg(long, value_name = "FILE")]
    pub mcp_config: PathBuf,
}

/// The language of a summary.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum LanguageWord {
    /// English
    #[default]
    En,
    /// Chinese
    Zh,
}

impl From<LanguageWord> for Language {
    fn from(word: LanguageWord) -> Self {
        match word {
            LanguageWord::En => Self::English,
            LanguageWord::Zh => Self::Chinese,
        }
    }
}

/// What is taken out of the comparison, beside what the baseline has taken out.
#[derive(Args, Debug)]
pub(super) struct ExclusionArguments {
    /// A place whose value may change; may be repeated
    #[arg(long, num_args = 3, value_names = ["SERVER", "TOOL", "POINTER"])]
    volatile: Vec<String>,
    /// A key of `_meta` that does not count; may be repeated
    #[arg(long, num_args = 2, value_names = ["SERVER", "KEY"])]
    ignore_meta: Vec<String>,
    /// Start from nothing, not from what the baseline has taken out
    #[arg(long)]
    count_all: bool,
}

impl ExclusionArguments {
    /// All exclusions that a new baseline would have.
    pub fn with(&self, stored: &Stored) -> Result<Exclusions, Failure> {
        let kept = match stored {
            Stored::Accepted(baseline) if !self.count_all => baseline.exclusions().iter().cloned().collect(),
            _ => Vec::new(),
        };
        let volatile = self.volatile.chunks_exact(3).filter_map(|words| match words {
            [server, tool, pointer] => {
                Some(Exclusion::Volatile { server: server.clone(), tool: tool.clone(), pointer: pointer.clone() })
            }
            _ => None,
        });
        let meta = self.ignore_meta.chunks_exact(2).filter_map(|words| match words {
            [server, key] => Some(Exclusion::MetaKey { server: server.clone(), key: key.clone() }),
            _ => None,
        });
        Exclusions::new(kept.into_iter().chain(volatile).chain(meta)).map_err(|error| Failure::new(Exit::Usage, error))
    }
}
