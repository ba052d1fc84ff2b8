//! Values of facts: numbers, texts and lists, and why there is none.

use std::collections::{BTreeMap, BTreeSet};

use model::host::fact::{Fact as Read, Missing as Why};

use crate::fact::{Fact, FactMap, Missing, Reason};

/// What is made of a fact of the snapshot, or the reason why it is not known.
pub(super) fn known<T>(read: &Read<T>, make: impl FnOnce(&T) -> Fact) -> Fact {
    match &read.reading {
        Ok(value) => make(value),
        Err(why) => Fact::Missing(missing(why)),
    }
}

pub(super) fn missing(why: &Why) -> Missing {
    match why {
        Why::Unsupported => Missing::new(Reason::Unsupported, ""),
        Why::Denied => Missing::new(Reason::Denied, ""),
        Why::Absent => Missing::new(Reason::Absent, ""),
        Why::Failed { reason } => Missing::new(Reason::Absent, reason.as_str()),
    }
}

pub(super) fn absent(detail: &str) -> Fact {
    Fact::Missing(Missing::new(Reason::Absent, detail))
}

pub(super) fn unsupported(detail: &str) -> Fact {
    Fact::Missing(Missing::new(Reason::Unsupported, detail))
}

pub(super) fn int(number: impl TryInto<i64>) -> Fact {
    Fact::Int(number.try_into().unwrap_or(i64::MAX))
}

/// A number that the driver may lack.
pub(super) fn offered(number: Option<impl TryInto<i64>>) -> Fact {
    number.map_or_else(|| unsupported("the driver does not say"), int)
}

pub(super) fn text(words: impl Into<String>) -> Fact {
    Fact::Text(words.into())
}

pub(super) fn texts<'a>(words: impl IntoIterator<Item = &'a str>) -> Fact {
    let words: BTreeSet<&str> = words.into_iter().collect();
    Fact::List(words.into_iter().map(text).collect())
}

pub(super) fn map<const N: usize>(facts: [(&str, Fact); N]) -> Fact {
    Fact::Map(named(facts))
}

pub(super) fn named<const N: usize>(facts: [(&str, Fact); N]) -> FactMap {
    facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
}

/// A counter by its name.
pub(super) fn counter(counters: &Read<BTreeMap<String, u64>>, name: &str) -> Fact {
    known(counters, |counters| counters.get(name).map_or_else(|| absent(""), |&count| int(count)))
}

/// A setting as rules see it: several numbers are a list.
pub(super) fn setting(value: &str) -> Fact {
    let numbers: Option<Vec<Fact>> = value.split_whitespace().map(|word| word.parse().ok().map(Fact::Int)).collect();
    match numbers {
        Some(mut numbers) if numbers.len() == 1 => numbers.remove(0),
        Some(numbers) if !numbers.is_empty() => Fact::List(numbers),
        _ => text(value),
    }
}

/// CPUs of a list like `0-3,8`; nothing where it is no such list.
pub(super) fn cpu_list(list: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // More CPUs than any kernel is built for are no list of CPUs.
        if last.checked_sub(first)? > 1 << 16 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_several_numbers_are_lists() {
        assert_eq!(setting("4096 131072 6291456").to_string(), "[4096 131072 6291456]");
        assert_eq!(setting("1"), Fact::Int(1));
        assert_eq!(setting("bbr"), Fact::Text("bbr".to_owned()));
        assert_eq!(setting(""), Fact::Text(String::new()));
    }

    #[test]
    fn lists_of_cpus_are_read_and_nonsense_is_not() {
        assert_eq!(cpu_list("0-2,8"), Some(vec![0, 1, 2, 8]));
        assert_eq!(cpu_list("3-1"), None);
        assert_eq!(cpu_list("0-4294967295"), None);
    }
}
