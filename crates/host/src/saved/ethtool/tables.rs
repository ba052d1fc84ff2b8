//! `ethtool -g`, `-l`, `-c`, `-a`: tables of settings.

use model::host::interface::tuning::{Channels, Coalesce, Pause, Rings};

use crate::saved::Read;

/// Which half of a table a line is in. Rings and channels have the most that can be set above what is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Neither,
    Most,
    Current,
}

/// `ethtool -g`.
#[must_use]
pub fn rings(text: &str) -> Read<Rings> {
    halves(text, |rings: &mut Rings, half, name, number| {
        let (most, current) = match name {
            "RX" => (&mut rings.rx_max, &mut rings.rx),
            "RX Mini" => (&mut rings.rx_mini_max, &mut rings.rx_mini),
            "RX Jumbo" => (&mut rings.rx_jumbo_max, &mut rings.rx_jumbo),
            "TX" => (&mut rings.tx_max, &mut rings.tx),
            "RX Buf Len" if half == Half::Current => {
                rings.rx_buffer = number;
                return true;
            }
            "RX Buf Len" | "CQE Size" | "TX Push" | "RX Push" | "TX push buff len" | "TCP data split"
            | "HDS thresh" => return true,
            _ => return false,
        };
        *(if half == Half::Most { most } else { current }) = number;
        true
    })
    .forget_what_is_not_there(|rings| {
        for (most, current) in [
            (&mut rings.rx_max, &mut rings.rx),
            (&mut rings.rx_mini_max, &mut rings.rx_mini),
            (&mut rings.rx_jumbo_max, &mut rings.rx_jumbo),
            (&mut rings.tx_max, &mut rings.tx),
        ] {
            forget(most, current);
        }
    })
}

/// `ethtool -l`.
#[must_use]
pub fn channels(text: &str) -> Read<Channels> {
    halves(text, |channels: &mut Channels, half, name, number| {
        let (most, current) = match name {
            "RX" => (&mut channels.rx_max, &mut channels.rx),
            "TX" => (&mut channels.tx_max, &mut channels.tx),
            "Other" => (&mut channels.other_max, &mut channels.other),
            "Combined" => (&mut channels.combined_max, &mut channels.combined),
            _ => return false,
        };
        *(if half == Half::Most { most } else { current }) = number;
        true
    })
    .forget_what_is_not_there(|channels| {
        for (most, current) in [
            (&mut channels.rx_max, &mut channels.rx),
            (&mut channels.tx_max, &mut channels.tx),
            (&mut channels.other_max, &mut channels.other),
            (&mut channels.combined_max, &mut channels.combined),
        ] {
            forget(most, current);
        }
    })
}

/// Before 5.16 ethtool wrote 0 for what a driver does not have, now it writes `n/a`.
fn forget(most: &mut Option<u32>, current: &mut Option<u32>) {
    if *most == Some(0) {
        (*most, *current) = (None, None);
    }
}

impl<T> Read<T> {
    fn forget_what_is_not_there(mut self, forget: impl FnOnce(&mut T)) -> Self {
        forget(&mut self.value);
        self
    }
}

/// Reads a table of two halves. `put` says whether it knows the name.
fn halves<T: Default>(text: &str, put: impl Fn(&mut T, Half, &str, Option<u32>) -> bool) -> Read<T> {
    let mut read = Read::default();
    let mut half = Half::Neither;
    for (number, line) in (1..).zip(text.lines()) {
        match line.trim() {
            "" => continue,
            "Pre-set maximums:" => half = Half::Most,
            "Current hardware settings:" => half = Half::Current,
            title if title.ends_with(':') && title.contains(" parameters for ") => {}
            entry => match entry.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
                Some(_) if half == Half::Neither => read.note(number, "a setting before `Pre-set maximums:`"),
                Some((name, value)) => match setting(value) {
                    Ok(value) if put(&mut read.value, half, name, value) => {}
                    Ok(_) => read.note(number, format!("`{name}` is not known")),
                    Err(()) => read.note(number, format!("`{value}` is no number")),
                },
                None => read.note(number, "not `name: number`"),
            },
        }
    }
    read
}

/// A number; nothing for `n/a` and for switches, which stand among them.
fn setting(text: &str) -> Result<Option<u32>, ()> {
    match text {
        "n/a" | "on" | "off" | "auto" => Ok(None),
        number => number.parse().map(Some).map_err(|_| ()),
    }
}

/// `ethtool -c`.
#[must_use]
pub fn coalesce(text: &str) -> Read<Coalesce> {
    let mut read = Read::<Coalesce>::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("Coalesce parameters for ") {
            continue;
        }
        if let Some(switches) = line.strip_prefix("Adaptive RX:") {
            let (rx, tx) = switches.split_once("TX:").unwrap_or((switches, ""));
            (read.value.adaptive_rx, read.value.adaptive_tx) = (switch(rx.trim()), switch(tx.trim()));
        } else if !line.starts_with("CQE mode RX:") {
            match line.split_once(':').map(|(name, value)| (name, setting(value.trim()))) {
                // In the words with which it is set: the table says `rx-frame-low`.
                Some((name, Ok(Some(value)))) => {
                    read.value.values.insert(name.replace("-frame-", "-frames-"), value);
                }
                Some((_, Ok(None))) => {}
                _ => read.note(number, "not `name: number`"),
            }
        }
    }
    read
}

/// `ethtool -a`.
#[must_use]
pub fn pause(text: &str) -> Read<Pause> {
    let mut read = Read::<Pause>::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("Pause parameters for ") {
            continue;
        }
        let entry = line.split_once(':').and_then(|(name, value)| Some((name, switch(value.trim())?)));
        match entry {
            Some(("Autonegotiate", on)) => read.value.autonegotiation = on,
            Some(("RX", on)) => read.value.rx = on,
            Some(("TX", on)) => read.value.tx = on,
            Some(("RX negotiated" | "TX negotiated", _)) => {}
            _ => read.note(number, "not `name: on` or `name: off`"),
        }
    }
    read
}

fn switch(word: &str) -> Option<bool> {
    match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}
