//! Where runs are kept: SQLite, one row a run and one packed block of samples.
