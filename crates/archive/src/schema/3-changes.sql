-- One row an entry of the change log, in the order in which they were entered: a clock may step, a number does not. The
-- columns before `entry` repeat what lists filter by.
CREATE TABLE changes (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    time_unix_ns INTEGER NOT NULL,
    host         TEXT NOT NULL,
    namespace    TEXT,                      -- NULL: the host's own, or of the whole host
    subject      TEXT,                      -- NULL: the host or namespace itself
    fact         TEXT NOT NULL,
    source       TEXT NOT NULL,             -- watch, comparison, fix, boot, person
    entry        TEXT NOT NULL              -- JSON after change.schema.json, without number and notes
) STRICT;

CREATE INDEX changes_by_host ON changes (host, time_unix_ns);

-- What people say about changes. A note is never overwritten.
CREATE TABLE change_notes (
    key          INTEGER PRIMARY KEY,
    change       INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
    time_unix_ns INTEGER NOT NULL,
    user         TEXT,
    text         TEXT NOT NULL,
    ticket       TEXT
) STRICT;

CREATE INDEX change_notes_by_change ON change_notes (change);

-- What `linerate host watch` knew last of each host, written together with the entries that led there.
CREATE TABLE watched_hosts (
    host            TEXT PRIMARY KEY,
    checked_unix_ns INTEGER NOT NULL,       -- when everything was last compared
    boot            TEXT                    -- during which boot
) STRICT;

CREATE TABLE watched_settings (
    host      TEXT NOT NULL REFERENCES watched_hosts (host) ON DELETE CASCADE,
    namespace TEXT NOT NULL,                -- empty: the host's own
    subject   TEXT NOT NULL,                -- empty: the host or namespace itself
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (host, namespace, subject, name)
) STRICT, WITHOUT ROWID;
