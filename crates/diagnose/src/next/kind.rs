//! The kinds of tests that may be asked for. They are data, in `kinds.toml`.

use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

use crate::signs::ALL;
use crate::signs::flow::FlowKind as Carries;

/// A kind of test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kind {
    /// Name in `kinds.toml`.
    pub(super) id: String,
    /// What it does, with gaps for what is chosen for the path.
    pub(super) does: String,
    /// Between which hosts.
    pub(super) reach: Reach,
    /// What it sends.
    pub(super) load: Load,
    /// The kind of flow that it is compared with.
    pub(super) about: Option<Carries>,
    /// How long it sends.
    pub(super) time: Duration,
    /// What it asks for, as a part of what the path should do.
    pub(super) rate: Option<f64>,
    /// What it asks for, as a multiple of what the flow attained.
    pub(super) faster: Option<f64>,
    /// How many streams.
    pub(super) streams: u16,
    /// Bytes of a segment or datagram.
    pub(super) size: Option<u32>,
    /// Which congestion control.
    pub(super) control: Control,
    /// Signs of the flow that suffers which it shows, by their places.
    pub(super) shows: Vec<usize>,
    /// What its own faring shows.
    pub(super) fares: Option<Fares>,
}

/// Between which hosts a test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reach {
    /// From any host of the way to any later one.
    Parts,
    /// The ends of the flow that suffers.
    Ends,
    /// The same, the other way.
    Back,
}

/// What a test sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Load {
    /// One or more TCP connections.
    Tcp,
    /// Datagrams.
    Udp,
    /// Echoes, small and large.
    Echo,
    /// A search for the largest packet.
    Mtu,
}

impl Load {
    /// Whether a flow is of the same kind.
    pub(super) fn is_like(self, kind: Carries) -> bool {
        match self {
            Self::Tcp => matches!(kind, Carries::Tcp | Carries::Http),
            Self::Udp => kind == Carries::Udp,
            Self::Echo | Self::Mtu => kind == Carries::Echo,
        }
    }
}

/// Whose congestion control a stream has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Control {
    /// That of the flow that suffers.
    #[default]
    Same,
    /// Another one.
    Another,
}

/// How one sees whether a test fares well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fares {
    /// By its rate.
    Rate,
    /// By the answer to this sign.
    Sign(usize),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    kind: Vec<KindText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindText {
    id: String,
    does: String,
    reach: Reach,
    carries: Load,
    about: Option<Carries>,
    #[serde(deserialize_with = "units::duration::text::read")]
    time: Duration,
    rate: Option<f64>,
    faster: Option<f64>,
    #[serde(default = "one")]
    streams: u16,
    size: Option<u32>,
    #[serde(default)]
    control: Control,
    #[serde(default)]
    shows: Vec<String>,
    fares: Option<String>,
}

const fn one() -> u16 {
    1
}

/// All kinds.
pub(super) fn all() -> &'static [Kind] {
    static ALL_KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
        // The file is compiled in, and a test reads it.
        read(include_str!("kinds.toml")).unwrap_or_default()
    });
    &ALL_KINDS
}

fn read(text: &str) -> Result<Vec<Kind>, String> {
    let file: FileText = toml::from_str(text).map_err(|error| error.to_string())?;
    file.kind.into_iter().map(settled).collect()
}

fn settled(text: KindText) -> Result<Kind, String> {
    let sign = |name: &String| {
        let at = ALL.iter().position(|known| known.name == *name);
        at.ok_or_else(|| format!("{}: there is no sign `{name}`", text.id))
    };
    let shows = text.shows.iter().map(sign).collect::<Result<Vec<usize>, String>>()?;
    let fares = match text.fares.as_ref() {
        None => None,
        Some(name) if name == "well" => Some(Fares::Rate),
        Some(name) => Some(Fares::Sign(sign(name)?)),
    };
    Ok(Kind {
        id: text.id,
        does: text.does,
        reach: text.reach,
        load: text.carries,
        about: text.about,
        time: text.time,
        rate: text.rate,
        faster: text.faster,
        streams: text.streams,
        size: text.size,
        control: text.control,
        shows,
        fares,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_every_kind_shows_something() {
        let kinds = read(include_str!("kinds.toml")).unwrap();
        assert_eq!(all(), kinds);
        for kind in &kinds {
            assert!(kind.fares.is_some() || !kind.shows.is_empty(), "{}", kind.id);
            assert!(kind.shows.is_empty() || kind.about.is_some(), "{} shows something of what?", kind.id);
            assert!(kinds.iter().filter(|other| other.id == kind.id).count() == 1, "{}", kind.id);
        }
    }

    #[test]
    fn a_sign_that_does_not_exist_is_named() {
        let text = include_str!("kinds.toml").replacen("\"datagram-loss\"", "\"datagram-los\"", 1);
        let complaint = read(&text).unwrap_err();
        assert!(complaint.contains("slow-datagrams") && complaint.contains("datagram-los"), "{complaint}");
    }
}
