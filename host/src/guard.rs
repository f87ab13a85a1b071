//! Compares definitions at the moment of a call: what servers showed last, or what a probe finds now, with what was accepted.
//!
//! This is where baseline, probe and store meet [`invoke`](crate::invoke): a [`Guard`] is its
//! [`Definitions`]. It accepts nothing by itself.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use crate::audit::{AuditKind, Record, Recorder};
use crate::baseline::{
    BaselineCache, Language, Reach, Scope, ServerSnapshot, SnapshotError, State, Stored, Survey, Tolerance, check,
};
use crate::call::{DefinitionTrust, ServerName, ToolRef};
use crate::digest::Digest;
use crate::invoke::{DefinitionReport, Definitions, ResultMismatch};
use crate::mcp::config::{McpConfig, ServerConfig};
use crate::output::OutputCheck;
use crate::probe::{Probe, ProbeOutcome, ProbeTarget, ProbeTimeout};
use crate::store::Store;
use crate::surveyor::{self, SurveyOptions};

/// What a guard does.
#[derive(Clone, Debug, Default)]
pub struct GuardOptions {
    /// How far drift reaches.
    pub scope: Scope,
    /// Which drift carries over by itself.
    pub tolerance: Tolerance,
    /// Servers that are probed before each covered call, over a connection of the probe's own, and how long that may take.
    pub probes: BTreeMap<ServerName, ProbeTimeout>,
    /// Whether what was seen last decides where a probe gets no answer. Default: no, the call is denied.
    pub probe_fail_open: bool,
}

type Found = BTreeMap<ServerName, Result<Arc<ServerSnapshot>, SnapshotError>>;

/// What servers showed, and what of them was accepted.
pub struct Guard {
    store: Arc<Store>,
    config: McpConfig,
    survey: SurveyOptions,
    options: GuardOptions,
    recorder: Option<Arc<dyn Recorder>>,
    cache: Mutex<BaselineCache>,
    found: Mutex<Found>,
    /// Compiled output schemas, by the digest of the definition that they are of.
    schemas: Mutex<HashMap<Digest, Option<Arc<OutputCheck>>>>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("store", &self.store).field("options", &self.options).finish_non_exhaustive()
    }
}

/// Compiled schemas that are kept at once.
const MOST_SCHEMAS: usize = 1_000;

impl Guard {
    /// A guard over these servers, each of which is asked once.
    pub async fn start(store: Arc<Store>, config: McpConfig, survey: SurveyOptions, options: GuardOptions) -> Self {
        let guard = Self {
            store,
            config,
            survey,
            options,
            recorder: None,
            cache: Mutex::default(),
            found: Mutex::default(),
            schemas: Mutex::default(),
        };
        guard.look_again().await;
        guard
    }

    /// The same, with records of its probes.
    #[must_use]
    pub fn recording(self, recorder: Arc<dyn Recorder>) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// Asks all servers anew: after a `list_changed`, and now and then as a backstop.
    pub async fn look_again(&self) {
        let survey = surveyor::survey(&self.config, &self.survey).await;
        *lock(&self.found) = survey.servers().clone();
    }

    /// How what was found of this server compares with what was accepted.
    fn state(&self, reach: Reach) -> State {
        let survey = Survey::of(lock(&self.found).clone());
        match self.stored() {
            Ok(stored) => check(&survey, &stored, reach, self.options.tolerance),
            Err(problem) => State::BaselineMalformed(problem),
        }
    }

    /// Whether a tool stands in the list of its server.
    fn shows(&self, server: &ServerName, tool: &str) -> bool {
        let found = lock(&self.found);
        found.get(server).and_then(|found| found.as_ref().ok()).is_some_and(|list| list.tool(tool).is_some())
    }

    fn stored(&self) -> Result<Arc<Stored>, String> {
        let loaded = self.store.read(|connection| lock(&self.cache).load(connection));
        loaded.map(|(_, stored)| stored).map_err(|error| error.to_string())
    }

    /// Fetches a server's list anew. Gives the report that this comes to by itself; none where the list is to be compared.
    async fn probe(&self, server: &ServerConfig, timeout: ProbeTimeout) -> Option<DefinitionReport> {
        let probe = Probe::new(ProbeTarget::OneShot(server, &self.survey.connect), timeout);
        match probe.run(|_, _| None::<()>).await {
            ProbeOutcome::Listed(listing) => {
                let found = surveyor::snapshot(server, Ok(*listing)).map(Arc::new);
                lock(&self.found).insert(server.name.clone(), found);
                None
            }
            // A probe of one kind has one list.
            ProbeOutcome::SplitView { .. } => Some(report(DefinitionTrust::SplitView, "two lists of one server")),
            ProbeOutcome::Failed(_) if self.options.probe_fail_open => None,
            ProbeOutcome::Failed(failure) => {
                let said = server.mask().apply(&failure.to_string());
                Some(report(DefinitionTrust::ProbeFailed, &said))
            }
        }
    }

    /// Keeps a record of a probe.
    fn note(&self, tool: &ToolRef, report: &DefinitionReport) {
        let Some(recorder) = &self.recorder else { return };
        let is_good = report.trust == DefinitionTrust::Matching;
        let kind = if is_good { AuditKind::ProbeOk } else { AuditKind::ProbeError };
        recorder.note(Record {
            reason_kind: Some(report.trust.as_str().into()),
            reason: Some(report.summary.clone()).filter(|summary| !summary.is_empty()),
            ..Record::new(kind).about(tool)
        });
    }

    /// The accepted output schema of a tool, compiled; nothing where its definition promises none.
    fn output_check(&self, tool: &ToolRef) -> Result<Option<Arc<OutputCheck>>, ResultMismatch> {
        let unknown = || ResultMismatch("the accepted definition cannot be read any more".into());
        let Ok(stored) = self.stored() else { return Err(unknown()) };
        let Stored::Accepted(baseline) = &*stored else { return Err(unknown()) };
        let accepted = tool.server.as_ref().and_then(|server| baseline.server(server)?.tool(&tool.name));
        let Some(accepted) = accepted else { return Err(unknown()) };
        if let Some(known) = lock(&self.schemas).get(&accepted.digest()) {
            return Ok(known.clone());
        }
        let schema = accepted.definition().get("outputSchema").filter(|schema| !schema.is_null());
        let compiled = schema.map(OutputCheck::new).transpose();
        let compiled = compiled.map_err(|error| ResultMismatch(error.to_string()))?.map(Arc::new);
        let mut schemas = lock(&self.schemas);
        if schemas.len() >= MOST_SCHEMAS {
            schemas.clear();
        }
        schemas.insert(accepted.digest(), compiled.clone());
        Ok(compiled)
    }
}

#[async_trait]
impl Definitions for Guard {
    async fn compare(&self, tool: &ToolRef) -> DefinitionReport {
        let server = tool.server.as_ref().and_then(|server| self.config.server(server.as_str()));
        let Some(server) = server else {
            return report(DefinitionTrust::SnapshotUnavailable, "no such server is configured");
        };
        let timeout = self.options.probes.get(&server.name).copied();
        if let Some(timeout) = timeout
            && let Some(report) = self.probe(server, timeout).await
        {
            self.note(tool, &report);
            return report;
        }
        // What was fetched for this very call is compared by itself, however old what is known of the others may be.
        let reach = match (timeout, self.options.scope) {
            (None, Scope::Catalogue) => Reach::Catalogue,
            _ => Reach::Server(&server.name),
        };
        let state = self.state(reach);
        let mut report = DefinitionReport { trust: state.trust(), summary: state.summary(Language::English) };
        if report.trust == DefinitionTrust::Matching && !self.shows(&server.name, &tool.name) {
            // The registry may be older than the list; what is in no list that was accepted was not accepted.
            report = self::report(DefinitionTrust::DefinitionDrift, "the server does not show this tool any more");
        }
        if timeout.is_some() {
            self.note(tool, &report);
        }
        report
    }

    fn check(&self, tool: &ToolRef, result: &Value) -> Result<(), ResultMismatch> {
        match self.output_check(tool)? {
            Some(check) => check.check(result).map_err(|fault| ResultMismatch(fault.to_string())),
            None => Ok(()),
        }
    }
}

fn report(trust: DefinitionTrust, summary: &str) -> DefinitionReport {
    DefinitionReport { trust, summary: summary.into() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
