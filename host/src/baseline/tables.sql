-- What was accepted, revision by revision; the last one is in force. A revision that withdraws has no text. Nothing is ever
-- changed or taken away: a revision that is missing at the end shows by the counter that SQLite keeps.
CREATE TABLE baseline (
    revision    INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL CHECK (kind IN ('accepted', 'withdrawn')),
    time        INTEGER NOT NULL,
    who         TEXT NOT NULL,
    fingerprint BLOB CHECK (length(fingerprint) = 32),
    body        TEXT,
    CHECK ((kind = 'accepted') = (body IS NOT NULL)),
    CHECK ((kind = 'accepted') = (fingerprint IS NOT NULL))
) STRICT;
CREATE TRIGGER baseline_stays BEFORE DELETE ON baseline
BEGIN SELECT RAISE(ABORT, 'accepted baselines are kept'); END;
CREATE TRIGGER baseline_is_final BEFORE UPDATE ON baseline
BEGIN SELECT RAISE(ABORT, 'accepted baselines are not changed'); END;

-- What was brought from elsewhere, to be looked at. It is never what a call is compared with.
CREATE TABLE baseline_import (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    time INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
