//! The schema, step by step.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// The steps in their order; each is taken once, in one transaction. A step that was released never changes.
const STEPS: [&str; 1] = [concat!(include_str!("schema/1.sql"), include_str!("../baseline/tables.sql"))];

/// What marks a file as a store: `twrd` in ASCII.
const APPLICATION: i64 = 0x7477_7264;

/// The newest schema that is known.
fn newest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Takes the steps that are missing.
pub(super) fn bring_up(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    if check(connection, file)? == newest() {
        return Ok(());
    }
    let of = |error: rusqlite::Error| StoreError::of(file, &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
    // Another process may have been faster.
    let found = check(&transaction, file)?;
    for (version, step) in (1..).zip(STEPS).filter(|(version, _)| *version > found) {
        transaction.execute_batch(step).map_err(of)?;
        transaction.pragma_update(None, "user_version", version).map_err(of)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(of)?;
    transaction.commit().map_err(of)
}

/// The file's schema; none that is newer than this program, and no other program's file.
pub(super) fn check(connection: &Connection, file: &Path) -> Result<i64, StoreError> {
    let pragma = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .map_err(|error| StoreError::of(file, &error))
    };
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| StoreError::of(file, &error))?;
    let is_new = tables == 0 && application == 0 && found == 0;
    if !is_new && (application != APPLICATION || found < 1) {
        let problem = "it is another program's database".into();
        return Err(StoreError::Corrupt { folder: file.into(), problem });
    }
    if found > newest() {
        return Err(StoreError::Newer { folder: file.into(), found, known: newest() });
    }
    Ok(found)
}
