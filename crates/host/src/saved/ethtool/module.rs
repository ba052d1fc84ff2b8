//! `ethtool -m`: what an optical module measures of itself.

use model::host::interface::optics::{AlarmLimits, OpticalLane, Optics};

use crate::saved::Read;

/// `ethtool -m DEVICE`. Of its many lines those of light, current and temperature are read, and maker and part.
#[must_use]
pub fn read(text: &str) -> Read<Optics> {
    let mut read = Read::<Optics>::default();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, lane) = lane_of(name.trim());
        if take(&mut read.value, Row { name, lane, value: value.trim() }).is_none() {
            read.note(number, format!("not a value of `{name}`"));
        }
    }
    read
}

#[derive(Clone, Copy)]
struct Row<'t> {
    name: &'t str,
    /// From 0.
    lane: usize,
    value: &'t str,
}

/// [`None`] where the value is none.
fn take(optics: &mut Optics, row: Row<'_>) -> Option<()> {
    let Row { name, lane, value } = row;
    match name {
        "Vendor name" => value.clone_into(&mut optics.vendor),
        "Vendor PN" => value.clone_into(&mut optics.part),
        "Module temperature" => optics.temperature = Some(DEGREES.read(value)?),
        "Laser bias current" | "Laser tx bias current" => lane_at(optics, lane).bias = Some(MILLIAMPERES.read(value)?),
        "Laser output power" | "Transmit avg optical power" => {
            lane_at(optics, lane).sent = Some(MILLIWATTS.read(value)?);
        }
        _ if RECEIVED.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
            lane_at(optics, lane).received = Some(MILLIWATTS.read(value)?);
        }
        _ => threshold(optics, row)?,
    }
    Some(())
}

/// What ethtool has called received light, by kind of module.
const RECEIVED: [&str; 4] = [
    "Receiver signal average optical power",
    "Receiver signal OMA",
    "Rcvr signal avg optical power",
    "Rcvr signal OMA",
];

/// `Laser tx bias current (Channel 2)`, with or without the blank: the name, and the lane from 0.
fn lane_of(name: &str) -> (&str, usize) {
    let parts = name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    let lane = parts.and_then(|(name, lane)| {
        let lane = lane.strip_prefix("Channel ")?.parse::<usize>().ok()?.checked_sub(1)?;
        (lane < MOST_LANES).then(|| (name.trim_end(), lane))
    });
    lane.unwrap_or((name, 0))
}

fn lane_at(optics: &mut Optics, lane: usize) -> &mut OpticalLane {
    if optics.lanes.len() <= lane {
        optics.lanes.resize(lane + 1, OpticalLane::default());
    }
    &mut optics.lanes[lane]
}

/// `Laser rx power low alarm threshold`; [`None`] where its value is none.
fn threshold(optics: &mut Optics, row: Row<'_>) -> Option<()> {
    let of = row.name.strip_suffix(" alarm threshold").and_then(|name| name.rsplit_once(' '));
    let Some((name, side)) = of.filter(|(_, side)| matches!(*side, "low" | "high")) else { return Some(()) };
    let limits = &mut optics.limits;
    let (limits, unit) = match name {
        "Module temperature" => (&mut limits.temperature, DEGREES),
        "Laser bias current" => (&mut limits.bias, MILLIAMPERES),
        "Laser output power" => (&mut limits.sent, MILLIWATTS),
        "Laser rx power" => (&mut limits.received, MILLIWATTS),
        _ => return Some(()),
    };
    let value = unit.read(row.value)?;
    let limits = limits.get_or_insert(AlarmLimits::default());
    *(if side == "high" { &mut limits.high } else { &mut limits.low }) = value;
    Some(())
}

/// How a value is written, and by how many digits our unit is finer.
#[derive(Debug, Clone, Copy)]
struct Unit {
    word: &'static str,
    digits: usize,
}

impl Unit {
    /// `0.5547 mW / -2.56 dBm` as 554700 nW.
    fn read(self, value: &str) -> Option<i64> {
        let (number, rest) = value.split_once(' ')?;
        if !rest.starts_with(self.word) {
            return None;
        }
        let (sign, number) = number.strip_prefix('-').map_or((1, number), |number| (-1, number));
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let part: String = part.chars().chain(std::iter::repeat('0')).take(self.digits).collect();
        let digits = format!("{whole}{part}");
        let is_number = digits.len() <= LONGEST_NUMBER && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i64>().ok()).flatten().map(|value| sign * value)
    }
}

const DEGREES: Unit = Unit { word: "degrees C", digits: 3 };
const MILLIAMPERES: Unit = Unit { word: "mA", digits: 3 };
const MILLIWATTS: Unit = Unit { word: "mW", digits: 6 };

/// More than any module has: 8 of a QSFP-DD, in 4 banks.
const MOST_LANES: usize = 32;
const LONGEST_NUMBER: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    /// What ethtool printed of a 10GBASE-LR module to which no light came, as its owner asked about it on a list; shortened.
    const DARK: &str = "\
\tIdentifier                                : 0x03 (SFP)
\tVendor name                               : Transition
\tVendor OUI                                : 00:c0:f2
\tVendor PN                                 : TN-SFP-10G-LR
\tLaser bias current                        : 32.066 mA
\tLaser output power                        : 0.5547 mW / -2.56 dBm
\tReceiver signal average optical power     : 0.0001 mW / -40.00 dBm
\tModule temperature                        : 41.05 degrees C / 105.90 degrees F
\tLaser rx power low alarm                  : On
\tLaser bias current high alarm threshold   : 100.000 mA
\tLaser bias current low alarm threshold    : 6.000 mA
\tModule temperature low alarm threshold    : -5.00 degrees C / 23.00 degrees F
\tModule temperature high alarm threshold   : 75.00 degrees C / 167.00 degrees F
\tLaser rx power high alarm threshold       : 1.2589 mW / 1.00 dBm
\tLaser rx power low alarm threshold        : 0.0490 mW / -13.10 dBm
\tLaser rx power low warning threshold      : 0.0550 mW / -12.60 dBm
";

    #[test]
    fn light_current_temperature_and_their_limits_are_read() {
        let read = read(DARK);
        assert_eq!(read.unknown, []);
        let optics = read.value;
        assert_eq!((optics.vendor.as_str(), optics.part.as_str()), ("Transition", "TN-SFP-10G-LR"));
        assert_eq!(optics.temperature, Some(41_050));
        let lane = OpticalLane { bias: Some(32_066), sent: Some(554_700), received: Some(100) };
        assert_eq!(optics.lanes, [lane]);
        assert_eq!(optics.limits.received, Some(AlarmLimits { low: 49_000, high: 1_258_900 }));
        assert_eq!(optics.limits.temperature, Some(AlarmLimits { low: -5_000, high: 75_000 }));
        assert_eq!(optics.limits.sent, None);
    }

    /// Of a QSFP whose cable is split, of which one lane is used.
    #[test]
    fn lanes_have_their_place_and_nonsense_is_told() {
        let read = read(
            "\
        Laser tx bias current (Channel 1)         : 6.662 mA
        Laser tx bias current (Channel 2)         : 0.000 mA
        Transmit avg optical power (Channel 1)    : 0.7119 mW / -1.48 dBm
        Transmit avg optical power (Channel 2)    : 0.0000 mW / -inf dBm
        Rcvr signal avg optical power(Channel 1)  : 0.7682 mW / -1.15 dBm
        Rcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm
        Rcvr signal avg optical power(Channel 99999999999) : 0.0000 mW / -inf dBm
        Module temperature                        : hot degrees C
        Laser rx power low alarm threshold        : 99999999999999999999999.9 mW
",
        );
        let lanes = &read.value.lanes;
        assert_eq!(lanes.len(), 2);
        assert_eq!(lanes[0], OpticalLane { received: Some(768_200), sent: Some(711_900), bias: Some(6_662) });
        assert!(lanes[0].is_used() && !lanes[1].is_used());
        assert_eq!(read.unknown.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [8, 9]);
    }
}
