//! The state table. Source: MCP security, baseline states, fail closed.

use serde::Deserialize;

use super::change::Drift;
use super::count;
use super::diff::{diff, diff_server};
use super::record::{Baseline, Stored};
use super::survey::Survey;
use crate::call::{DefinitionTrust, ServerName};
use toolwarden_text::clip;

/// How far drift in one place reaches. Source: `mcpSecurity.scope`; the default is the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach<'s> {
    /// Every covered call: the baseline is one whole.
    Catalogue,
    /// Calls of this server.
    Server(&'s ServerName),
}

/// How far drift in one place reaches, as settings say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every covered call; the default.
    #[default]
    Catalogue,
    /// Calls of the server that drifted.
    Server,
}

/// Which drift carries over by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tolerance {
    /// None; the default.
    #[default]
    Nothing,
    /// What is only written another way. Each time is audited.
    Notation,
}

/// How what there is compares with what was accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nothing was ever accepted.
    BaselineMissing,
    /// What is kept is no baseline.
    BaselineMalformed(String),
    /// What is kept is not what was accepted.
    FingerprintInvalid(String),
    /// A name stands for two things.
    DuplicateTools(String),
    /// This differs.
    DefinitionDrift(Drift),
    /// There is nothing to compare.
    SnapshotUnavailable(String),
    /// Nothing differs that counts.
    Equal,
    /// This differs, is only written another way, and settings let it be. Audit it.
    CarriedOver(Drift),
}

impl State {
    /// Stable code: the reason of a denial, where it is one.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BaselineMissing => "baseline-missing",
            Self::BaselineMalformed(_) => "baseline-malformed",
            Self::FingerprintInvalid(_) => "fingerprint-invalid",
            Self::DuplicateTools(_) => "duplicate-tools",
            Self::DefinitionDrift(_) => "definition-drift",
            Self::SnapshotUnavailable(_) => "snapshot-unavailable",
            Self::Equal => "equal",
            Self::CarriedOver(_) => "notation-carried-over",
        }
    }

    /// The fact that the policy and the floors are given.
    #[must_use]
    pub const fn trust(&self) -> DefinitionTrust {
        match self {
            Self::BaselineMissing => DefinitionTrust::BaselineMissing,
            Self::BaselineMalformed(_) => DefinitionTrust::BaselineMalformed,
            Self::FingerprintInvalid(_) => DefinitionTrust::FingerprintInvalid,
            Self::DuplicateTools(_) => DefinitionTrust::DuplicateTools,
            Self::DefinitionDrift(_) => DefinitionTrust::DefinitionDrift,
            Self::SnapshotUnavailable(_) => DefinitionTrust::SnapshotUnavailable,
            Self::Equal | Self::CarriedOver(_) => DefinitionTrust::Matching,
        }
    }

    /// What differs, where anything does.
    #[must_use]
    pub const fn drift(&self) -> Option<&Drift> {
        match self {
            Self::DefinitionDrift(drift) | Self::CarriedOver(drift) => Some(drift),
            _ => None,
        }
    }
}

/// Compares what was found with what is kept. What is unchanged costs no more than its servers' digests.
#[must_use]
pub fn check(survey: &Survey, stored: &Stored, reach: Reach, tolerance: Tolerance) -> State {
    let baseline = match stored {
        Stored::Missing => return State::BaselineMissing,
        Stored::Malformed(problem) => return State::BaselineMalformed(problem.clone()),
        Stored::FingerprintInvalid(place) => return State::FingerprintInvalid(place.clone()),
        Stored::Accepted(baseline) => baseline,
    };
    let drift = match reach {
        Reach::Catalogue => whole(survey, baseline),
        Reach::Server(server) => one(survey, baseline, server),
    };
    match drift {
        Ok(None) => State::Equal,
        Ok(Some(drift)) if tolerance == Tolerance::Notation && drift.is_notation() => State::CarriedOver(drift),
        Ok(Some(drift)) => State::DefinitionDrift(drift),
        Err(state) => state,
    }
}

fn whole(survey: &Survey, baseline: &Baseline) -> Result<Option<Drift>, State> {
    let lists = survey.lists().map_err(|(server, error)| unusable(server, error))?;
    let counted = count::Counted::new(&lists, baseline.exclusions())
        .map_err(|error| State::SnapshotUnavailable(error.to_string()))?;
    if counted.fingerprint() == baseline.fingerprint() {
        return Ok(None);
    }
    told(diff(&baseline.lists(), &lists, baseline.exclusions()))
}

fn one(survey: &Survey, baseline: &Baseline, server: &ServerName) -> Result<Option<Drift>, State> {
    let list = match survey.servers().get(server) {
        Some(found) => found.as_ref().map_err(|error| unusable(server, error))?,
        None => return Err(State::SnapshotUnavailable(format!("nobody looked at server `{server}`"))),
    };
    let digest = count::server_digest(list, baseline.exclusions())
        .map_err(|error| State::SnapshotUnavailable(error.to_string()))?;
    if baseline.counted().servers().get(server) == Some(&digest) {
        return Ok(None);
    }
    told(diff_server(baseline.server(server), Some(list), baseline.exclusions()))
}

/// Digests that differ are drift, also where nobody could say what it is.
fn told(drift: Option<Drift>) -> Result<Option<Drift>, State> {
    match drift {
        Some(drift) => Ok(Some(drift)),
        None => Err(State::SnapshotUnavailable("the digests differ, and nothing else does".into())),
    }
}

fn unusable(server: &ServerName, error: &super::error::SnapshotError) -> State {
    let problem = clip(&format!("server `{server}`: {error}"), 400).into_owned();
    if error.is_duplicate() { State::DuplicateTools(problem) } else { State::SnapshotUnavailable(problem) }
}
