//! What a policy module must bring before it is put in force, and what happens to it afterwards.

use std::path::{Path, PathBuf};

use super::file;
use crate::module::Digest;
use crate::signature::PublicKey;

/// Faults among a hundred decisions that take a new module back out of force, unless settings say otherwise.
const ROLLBACK_FAULTS: u32 = 10;

/// How a module's file proves that it is the one that is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The file's SHA-256. Default: any. Source: `module.sha256`.
    pub sha256: Option<Digest>,
    /// The file of its signature. Default: the module's with `.sig` behind. Source: `module.signature`.
    pub signature: Option<PathBuf>,
    /// Keys of which one must have signed it. Default: none, and no signature is looked for. Source: `module.keys`.
    pub keys: Vec<PublicKey>,
}

impl Provenance {
    /// Where the signature of a module lies; none where none is wanted.
    #[must_use]
    pub fn signature_of(&self, module: &Path) -> Option<PathBuf> {
        if self.keys.is_empty() {
            return None;
        }
        Some(self.signature.clone().unwrap_or_else(|| {
            let mut path = module.as_os_str().to_owned();
            path.push(".sig");
            path.into()
        }))
    }
}

/// A candidate that judges beside the module in force. Source: `module.trial`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialSettings {
    /// Its file. Source: `module.trial.path`.
    pub path: PathBuf,
    /// What it must bring. Source: `module.trial.sha256`, `module.trial.signature`, `module.keys`.
    pub provenance: Provenance,
    /// Share of the calls that it judges as well. Default: all. Source: `module.trial.sampleRate`.
    pub sample_rate: f64,
    /// After so many calls without a looser verdict or a fault it is put in force. Default: never by itself. Source:
    /// `module.trial.promoteAfter`.
    pub promote_after: Option<u64>,
}

/// What a policy module must bring before it is put in force, and what happens to it afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseSettings {
    /// How the module's file proves that it is the one.
    pub provenance: Provenance,
    /// Files of vectors that it must pass. Default: none. Source: `module.vectors`.
    pub vectors: Vec<PathBuf>,
    /// Faults among a hundred decisions that roll a new module back; 0: never. Default: 10. Source: `module.rollbackFaults`.
    pub rollback_faults: u32,
    /// A candidate on trial. Default: none.
    pub trial: Option<TrialSettings>,
}

impl ReleaseSettings {
    pub(super) fn from_file(module: &file::Module, folder: &Path) -> Self {
        let placed = |path: &PathBuf| folder.join(path);
        Self {
            provenance: Provenance {
                sha256: module.sha256,
                signature: module.signature.as_ref().map(placed),
                keys: module.keys.clone(),
            },
            vectors: module.vectors.iter().map(placed).collect(),
            rollback_faults: module
                .rollback_faults
                .map_or(Some(ROLLBACK_FAULTS), |n| u32::try_from(n.0).ok())
                .unwrap_or(0),
            trial: module.trial.as_ref().map(|trial| TrialSettings {
                path: folder.join(&trial.path),
                provenance: Provenance {
                    sha256: trial.sha256,
                    signature: trial.signature.as_ref().map(placed),
                    keys: module.keys.clone(),
                },
                sample_rate: trial.sample_rate.unwrap_or(1.0),
                promote_after: trial.promote_after.map(|n| n.0),
            }),
        }
    }
}
