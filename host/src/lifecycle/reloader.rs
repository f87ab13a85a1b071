//! Keeps one judge in force, and puts others in its place.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use arc_swap::ArcSwapOption;

use super::candidate::{Budget, Candidate, ModuleFile};
use super::event::{Cause, LifecycleEvent, LifecycleSink};
use super::health::Health;
use super::refusal::{Check, Refusal};
use super::release::Release;
use super::trial::{Trial, TrialReport};
use crate::call::Call;
use crate::invoke::{Judged, Observer, PolicyId, State};
use crate::module::{CachePolicy, Component, Digest, Fault};
use crate::registry::{Catalogue, Generation};
use crate::settings::{Settings, SettingsError, TrialSettings};

/// Releases kept to go back to. Each holds a module and its memory.
const KEPT: usize = 4;

type Load = dyn Fn() -> Result<Settings, SettingsError> + Send + Sync;

/// Where settings come from, each time anew.
pub struct Origin {
    files: Vec<PathBuf>,
    load: Box<Load>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Origin {
    /// Settings read by a function, out of these files.
    #[must_use]
    pub fn new(
        files: Vec<PathBuf>,
        load: impl Fn() -> Result<Settings, SettingsError> + Send + Sync + 'static,
    ) -> Self {
        Self { files, load: Box::new(load) }
    }

    /// Settings of a file.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        let owned = path.to_owned();
        Self::new(vec![path.to_owned()], move || Settings::load(&owned))
    }
}

/// What a reloader starts with.
#[derive(Clone, Debug)]
pub struct ReloaderOptions {
    /// The tools.
    pub catalogue: Catalogue,
    /// The model's context window in tokens; 0 when not known.
    pub context_window: u64,
    /// Where compiled modules are kept.
    pub cache: CachePolicy,
}

/// What a reload came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reload {
    /// Neither the module nor the settings are other ones.
    Unchanged,
    /// This one is in force now.
    Swapped(Arc<PolicyId>),
}

/// Keeps one judge in force. Whatever replaces it goes through the gate first; on any failure it stays.
///
/// Reloads and rollbacks run one after the other, on the thread that calls for them. Decisions never wait for them.
pub struct Reloader {
    me: Weak<Self>,
    origin: Origin,
    context_window: u64,
    budget: Budget,
    cache: CachePolicy,
    state: Arc<State>,
    trial: Arc<ArcSwapOption<Trial>>,
    events: Arc<dyn LifecycleSink>,
    inner: Mutex<Inner>,
}

/// What changes only under the lock.
struct Inner {
    catalogue: Catalogue,
    active: Release,
    former: Vec<Release>,
    /// What was in force and was left on purpose. It does not come again just because its files still lie there.
    left: Vec<(Settings, Digest)>,
    /// Modules that failed too often. They do not come again under other settings either.
    withdrawn: Vec<Digest>,
    refusal: Option<Refusal>,
}

impl fmt::Debug for Reloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloader").field("origin", &self.origin).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Reloader {
    /// Takes the first policy through the gate and puts it in force, as generation 1. A trial that settings name is started.
    ///
    /// # Errors
    ///
    /// [`Refusal`]; then nothing is in force, and no call can be judged.
    pub fn start(
        origin: Origin,
        options: ReloaderOptions,
        events: Arc<dyn LifecycleSink>,
    ) -> Result<Arc<Self>, Refusal> {
        let ReloaderOptions { catalogue, context_window, cache } = options;
        let budget = Budget::default();
        let settings = load(&origin)?;
        let file = module_file(&settings)?;
        let candidate = Candidate::admit(settings, file.as_ref(), budget, &cache)?;
        let (active, judge) = Release::make(candidate, &catalogue, context_window, Generation(1))?;
        let trial = Arc::new(ArcSwapOption::empty());
        let reloader = Arc::new_cyclic(|me: &Weak<Self>| {
            let observer = Attendant::new(Weak::clone(me), &active, Arc::clone(&trial));
            let inner =
                Inner { catalogue, active, former: Vec::new(), left: Vec::new(), withdrawn: Vec::new(), refusal: None };
            Self {
                me: Weak::clone(me),
                origin,
                context_window,
                budget,
                cache,
                state: Arc::new(State::new(judge.observed(Arc::new(observer)))),
                trial,
                events,
                inner: Mutex::new(inner),
            }
        });
        reloader.trial_of_settings(&mut reloader.lock());
        Ok(reloader)
    }

    /// What is in force. Calls are judged by it.
    #[must_use]
    pub const fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.lock().active.settings.clone()
    }

    /// Why the last reload was refused; none when it was not.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        self.lock().refusal.clone()
    }

    /// All files that the policy in force depends on; a change of one is a reason to reload.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let settings = self.lock().active.settings.clone();
        let release = &settings.release;
        let mut files = self.origin.files.clone();
        files.extend(settings.module_path.iter().flat_map(|path| with_signature(path, &release.provenance)));
        files.extend(release.vectors.iter().cloned());
        files.extend(release.trial.iter().flat_map(|trial| with_signature(&trial.path, &trial.provenance)));
        files
    }

    /// Reads settings and module anew, and puts them in force when they are other ones and pass the gate.
    ///
    /// # Errors
    ///
    /// [`Refusal`]; what was in force stays.
    pub fn reload(&self) -> Result<Reload, Refusal> {
        let mut inner = self.lock();
        let reloaded = self.reloaded(&mut inner);
        self.settle(&mut inner, reloaded)
    }

    fn reloaded(&self, inner: &mut Inner) -> Result<Reload, Refusal> {
        let settings = load(&self.origin)?;
        // A file that lost its contents is valid, and would turn everything off.
        if settings.is_blank() && !inner.active.settings.is_blank() {
            let message = "the settings hold nothing any more, which would turn everything off; to mean that, \
                           write toolApprovalMode = \"off\" in [system]";
            return Err(Refusal::new(Check::Settings, "settings-empty", message));
        }
        let file = module_file(&settings)?;
        let digest = file.as_ref().map_or_else(Component::embedded_digest, ModuleFile::digest);
        let is_active = digest == inner.active.digest() && settings == inner.active.settings;
        if is_active || inner.left.iter().any(|(left, of)| *of == digest && *left == settings) {
            return Ok(Reload::Unchanged);
        }
        let candidate = if inner.withdrawn.contains(&digest) {
            // The module stays out, but nobody's settings wait for that.
            inner.active.under(settings, self.budget)?
        } else {
            Candidate::admit(settings, file.as_ref(), self.budget, &self.cache)?
        };
        let swapped = self.publish(inner, candidate, Cause::Reload)?;
        self.trial_of_settings(inner);
        Ok(Reload::Swapped(swapped))
    }

    /// Takes another list of tools into the registry, under the module in force.
    ///
    /// # Errors
    ///
    /// [`Refusal`] where the module gives no registry of it; the former list stays.
    pub fn replace_tools(&self, catalogue: Catalogue) -> Result<Arc<PolicyId>, Refusal> {
        let mut inner = self.lock();
        let before = std::mem::replace(&mut inner.catalogue, catalogue);
        let candidate = inner.active.candidate();
        let published = self.publish(&mut inner, candidate, Cause::Tools);
        if published.is_err() {
            inner.catalogue = before;
        }
        self.settle(&mut inner, published)
    }

    /// Goes back to the release before, module and settings, under a new generation. What was in force does not come back by
    /// itself as long as its files stay the same.
    ///
    /// # Errors
    ///
    /// [`Refusal`] where there is none before, or it cannot be put in force any more.
    pub fn rollback(&self) -> Result<Arc<PolicyId>, Refusal> {
        let mut inner = self.lock();
        let Some(former) = inner.former.last() else {
            return Err(Refusal::new(Check::File, "nothing-before", "there is no release before this one"));
        };
        let candidate = former.candidate();
        let published = self.publish(&mut inner, candidate, Cause::Rollback);
        if published.is_ok() {
            // The release that was left is on top now, and the one that is in force again below it.
            let kept = inner.former.len().saturating_sub(2);
            inner.former.truncate(kept);
        }
        self.settle(&mut inner, published)
    }

    /// Goes back to the last other module, because the one of this generation fails. The settings in force stay: whoever can
    /// make a module fail must not get weaker settings for it.
    fn roll_back_faulty(&self, failing: Generation, faults: u32) {
        let mut inner = self.lock();
        if inner.active.policy.generation != failing {
            return;
        }
        let withdrawn = inner.active.digest();
        let Some(at) = inner.former.iter().rposition(|release| release.digest() != withdrawn) else {
            self.events
                .on_event(&LifecycleEvent::ModuleUnhealthy { policy: inner.active.policy.as_ref().clone(), faults });
            return;
        };
        let candidate =
            inner.former.get(at).map(|former| former.under(inner.active.settings.clone(), self.budget)).transpose();
        let published = candidate.and_then(|candidate| match candidate {
            Some(candidate) => self.publish(&mut inner, candidate, Cause::Faults),
            None => Err(Refusal::new(Check::File, "nothing-before", "there is no release before this one")),
        });
        if published.is_ok() {
            inner.former.truncate(at);
            remember(&mut inner.withdrawn, withdrawn);
        }
        let _ = self.settle(&mut inner, published);
    }

    /// Starts a trial of a candidate, in the place of the one before.
    ///
    /// # Errors
    ///
    /// [`Refusal`] where it does not pass the gate.
    pub fn start_trial(&self, trial: &TrialSettings) -> Result<(), Refusal> {
        let inner = self.lock();
        self.started(&inner, trial)
    }

    fn started(&self, inner: &Inner, trial: &TrialSettings) -> Result<(), Refusal> {
        self.end_trial();
        let started = self.try_start(inner, trial);
        if let Err(refusal) = &started {
            self.events.on_event(&LifecycleEvent::TrialRefused { refusal: refusal.clone() });
        }
        started
    }

    fn try_start(&self, inner: &Inner, trial: &TrialSettings) -> Result<(), Refusal> {
        let file = ModuleFile::read(&trial.path, &trial.provenance)?;
        let candidate = Candidate::admit(inner.active.settings.clone(), Some(&file), self.budget, &self.cache)?;
        let generation = inner.active.policy.generation;
        let (release, judge) = Release::make(candidate, &inner.catalogue, self.context_window, generation)?;
        let me = Weak::clone(&self.me);
        let digest = release.digest();
        let promote = move || {
            if let Some(reloader) = me.upgrade() {
                let _ = reloader.promote_digest(Some(digest));
            }
        };
        let policy = release.policy.as_ref().clone();
        let trial = Trial::start(release, judge, trial.sample_rate, trial.promote_after, promote)
            .map_err(|error| Refusal::new(Check::Contract, "module-unavailable", error))?;
        self.trial.store(Some(Arc::new(trial)));
        self.events.on_event(&LifecycleEvent::TrialStarted { candidate: policy });
        Ok(())
    }

    /// What the trial has found so far; none where there is no trial.
    #[must_use]
    pub fn trial(&self) -> Option<(Arc<PolicyId>, TrialReport)> {
        self.trial.load().as_ref().map(|trial| (Arc::clone(trial.policy()), trial.report()))
    }

    /// Ends the trial, if there is one, and gives what it found.
    pub fn end_trial(&self) -> Option<TrialReport> {
        let trial = self.trial.swap(None)?;
        let report = trial.report();
        let candidate = trial.policy().as_ref().clone();
        self.events.on_event(&LifecycleEvent::TrialEnded { candidate, report: report.clone() });
        Some(report)
    }

    /// Puts the candidate on trial in force.
    ///
    /// # Errors
    ///
    /// [`Refusal`] where there is no trial, or the candidate cannot be put in force.
    pub fn promote(&self) -> Result<Arc<PolicyId>, Refusal> {
        self.promote_digest(None)
    }

    fn promote_digest(&self, only: Option<Digest>) -> Result<Arc<PolicyId>, Refusal> {
        let mut inner = self.lock();
        let trial = self.trial.load_full();
        let trial = trial.filter(|trial| only.is_none_or(|digest| digest == trial.release().digest()));
        let Some(trial) = trial else {
            return Err(Refusal::new(Check::File, "no-trial", "there is no candidate on trial"));
        };
        let candidate = trial.release().under(inner.active.settings.clone(), self.budget);
        let published = candidate.and_then(|candidate| self.publish(&mut inner, candidate, Cause::Promotion));
        if published.is_ok() {
            self.end_trial();
        }
        self.settle(&mut inner, published)
    }

    /// Makes the candidate's registry, and swaps. From here on it is in force.
    fn publish(&self, inner: &mut Inner, candidate: Candidate, cause: Cause) -> Result<Arc<PolicyId>, Refusal> {
        let generation = Generation(inner.active.policy.generation.0 + 1);
        let (release, judge) = Release::make(candidate, &inner.catalogue, self.context_window, generation)?;
        release.prepare_like(&inner.active);
        let observer = Attendant::new(Weak::clone(&self.me), &release, Arc::clone(&self.trial));
        let to = Arc::clone(&release.policy);
        self.state.replace(judge.observed(Arc::new(observer)));
        let old = std::mem::replace(&mut inner.active, release);
        let from = old.policy.as_ref().clone();
        if matches!(cause, Cause::Rollback | Cause::Faults | Cause::Promotion) {
            remember(&mut inner.left, (old.settings.clone(), old.digest()));
        }
        // Another list of tools is no release of its own to go back to.
        if cause != Cause::Tools {
            inner.former.push(old);
            if inner.former.len() > KEPT {
                inner.former.remove(0);
            }
        }
        self.events.on_event(&LifecycleEvent::ModuleSwapped { cause, from, to: to.as_ref().clone() });
        Ok(to)
    }

    /// Keeps and tells a refusal.
    fn settle<T>(&self, inner: &mut Inner, result: Result<T, Refusal>) -> Result<T, Refusal> {
        inner.refusal = result.as_ref().err().cloned();
        if let Err(refusal) = &result {
            let kept = inner.active.policy.as_ref().clone();
            self.events.on_event(&LifecycleEvent::ModuleRefused { refusal: refusal.clone(), kept });
        }
        result
    }

    fn trial_of_settings(&self, inner: &mut Inner) {
        self.end_trial();
        if let Some(trial) = inner.active.settings.release.trial.clone() {
            let _ = self.started(inner, &trial);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whatever panicked while it held the lock left a whole release in force.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Remembers something, and forgets the oldest in time.
fn remember<T: PartialEq>(list: &mut Vec<T>, new: T) {
    /// Things that are remembered.
    const MOST: usize = 64;
    if !list.contains(&new) {
        list.push(new);
        if list.len() > MOST {
            list.remove(0);
        }
    }
}

fn load(origin: &Origin) -> Result<Settings, Refusal> {
    (origin.load)().map_err(|error| Refusal::new(Check::Settings, "settings-invalid", error))
}

fn module_file(settings: &Settings) -> Result<Option<ModuleFile>, Refusal> {
    let read = |path: &PathBuf| ModuleFile::read(path, &settings.release.provenance);
    settings.module_path.as_ref().map(read).transpose()
}

fn with_signature(path: &Path, provenance: &crate::settings::Provenance) -> Vec<PathBuf> {
    std::iter::once(path.to_owned()).chain(provenance.signature_of(path)).collect()
}

/// Looks on at every decision of one generation: counts faults, and hands calls to the trial.
#[derive(Debug)]
struct Attendant {
    reloader: Weak<Reloader>,
    generation: Generation,
    health: Health,
    trial: Arc<ArcSwapOption<Trial>>,
}

impl Attendant {
    fn new(reloader: Weak<Reloader>, release: &Release, trial: Arc<ArcSwapOption<Trial>>) -> Self {
        let health = Health::new(release.settings.release.rollback_faults);
        Self { reloader, generation: release.policy.generation, health, trial }
    }
}

impl Observer for Attendant {
    fn on_judged(&self, call: &Call, judged: &Judged, fault: Option<&Fault>) {
        if let Some(trial) = &*self.trial.load() {
            trial.sample(call, judged);
        }
        let Some(faults) = self.health.count(fault) else { return };
        let (reloader, generation) = (Weak::clone(&self.reloader), self.generation);
        // Not here: a registry of ten thousand tools takes its time, and somebody waits for this decision. Without a thread
        // the module stays, and its faults are denials.
        let _ = thread::Builder::new().name("toolwarden-rollback".into()).spawn(move || {
            if let Some(reloader) = reloader.upgrade() {
                reloader.roll_back_faulty(generation, faults);
            }
        });
    }
}
