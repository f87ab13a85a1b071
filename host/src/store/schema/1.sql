-- The audit trail: a chain of records. `body` is the record as JSON, the very bytes that `hash` covers together with the hash
-- before. What is searched for is taken out of it, so that nothing stands twice.
CREATE TABLE audit (
    seq  INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    time INTEGER NOT NULL GENERATED ALWAYS AS (json_extract(body, '$.timeMs')) VIRTUAL,
    kind TEXT NOT NULL GENERATED ALWAYS AS (json_extract(body, '$.kind')) VIRTUAL
) STRICT;
CREATE INDEX audit_kind ON audit (kind, seq);

-- One row: the last record of the chain, and the one before the first that is kept.
CREATE TABLE audit_chain (
    one          INTEGER PRIMARY KEY CHECK (one = 1),
    anchor_seq   INTEGER NOT NULL,
    anchor_hash  BLOB NOT NULL CHECK (length(anchor_hash) = 32),
    head_seq     INTEGER NOT NULL,
    head_hash    BLOB NOT NULL CHECK (length(head_hash) = 32)
) STRICT;
INSERT INTO audit_chain VALUES (1, 0, zeroblob(32), 0, zeroblob(32));

-- Questions, first in first out. `body` is what the person is shown. A grant is a row that was allowed; it is used up once.
CREATE TABLE question (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    ticket  TEXT NOT NULL UNIQUE,
    binding BLOB NOT NULL CHECK (length(binding) = 32),
    server  TEXT NOT NULL,
    tool    TEXT NOT NULL,
    body    TEXT NOT NULL,
    asked   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    alive   INTEGER NOT NULL,
    outcome TEXT CHECK (outcome IN ('allowed-once', 'rejected', 'cancelled', 'timed-out', 'unavailable')),
    settled INTEGER,
    used    INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1))
) STRICT;
CREATE INDEX question_waiting ON question (id) WHERE outcome IS NULL;
CREATE INDEX question_tool ON question (server, tool, id) WHERE outcome = 'allowed-once';
