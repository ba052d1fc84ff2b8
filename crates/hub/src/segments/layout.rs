//! Day and pair of a run, and what its segment is called: `day=2026-11-26/pair=3/1f0c2a7b-12345-5feceb66.parquet`.
//!
//! `day` and `pair` are columns to whoever reads the folders as Hive does. The day is that of the begin of the run, in UTC.

use jiff::civil::date;
use jiff::{Span, ToSpan as _};
use units::WallTime;

use crate::trust::digest::Fingerprint;

/// The folder of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentFolder {
    /// Days since 1970-01-01, in UTC.
    pub day: u32,
    /// Group of pairs.
    pub pair: u16,
}

/// The runs of a segment that is being named.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentName<'a> {
    /// Folder of the segment.
    pub(crate) folder: SegmentFolder,
    /// By which hubs of another database in the same directory are told apart.
    pub(crate) owner: &'a str,
    /// The first of its records, which no other segment of the database has.
    pub(crate) first: u64,
    /// Its runs: after a database was restored from a backup, a number comes again with others.
    pub(crate) runs: &'a [String],
}

impl SegmentFolder {
    /// The folder of a run between these hosts that began then, with so many groups of pairs. Both directions of a pair are in one group.
    #[must_use]
    pub fn of(mut ends: [&str; 2], began: WallTime, groups: u16) -> Self {
        ends.sort_unstable();
        let digest = Fingerprint::of(format!("{}\n{}", ends[0], ends[1]).as_bytes()).to_string();
        let number = digest.get(..16).and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or_default();
        let pair = u16::try_from(number % u64::from(groups.max(1))).unwrap_or_default();
        Self { day: u32::try_from(began.unix_seconds() / 86_400).unwrap_or(u32::MAX), pair }
    }
}

impl std::fmt::Display for SegmentName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SegmentFolder { day, pair } = self.folder;
        let span: Option<Span> = 0.days().try_days(i64::from(day)).ok();
        let day = span.and_then(|span| date(1970, 1, 1).checked_add(span).ok()).unwrap_or(date(9999, 12, 31));
        let runs = Fingerprint::of(self.runs.join("\n").as_bytes()).to_string();
        let runs = runs.get(..8).unwrap_or_default();
        write!(f, "day={day}/pair={pair}/{}-{}-{runs}.parquet", self.owner, self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_of_a_pair_have_one_folder_and_the_name_has_day_and_first_record() {
        let began = WallTime::from_unix_nanos(1_798_156_799_999_999_999);
        let folder = SegmentFolder::of(["a", "b"], began, 8);
        assert_eq!(folder, SegmentFolder::of(["b", "a"], began, 8));
        let name = SegmentName {
            folder: SegmentFolder { pair: 3, ..folder },
            owner: "1f0c",
            first: 12,
            runs: &["r".to_owned()],
        };
        let shown = name.to_string();
        assert!(shown.starts_with("day=2026-12-24/pair=3/1f0c-12-") && shown.ends_with(".parquet"), "{shown}");
        assert_ne!(SegmentName { runs: &["s".to_owned()], ..name }.to_string(), shown);
        let later = WallTime::from_unix_nanos(began.unix_nanos() + 1);
        assert_eq!(SegmentFolder::of(["a", "b"], later, 8).day, folder.day + 1);
    }

    #[test]
    fn pairs_are_spread_over_all_groups() {
        let mut counts = [0_u32; 8];
        for from in 0..20 {
            for to in 0..from {
                let folder = SegmentFolder::of([&format!("h{from}"), &format!("h{to}")], WallTime::default(), 8);
                counts[usize::from(folder.pair)] += 1;
            }
        }
        assert!(counts.iter().all(|count| (10..40).contains(count)), "{counts:?}");
    }

    #[test]
    fn clock_far_off_has_a_name_all_the_same() {
        let folder = SegmentFolder { day: u32::MAX, pair: 0 };
        let name = SegmentName { folder, owner: "o", first: 1, runs: &[] }.to_string();
        assert!(name.starts_with("day=9999-12-31/pair=0/o-1-"), "{name}");
    }
}
