//! What counters mean by their names, whatever driver has them: `counter_kinds.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

/// Counters that mean the same.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CounterMeaning {
    /// Name in the table.
    pub(crate) id: String,
    names: Vec<String>,
    /// `received`, `sent`; `None` where they are no part of anything.
    pub(crate) of: Option<PartOfWhat>,
    /// One of so many is much.
    #[serde(default = "every")]
    pub(crate) part: u64,
    /// Fewer say nothing.
    pub(crate) least: u64,
    /// What one reading says; kinds without it are said elsewhere.
    pub(crate) says: Option<String>,
}

/// What counted packets are a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PartOfWhat {
    Received,
    Sent,
}

fn every() -> u64 {
    1
}

impl CounterMeaning {
    /// Whether a counter is one of them, by its plain name.
    pub(crate) fn has(&self, plain: &str) -> bool {
        self.names.iter().any(|name| match name.split_once('*') {
            None => name == plain,
            Some((start, end)) => plain.len() >= name.len() && plain.starts_with(start) && plain.ends_with(end),
        })
    }
}

/// All of the table.
pub(crate) fn all() -> &'static [CounterMeaning] {
    &TABLE
}

/// One of them.
pub(crate) fn of(id: &str) -> Option<&'static CounterMeaning> {
    TABLE.iter().find(|kind| kind.id == id)
}

/// Drivers write one name in many ways: `rx_fcs_errors`, `RxFcsErr`. A queue's number says nothing of what is counted.
pub(crate) fn plain(name: &str) -> String {
    let name = without_queue(name).unwrap_or_else(|| name.to_owned());
    name.chars().filter(|letter| letter.is_ascii_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// `rx_queue_drops` of `rx_queue_7_drops`, `rx_discards` of `[3]:_rx_discards`, of a counter that each queue has; `None` of any other.
pub(crate) fn without_queue(name: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if let Some((queue, rest)) = name.split_once(':') {
        let queue = queue.trim_matches(['[', ']']);
        return is_number(queue).then(|| rest.trim_start_matches(['_', ' ']).to_owned());
    }
    for way in ["rx", "tx"] {
        // `rx_queue_7_drops`, `rx7_drops`, `rx_7_drops`, `queue_7_rx_cnt`.
        let Some(rest) = name.strip_prefix(way) else { continue };
        let bare = rest.trim_start_matches(['_', '-']);
        let bare = bare.strip_prefix("queue").map_or(bare, |rest| rest.trim_start_matches(['_', '-']));
        let Some((number, what)) = bare.split_once(['_', '.']) else { continue };
        if is_number(number) {
            return Some(format!("{way}_queue_{what}"));
        }
    }
    None
}

#[derive(Deserialize)]
struct File {
    kind: Vec<CounterMeaning>,
}

static TABLE: LazyLock<Vec<CounterMeaning>> = LazyLock::new(|| {
    toml::from_str(include_str!("counter_kinds.toml")).map(|file: File| file.kind).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_its_names_are_plain_and_of_one_kind_each() {
        assert!(all().len() >= 10);
        for kind in all() {
            for name in &kind.names {
                assert!(
                    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'*' || byte.is_ascii_digit()),
                    "{name}"
                );
                let others = all().iter().filter(|other| other.names.contains(name)).count();
                assert_eq!(others, 1, "{name}");
            }
        }
        assert!(["full-ring", "damage"].iter().all(|id| of(id).is_some()));
    }

    #[test]
    fn queues_are_left_out_of_names() {
        for (name, bare) in [
            ("rx_queue_7_drops", "rxqueuedrops"),
            ("rx0_packets", "rxqueuepackets"),
            ("[3]:_rx_discards", "rxdiscards"),
            ("0:_rcv_pkts", "rcvpkts"),
            ("rx_1024_to_1518_byte_packets", "rxqueueto1518bytepackets"),
            ("RxFcsErr", "rxfcserr"),
            ("port.rx_crc_errors", "portrxcrcerrors"),
        ] {
            assert_eq!(plain(name), bare, "{name}");
        }
        assert!(of("full-ring").is_some_and(|kind| kind.has("rxprio3discards")));
    }
}
