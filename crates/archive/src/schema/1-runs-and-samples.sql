-- One row a run. The columns before `run` repeat what lists show and filter by; `run` holds all of it.
CREATE TABLE runs (
    key             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,   -- ULID: sorts by time
    started_unix_ns INTEGER NOT NULL,
    role            TEXT NOT NULL,          -- client, server
    target          TEXT NOT NULL,
    protocol        TEXT NOT NULL,          -- tcp, udp
    direction       TEXT NOT NULL,          -- forward, reverse, bidirectional
    failure         TEXT,                   -- kind of failure; NULL if the run is complete
    failure_detail  TEXT,
    goodput_bps     INTEGER,                -- all directions together
    retransmits     INTEGER,                -- all directions together
    run             BLOB NOT NULL           -- JSON after run.schema.json, zstd
) STRICT;

CREATE INDEX runs_by_target ON runs (target, id);

-- Apart from `runs`, so that lists do not read past them. A table with rowid: rows without one are slow to hold
-- blobs of this size.
CREATE TABLE samples (
    run_key INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
    packed  BLOB NOT NULL                   -- samples-packed.md
) STRICT;
