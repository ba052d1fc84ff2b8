-- One row a snapshot of a host. The columns before `snapshot` repeat what lists show and what a snapshot is found by.
CREATE TABLE snapshots (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given out twice
    host            TEXT NOT NULL,
    taken_unix_ns   INTEGER NOT NULL,
    boot_id         TEXT,
    kernel          TEXT,
    role_group      TEXT,
    blessed_unix_ns INTEGER,        -- since when it is what the host should be; NULL if it is not
    label           TEXT,           -- what whoever kept or blessed it calls it
    snapshot        BLOB NOT NULL,  -- JSON after snapshot.schema.json, zstd
    UNIQUE (host, taken_unix_ns)    -- one host has one state at one moment
) STRICT;
