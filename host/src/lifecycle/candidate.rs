//! The gate before a swap: all that a module goes through before it may be in force.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::refusal::{Check, Refusal};
use super::safety::Safety;
use crate::module::{CachePolicy, Component, ConfigureError, Digest, LoadError, ModuleInfo, PolicyModule};
use crate::settings::{Provenance, Settings};
use crate::signature::Signature;
use crate::vectors::{Runner, Vector};

/// Bytes of a file of vectors at most.
const LARGEST_VECTORS: u64 = 64 << 20;
/// Bytes of a signature file at most.
const LARGEST_SIGNATURE: u64 = 4 << 10;

/// How long all vectors together may take. Default: 30 seconds. The host's own take the default module 50 ms, and one with a
/// script engine inside a second or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub Duration);

impl Default for Budget {
    fn default() -> Self {
        Self(Duration::from_secs(30))
    }
}

impl Budget {
    /// The time at which it is used up; none where the clock does not reach that far.
    pub(super) fn end(self) -> Option<Instant> {
        Instant::now().checked_add(self.0)
    }
}

/// A module's file, read once: what is judged by digest and signature is what is compiled.
#[derive(Clone, Debug)]
pub struct ModuleFile {
    bytes: Vec<u8>,
    digest: Digest,
}

impl ModuleFile {
    /// Reads a module and looks at its digest and signature.
    ///
    /// # Errors
    ///
    /// [`Refusal`] at [`Check::File`], [`Check::Digest`] or [`Check::Signature`].
    pub fn read(path: &Path, provenance: &Provenance) -> Result<Self, Refusal> {
        let bytes = Component::read(path).map_err(|error| Refusal::new(Check::File, error.code(), error))?;
        let digest = Digest::of(&bytes);
        let refuse = |check, code, message: String| Refusal::new(check, code, message).of(digest);
        if let Some(pinned) = provenance.sha256.filter(|pinned| *pinned != digest) {
            let message = format!("`{}` has {digest}, and settings pin {pinned}", path.display());
            return Err(refuse(Check::Digest, "module-digest-mismatch", message));
        }
        if let Some(file) = provenance.signature_of(path) {
            let text = bounded(&file, LARGEST_SIGNATURE).map_err(|problem| {
                let message = format!("settings name keys, and the signature `{}` {problem}", file.display());
                refuse(Check::Signature, "signature-missing", message)
            })?;
            let signature = String::from_utf8_lossy(&text).parse::<Signature>();
            signature
                .and_then(|signature| signature.verify(&bytes, &provenance.keys))
                .map_err(|error| refuse(Check::Signature, error.code(), format!("`{}`: {error}", file.display())))?;
        }
        Ok(Self { bytes, digest })
    }

    /// The module's digest.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The module's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A module that may be put in force under these settings.
#[derive(Debug)]
pub struct Candidate {
    pub(super) settings: Settings,
    pub(super) component: Arc<Component>,
    pub(super) module: Arc<PolicyModule>,
}

impl Candidate {
    /// Takes a module through everything: contract, settings, its own vectors, the host's. Without a file it is the embedded
    /// one.
    ///
    /// # Errors
    ///
    /// [`Refusal`] that names the check.
    pub fn admit(
        settings: Settings,
        file: Option<&ModuleFile>,
        budget: Budget,
        cache: &CachePolicy,
    ) -> Result<Self, Refusal> {
        let component = match file {
            None => Component::embedded(settings.limits),
            Some(file) => Component::from_bytes_with(file.bytes(), settings.limits, cache),
        };
        let component = component.map_err(|error: LoadError| {
            let refusal = Refusal::new(Check::Contract, error.code(), error);
            file.map_or(refusal.clone(), |file| refusal.of(file.digest))
        })?;
        Self::configure(settings, Arc::new(component), budget)
    }

    /// What the module is.
    #[must_use]
    pub fn info(&self) -> &ModuleInfo {
        self.component.info()
    }

    /// Takes a component that was loaded before through the rest.
    pub(super) fn configure(settings: Settings, component: Arc<Component>, budget: Budget) -> Result<Self, Refusal> {
        let digest = component.info().digest;
        let module = PolicyModule::new(Arc::clone(&component), &settings.policy_json()).map_err(|error| {
            let code = match &error {
                ConfigureError::Rejected(_) => "settings-rejected",
                ConfigureError::Fault(fault) => fault.code(),
            };
            Refusal::new(Check::Configure, code, error).of(digest)
        })?;
        let end = budget.end();
        own_vectors(&settings, &component, end).map_err(|refusal| refusal.of(digest))?;
        let module = Arc::new(module);
        Safety::every_module().check(&module, &component, &settings, end).map_err(|refusal| refusal.of(digest))?;
        Ok(Self { settings, component, module })
    }
}

fn own_vectors(settings: &Settings, component: &Arc<Component>, end: Option<Instant>) -> Result<(), Refusal> {
    let refuse = |code, message: String| Refusal::new(Check::Vectors, code, message);
    let mut runner = Runner::new(Arc::clone(component), settings.clone());
    for path in &settings.release.vectors {
        let shown = path.display();
        let text = bounded(path, LARGEST_VECTORS)
            .map_err(|problem| refuse("vectors-unreadable", format!("the vectors `{shown}` {problem}")))?;
        let vectors = Vector::parse_all(&text)
            .map_err(|error| refuse("vectors-unreadable", format!("the vectors `{shown}`: {error}")))?;
        for vector in vectors {
            if is_over(end) {
                return Err(refuse("vectors-out-of-time", format!("the vectors `{shown}` took longer than they may")));
            }
            let id = toolwarden_text::clip(&vector.id, 80);
            let judged = runner
                .run(&vector)
                .map_err(|problem| refuse("vector-failed", format!("vector `{id}` of `{shown}`: {problem}")))?;
            if let Some(wrong) = vector.mismatch(&judged) {
                return Err(refuse("vector-failed", format!("vector `{id}` of `{shown}`: {wrong}")));
            }
        }
    }
    Ok(())
}

/// Whether the time is used up.
pub(super) fn is_over(end: Option<Instant>) -> bool {
    end.is_some_and(|end| Instant::now() >= end)
}

/// A file's bytes, or what is wrong with it.
fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is no regular file".into());
    }
    if metadata.len() > most {
        return Err(format!("is larger than {} KiB", most >> 10));
    }
    std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))
}
