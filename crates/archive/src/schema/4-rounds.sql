-- One row a round: a whole plan, run once. The columns before `round` repeat what lists show. Its runs are rows of `runs`,
-- with their samples.
CREATE TABLE rounds (
    id              TEXT PRIMARY KEY,       -- ULID: sorts by time
    started_unix_ns INTEGER NOT NULL,
    elapsed_us      INTEGER NOT NULL,
    title           TEXT NOT NULL,
    hosts           INTEGER NOT NULL,
    hosts_failed    INTEGER NOT NULL,       -- took no part, or ceased to
    tests           INTEGER NOT NULL,
    tests_failed    INTEGER NOT NULL,       -- gave no result
    round           BLOB NOT NULL           -- JSON after round.schema.json without samples, zstd
) STRICT;
