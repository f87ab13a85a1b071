//! The host's safety vectors: what must hold for every module, whatever it was written for.
//!
//! A module may be stricter than the host's reading of a cwd, never looser. Its answers are nobody's business beyond that, as
//! long as there are answers, and the same ones again in another order on another instance. The floors hold without the
//! module's help; that they do is looked at with this very module in the place where it will be.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use super::candidate::is_over;
use super::refusal::{Check, Refusal};
use crate::call::{Attendance, Call};
use crate::invoke::{Decision, Floors, Judge, Verdict, given_cwd};
use crate::module::{Component, ConfigureError, CwdAnswer, CwdClass, Fault, Policy, PolicyModule};
use crate::registry::{Catalogue, Generation, Registry, Servers};
use crate::settings::Settings;
use crate::vectors::Vector;

/// Where a cwd lies: the tests' own rows.
const CWD: &str = include_str!("../../../tests/vectors/cwd.jsonl");
/// Calls that no module can let through, with all floors on.
const FLOORS: &str = include_str!("../../../tests/vectors/floors.jsonl");
/// A server whose tools nobody accepted.
const SERVER: &str =
    r#"{"server":"demo","tools":[{"name":"echo","description":"says it again","inputSchema":{"type":"object"}}]}"#;

/// The vectors, read.
#[derive(Debug)]
pub struct Safety {
    cwds: Vec<(Vector, CwdClass)>,
    floors: Vec<Vector>,
}

impl Safety {
    /// The vectors for every module.
    #[must_use]
    pub fn every_module() -> &'static Self {
        static SAFETY: LazyLock<Safety> = LazyLock::new(Safety::read);
        &SAFETY
    }

    fn read() -> Self {
        // A test looks at it that none of the rows is lost here.
        let rows = |text: &str| Vector::parse_all(text.as_bytes()).unwrap_or_default();
        let cwds = rows(CWD).into_iter().filter_map(|vector| Some((class(&vector)?, vector)));
        Self { cwds: cwds.map(|(class, vector)| (vector, class)).collect(), floors: rows(FLOORS) }
    }

    /// The calls of all vectors.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.cwds.iter().map(|(vector, _)| vector).chain(&self.floors).map(Vector::call)
    }

    /// How many vectors there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.cwds.len() + self.floors.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs all on a module.
    pub(super) fn check(
        &self,
        module: &Arc<PolicyModule>,
        component: &Arc<Component>,
        settings: &Settings,
        end: Option<Instant>,
    ) -> Result<(), Refusal> {
        // Another instance, to which nothing of the first pass can have stuck.
        let again = PolicyModule::new(Arc::clone(component), &settings.policy_json());
        let again = Arc::new(again.map_err(|error| match error {
            ConfigureError::Rejected(_) => {
                refuse("safety-impure", "it took the settings once and rejects them now".into())
            }
            ConfigureError::Fault(fault) => fault_at("its settings", &fault),
        })?);
        let (first, second) = (locked(module)?, locked(&again)?);
        let mut answers = Vec::with_capacity(self.len());
        for (vector, class) in &self.cwds {
            in_time(end)?;
            let answer = classify(&**module, vector)?;
            if answer.judgement.class > *class {
                let (found, most) = (answer.judgement.class, class);
                let message = format!("cwd vector `{}` is {most:?} at best, and the module says {found:?}", vector.id);
                return Err(refuse("safety-looser", message));
            }
            answers.push((answer, held(&first, vector, *class == CwdClass::Outside)?));
        }
        for ((vector, class), before) in self.cwds.iter().zip(&answers).rev() {
            in_time(end)?;
            let now = (classify(&*again, vector)?, held(&second, vector, *class == CwdClass::Outside)?);
            if now != *before {
                let message = format!("cwd vector `{}` has another answer the second time", vector.id);
                return Err(refuse("safety-impure", message));
            }
        }
        for vector in &self.floors {
            in_time(end)?;
            held(&first, vector, true)?;
        }
        Ok(())
    }
}

/// The class that a row expects.
fn class(vector: &Vector) -> Option<CwdClass> {
    Some(match vector.expected("class")?.as_str()? {
        "invalid" => CwdClass::Invalid,
        "outside" => CwdClass::Outside,
        "skill" => CwdClass::Skill,
        "inside" => CwdClass::Inside,
        _ => return None,
    })
}

/// The module with all floors on.
fn locked(module: &Arc<PolicyModule>) -> Result<Judge, Refusal> {
    let servers = Servers::from_json(SERVER.as_bytes(), None).and_then(Catalogue::with_servers);
    let catalogue = servers.map_err(|error| refuse("safety-failed", error.to_string()))?;
    let registry = Registry::build(&**module, catalogue, 0, Generation(0))
        .map_err(|error| refuse("safety-failed", format!("it gives no registry: {error}")))?;
    let floors = Floors { cwd_locked: true, mcp_enforced: true };
    Ok(Judge::new(Arc::clone(module) as Arc<dyn Policy>, Arc::new(registry), floors))
}

fn classify(module: &dyn Policy, vector: &Vector) -> Result<CwdAnswer, Refusal> {
    let call = vector.call();
    let answer = module.classify_cwd(call.arguments.get("cwd"), &call.workspace, &given_cwd(call), false);
    answer.map_err(|fault| fault_at(&vector.id, &fault))
}

/// The verdict on a row: an answer and no fault, a denial where it must be one, and no question where nobody is. What lies
/// outside must be one, with all floors on; what is no path at all leads nowhere.
fn held(judge: &Judge, vector: &Vector, denied: bool) -> Result<Verdict, Refusal> {
    let (judged, fault) = judge.judge_again(vector.call(), None);
    if let Some(fault) = fault {
        return Err(fault_at(&vector.id, &fault));
    }
    let mut night = vector.call().clone();
    night.attendance = Attendance::Scheduled;
    let (alone, fault) = judge.judge_again(&night, None);
    if let Some(fault) = fault {
        return Err(fault_at(&vector.id, &fault));
    }
    let loose = denied && judged.verdict.decision != Decision::Deny;
    if loose || alone.verdict.decision == Decision::Ask {
        return Err(refuse("safety-failed", format!("vector `{}` is not denied", vector.id)));
    }
    Ok(judged.verdict)
}

fn in_time(end: Option<Instant>) -> Result<(), Refusal> {
    if is_over(end) {
        return Err(refuse("vectors-out-of-time", "the host's safety vectors took longer than they may".into()));
    }
    Ok(())
}

fn fault_at(place: &str, fault: &Fault) -> Refusal {
    refuse(fault.code(), format!("at `{place}`, {fault}"))
}

fn refuse(code: &'static str, message: String) -> Refusal {
    Refusal::new(Check::Safety, code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_lost() {
        let safety = Safety::every_module();
        assert_eq!(safety.cwds.len(), CWD.lines().count());
        assert_eq!(safety.floors.len(), FLOORS.lines().count());
        assert_eq!(safety.len(), safety.cwds.len() + safety.floors.len());
        assert!(!safety.is_empty());
    }
}
