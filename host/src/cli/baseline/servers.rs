//! The servers of an `mcpServers` file.

use std::path::Path;

use anyhow::Context as _;

use super::Surveyor;
use crate::baseline::Survey;
use crate::cli::exit::Failure;
use crate::cli::input;
use crate::mcp::config::{Environment, McpConfig};
use crate::mcp::{ClientProfile, ConnectOptions};
use crate::surveyor::{SurveyOptions, survey};

/// Asks real servers, as this program.
pub(super) struct Servers;

impl Surveyor for Servers {
    fn survey(&self, config: &Path) -> anyhow::Result<Survey> {
        let text = input::whole_file(config).map_err(Failure::into_error)?;
        let config = McpConfig::parse(&config.display().to_string(), &text, &Environment::of_process())?;
        let profile = ClientProfile::new("toolwarden", env!("CARGO_PKG_VERSION"));
        let options = SurveyOptions::new(ConnectOptions::new(profile));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads")?;
        Ok(runtime.block_on(survey(&config, &options)))
    }
}
