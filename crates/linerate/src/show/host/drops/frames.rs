//! Frames beside the drops of their device.

use std::fmt::Write;

use comfy_table::Table;
use host::drops::explain::{self, Suspect, Verdict};
use host::drops::series::Series;

use super::{MOST_ROWS, right};
use crate::show::table;

/// Adds what was seen, and what it explains.
pub(super) fn add(text: &mut String, series: &Series) {
    let Some(frames) = series.intervals.iter().find_map(|each| each.frames.as_ref()) else { return };
    if let Err(missing) = &frames.reading {
        let _ = writeln!(text, "  frames are not known: {missing} (root, or a program with CAP_NET_RAW, may listen)");
        return;
    }
    let suspects = explain::suspects(series);
    if suspects.is_empty() {
        let _ = writeln!(text, "  no frame came with a tag of an unknown VLAN or of a protocol that nobody handles");
        return;
    }
    let mut rows = Table::new();
    rows.set_header(["  FRAMES ON", "VLAN", "PROTOCOL", "CAME", "RX_DROPPED", "TOGETHER", "P"]);
    for each in suspects.iter().take(MOST_ROWS) {
        let together = each.correlation.map(|found| format!("{:.2}", found.spearman)).unwrap_or_default();
        let p = each.correlation.map(|_| chance(each.p)).unwrap_or_default();
        rows.add_row([
            format!("  {}", each.device),
            each.vlan.map_or_else(|| "none".to_owned(), |vlan| vlan.to_string()),
            each.ethertype.map_or_else(|| "all".to_owned(), protocol),
            each.frames.to_string(),
            each.drops.to_string(),
            together,
            p,
        ]);
    }
    right(&mut rows, &[3, 4, 5, 6]);
    text.push_str(&table::text(rows));
    for each in suspects.iter().filter(|each| each.verdict == Verdict::Explains) {
        explains(text, each);
    }
    hidden(text, &suspects);
    let missed = explain::missed(series);
    if missed > 0 {
        let _ = writeln!(text, "  {missed} more frames came too fast to be looked at");
    }
}

fn explains(text: &mut String, each: &Suspect) {
    let protocol = each.ethertype.map_or_else(|| "all".to_owned(), protocol);
    let vlan = each.vlan.unwrap_or_default();
    let _ = writeln!(
        text,
        "  {} drops frames of VLAN {vlan} ({protocol}): {} came while {} were dropped, in equal numbers in {} of {} \
         intervals.\n  The host has no device for VLAN {vlan}: make one, or take the VLAN off the port.",
        each.device, each.frames, each.drops, each.equal, each.with_drops
    );
}

fn hidden(text: &mut String, suspects: &[Suspect]) {
    let count: u64 = suspects.iter().filter(|each| each.verdict == Verdict::Hidden).map(|each| each.frames).sum();
    if count > 0 {
        let _ = writeln!(
            text,
            "  {count} frames without a tag have a protocol that nobody may handle: the kernel counts such as dropped \
             when nobody listens,\n  and not while this listens."
        );
    }
}

/// The name of an EtherType, or its number.
pub(super) fn protocol(ethertype: u16) -> String {
    let known = NAMES.iter().find(|(number, _)| *number == ethertype);
    known.map_or_else(|| format!("{ethertype:#06x}"), |(_, name)| (*name).to_owned())
}

/// A probability for people.
pub(super) fn chance(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// include/uapi/linux/if_ether.h of 6.18, and the registry of the IEEE.
const NAMES: [(u16, &str); 16] = [
    (0x0004, "802.2 (spanning tree)"),
    (0x0800, "IPv4"),
    (0x0806, "ARP"),
    (0x8035, "RARP"),
    (0x8100, "VLAN in VLAN"),
    (0x86dd, "IPv6"),
    (0x8808, "pause"),
    (0x8809, "LACP"),
    (0x8847, "MPLS"),
    (0x8863, "PPPoE discovery"),
    (0x8864, "PPPoE"),
    (0x888e, "802.1X"),
    (0x88cc, "LLDP"),
    (0x88f7, "PTP"),
    (0x8902, "CFM"),
    (0x8906, "FCoE"),
];
