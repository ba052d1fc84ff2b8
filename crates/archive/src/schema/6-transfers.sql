-- One row a transfer of a real application that was watched, with its samples. The columns before `transfer` repeat what
-- lists show. Only so many are kept (transfers.rs): the oldest go first.
CREATE TABLE transfers (
    id              TEXT PRIMARY KEY,       -- ULID: sorts by the time of its end
    started_unix_ns INTEGER NOT NULL,
    host            TEXT,
    peer            TEXT NOT NULL,          -- address without port
    moved_bytes     INTEGER NOT NULL,
    transfer        TEXT NOT NULL,          -- JSON after transfer.schema.json
    packed          BLOB NOT NULL,          -- samples, samples-packed.md
    digest          BLOB
) STRICT;
