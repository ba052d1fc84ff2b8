-- A checksum of each row that a person relies on, over all of its other columns (archive.md). NULL: stored by an older
-- version, which had none.
ALTER TABLE runs ADD COLUMN digest BLOB;
ALTER TABLE samples ADD COLUMN digest BLOB;
ALTER TABLE rounds ADD COLUMN digest BLOB;
ALTER TABLE snapshots ADD COLUMN digest BLOB;
ALTER TABLE changes ADD COLUMN digest BLOB;
ALTER TABLE change_notes ADD COLUMN digest BLOB;
