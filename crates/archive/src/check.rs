//! Whether everything in the archive is what was stored.

use crate::digest::{Depth, TABLES, Verdict};
use crate::fault::Fault;
use crate::store::Archive;

/// What a check of a whole archive found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// Rows that are what was stored.
    pub sound: u64,
    /// Rows that an older version stored, without a checksum.
    pub unsealed: u64,
    /// What is not what was stored, a line each.
    pub damaged: Vec<Damage>,
}

/// Something that is not what was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Table of the database that the row is in.
    pub table: &'static str,
    /// What a person calls the row: the id of a run or round, the number of a change, where it can still be read.
    pub name: String,
}

/// The archive cannot be checked to its end.
#[derive(Debug, thiserror::Error)]
#[error("cannot check the archive {}", path.display())]
pub struct CheckError {
    path: std::path::PathBuf,
    source: Fault,
}

impl Archive {
    /// Reads everything and holds it against its checksum, and SQLite's own structure against its rules.
    ///
    /// # Errors
    /// If the database cannot be read; damage that leaves it readable is part of what is returned.
    pub fn check(&self) -> Result<Checked, CheckError> {
        self.all().map_err(|error| CheckError { path: self.path.clone(), source: error.into() })
    }

    fn all(&self) -> rusqlite::Result<Checked> {
        let mut checked = Checked::default();
        for table in TABLES {
            let rows: Vec<i64> = {
                let mut query = self.connection.prepare(&format!("SELECT rowid FROM {}", table.name))?;
                query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
            };
            for row in rows {
                match table.verify(&self.connection, row, Depth::Content)? {
                    Verdict::Sound => checked.sound += 1,
                    Verdict::Unsealed => checked.unsealed += 1,
                    Verdict::Damaged => {
                        checked.damaged.push(Damage { table: table.name, name: self.name_of_row(table.name, row) });
                    }
                }
            }
        }
        let mut query = self.connection.prepare("PRAGMA integrity_check(20)")?;
        let lines: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let wrong = lines.into_iter().filter(|line| line != "ok");
        checked.damaged.extend(wrong.map(|name| Damage { table: "the file itself", name }));
        Ok(checked)
    }

    fn name_of_row(&self, table: &str, row: i64) -> String {
        let query = match table {
            "runs" => "SELECT id FROM runs WHERE rowid = ?1",
            "samples" => "SELECT id FROM runs WHERE key = ?1",
            "rounds" => "SELECT id FROM rounds WHERE rowid = ?1",
            _ => return row.to_string(),
        };
        self.connection.query_row(query, [row], |row| row.get(0)).unwrap_or_else(|_| row.to_string())
    }
}
