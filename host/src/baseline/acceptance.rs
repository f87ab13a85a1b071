//! Compare and swap: what a person looked at comes into force, if it is still what there is.

use rusqlite::Transaction;

use super::error::AcceptError;
use super::exclusion::Exclusions;
use super::fingerprint::Fingerprint;
use super::record::{Baseline, Stored};
use super::survey::Survey;
use super::table::{Revision, revision};
use super::unstable::unstable;
use crate::store::StoreFault;

/// Bytes of a kept baseline at most. Source: the strict parser's page.
const LARGEST: usize = 32 << 20;

/// What a person accepts, and what there is.
#[derive(Clone, Copy, Debug)]
pub struct Acceptance<'a> {
    /// The fingerprint of what the person looked at.
    pub seen: Fingerprint,
    /// The revision that it was compared with; none where there was none.
    pub base: Option<Revision>,
    /// What there is now.
    pub survey: &'a Survey,
    /// What there is in a second listing, taken after the first; of a program, from another process.
    pub again: &'a Survey,
    /// What the person took out.
    pub exclusions: &'a Exclusions,
    /// Who accepts.
    pub who: &'a str,
    /// When, in milliseconds since 1970, UTC.
    pub time_ms: i64,
}

/// Puts a baseline in force. The transaction must be an immediate one, and nothing is in force before it is committed.
///
/// # Errors
///
/// [`AcceptError`]; what was in force stays.
pub fn accept(transaction: &Transaction, acceptance: &Acceptance) -> Result<Revision, StoreFault<AcceptError>> {
    let Acceptance { seen, base, survey, again, exclusions, who, time_ms } = *acceptance;
    let own = StoreFault::Own;
    let lists = survey
        .lists()
        .map_err(|(server, error)| own(AcceptError::Unusable { server: server.to_string(), error: error.clone() }))?;
    exclusions
        .check_in(|server| lists.iter().find(|(name, _)| name.as_str() == server).map(|(_, list)| *list))
        .map_err(|error| own(error.into()))?;
    let whole = |error| own(AcceptError::Unusable { server: "*".into(), error });
    let baseline = Baseline::of(survey, exclusions).map_err(whole)?;
    let now = baseline.fingerprint();
    if now != seen {
        return Err(own(AcceptError::Changed { seen, now }));
    }
    let unstable = unstable(survey, again, exclusions);
    if !unstable.is_empty() {
        return Err(own(AcceptError::Unstable(unstable)));
    }
    let text = baseline.to_text().map_err(whole)?;
    // What would not be read back as what it is must not be written.
    let is_readable = matches!(Stored::read(text.as_bytes()), Stored::Accepted(read) if *read == baseline);
    if text.len() > LARGEST || !is_readable {
        return Err(own(AcceptError::TooLarge(text.len())));
    }
    if revision(transaction)? != base {
        return Err(own(AcceptError::Overtaken));
    }
    transaction
        .prepare_cached(
            "INSERT INTO baseline (kind, time, who, fingerprint, body) VALUES ('accepted', ?1, ?2, ?3, ?4)",
        )?
        .execute((time_ms, who, now.0, text))?;
    Ok(Revision(transaction.last_insert_rowid()))
}

/// Takes the baseline out of force: every covered call is denied from then on. It stays in the history.
///
/// # Errors
///
/// [`AcceptError::Overtaken`].
pub fn withdraw(
    transaction: &Transaction,
    base: Option<Revision>,
    who: &str,
    time_ms: i64,
) -> Result<Revision, StoreFault<AcceptError>> {
    if revision(transaction)? != base {
        return Err(StoreFault::Own(AcceptError::Overtaken));
    }
    transaction.execute("INSERT INTO baseline (kind, time, who) VALUES ('withdrawn', ?1, ?2)", (time_ms, who))?;
    Ok(Revision(transaction.last_insert_rowid()))
}
