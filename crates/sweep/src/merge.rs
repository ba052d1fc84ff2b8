//! One table from those of several machines.

use crate::share::Share;
use crate::table::Table;

/// Why tables are not the shares of one experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("no part was given")]
    Nothing,
    /// A part is of another experiment than the first.
    #[error("{part} is of another experiment than {first} (`{of}`, and not `{expected}`)")]
    Other {
        /// Which one.
        part: String,
        /// The first one.
        first: String,
        /// Name of the experiment of this part.
        of: String,
        /// That of the first.
        expected: String,
    },
    /// Experiments of the same name that differ in what is set, repeated or seeded.
    #[error("{part} is of another state of the experiment `{of}` than {first}: settings, repetitions or seed differ")]
    Changed {
        /// Which one.
        part: String,
        /// The first one.
        first: String,
        /// Name that both have.
        of: String,
    },
    /// A part was simulated by another version of this program.
    #[error(
        "{part} was simulated by {by}, and {first} by {expected}: what differs between their rows may be the program"
    )]
    Program {
        /// Which one.
        part: String,
        /// The first one.
        first: String,
        /// Program and version that simulated this part.
        by: String,
        /// That of the first.
        expected: String,
    },
    /// The parts cut the experiment differently.
    #[error("{part} is share {share}, and {first} is one of {of}")]
    Cut {
        /// Which one.
        part: String,
        /// The first one.
        first: String,
        /// Number of this part, and of how many it says that it is one.
        share: Share,
        /// How many shares the first knows of.
        of: u32,
    },
    /// Two parts are the same share.
    #[error("{part} and {other} are both share {share}")]
    Twice {
        /// One.
        part: String,
        /// The part before it.
        other: String,
        /// Which share.
        share: Share,
    },
    /// A part lacks transfers.
    #[error("{part} has {has} of the {of} transfers of its share")]
    Incomplete {
        /// Which one.
        part: String,
        /// How many it has.
        has: usize,
        /// How many it should have.
        of: usize,
    },
    /// Shares are missing.
    #[error("of {of} shares, these are missing: {}", list(missing))]
    Missing {
        /// Which ones, from one.
        missing: Vec<u32>,
        /// How many there are.
        of: u32,
    },
}

fn list(numbers: &[u32]) -> String {
    const MOST: usize = 20;
    let shown = numbers.iter().take(MOST).map(u32::to_string).collect::<Vec<_>>().join(", ");
    if numbers.len() > MOST { format!("{shown} and {} more", numbers.len() - MOST) } else { shown }
}

/// Puts parts together, each with the name that it is called by in complaints.
///
/// # Errors
/// Parts that are missing, there twice, incomplete, or of another experiment or program.
pub fn merge(parts: Vec<(String, Table)>) -> Result<Table, MergeError> {
    let Some((first, table)) = parts.first() else { return Err(MergeError::Nothing) };
    let of = table.share.of();
    for (place, (part, other)) in parts.iter().enumerate() {
        alike(part, other, first, table)?;
        if let Some((twin, _)) = parts[..place].iter().find(|(_, earlier)| earlier.share == other.share) {
            return Err(MergeError::Twice { part: part.clone(), other: twin.clone(), share: other.share });
        }
        if !other.is_whole() {
            let expected = (0..other.sweep.experiment.len()).filter(|index| other.share.has(*index)).count();
            return Err(MergeError::Incomplete { part: part.clone(), has: other.rows.len(), of: expected });
        }
    }
    let missing: Vec<u32> =
        (1..=of).filter(|number| !parts.iter().any(|(_, part)| part.share.number() == *number)).collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing { missing, of });
    }
    let (sweep, program) = (table.sweep.clone(), table.program.clone());
    let mut rows: Vec<_> = parts.into_iter().flat_map(|(_, part)| part.rows).collect();
    rows.sort_unstable_by_key(|row| row.index);
    Ok(Table { sweep, share: Share::WHOLE, program, rows })
}

/// Whether a part belongs to the first.
fn alike(part: &str, other: &Table, first: &str, table: &Table) -> Result<(), MergeError> {
    let (part, first) = (part.to_owned(), first.to_owned());
    let (of, expected) = (other.sweep.experiment.name.clone(), table.sweep.experiment.name.clone());
    if of != expected {
        return Err(MergeError::Other { part, first, of, expected });
    }
    if other.sweep.experiment.digest() != table.sweep.experiment.digest() {
        return Err(MergeError::Changed { part, first, of });
    }
    if other.program != table.program {
        return Err(MergeError::Program { part, first, by: other.program.clone(), expected: table.program.clone() });
    }
    if other.share.of() != table.share.of() {
        return Err(MergeError::Cut { part, first, share: other.share, of: table.share.of() });
    }
    Ok(())
}
