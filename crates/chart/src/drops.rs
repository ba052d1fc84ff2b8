//! What a host dropped and retransmitted over time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::host::drops::DropInterval;

use crate::axis::Quantity;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREEN, ORANGE, PURPLE, VERMILLION};
use crate::panel::{Panel, Step, stairs};
use crate::scene::{Colour, Dash, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};

/// The picture: of each interval packets dropped a second by counter, and segments retransmitted an hour by peer; of each the
/// five that grew most.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(intervals: &[DropInterval], made_by: &str, form: Form) -> Result<Vec<u8>, ChartError> {
    let first = intervals.iter().map(|interval| interval.start.unix_nanos()).min().ok_or(ChartError::NoAxis)?;
    let fonts = Fonts::new()?;
    let mut losses: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    let mut peers: BTreeMap<IpAddr, Vec<Step>> = BTreeMap::new();
    let mut to_us = 1.0_f64;
    for interval in intervals {
        let from = number(interval.start.unix_nanos().saturating_sub(first) / 1_000);
        let to = from + number(units::duration::micros(interval.length));
        let seconds = interval.length.as_secs_f64().max(f64::MIN_POSITIVE);
        to_us = to_us.max(to);
        let step = |count: u64, each: f64| Step { from_us: from, to_us: to, value: number(count) / seconds * each };
        for each in interval.counters.iter().filter(|each| each.kind.is_loss()) {
            let name = format!("{} {}", interval.place(), each.counter);
            losses.entry(name).or_default().push(step(each.increase, 1.0));
        }
        for (peer, segments) in interval.retransmits.value().into_iter().flat_map(|known| &known.peers) {
            peers.entry(*peer).or_default().push(step(*segments, 3_600.0));
        }
    }
    let peers = peers.into_iter().map(|(peer, steps)| (format!("to {peer}"), steps)).collect();
    let panels = [
        panel(Panel::new("drops", "packets dropped a second, by counter", Quantity::Count, HEIGHT), losses),
        panel(Panel::new("retransmits", "segments retransmitted an hour, by peer", Quantity::Count, HEIGHT), peers),
    ];
    let place = intervals.first().map(DropInterval::place).unwrap_or_default();
    let header = Header {
        title: format!("drops and retransmits of {place}"),
        lines: vec![format!("{} intervals", intervals.len())],
        footer: "linerate watch drops".to_owned(),
        made_by: made_by.to_owned(),
    };
    let axis = Axis::Of { name: "time since the watch began", quantity: Quantity::Micros };
    let span = Span { from_us: 0.0, to_us, steady_us: None, axis };
    drawn(&layout::scene(&header, &panels, span, &fonts), &fonts, form)
}

fn panel(mut panel: Panel, lines: BTreeMap<String, Vec<Step>>) -> Panel {
    let sum = |steps: &[Step]| steps.iter().map(|step| step.value * (step.to_us - step.from_us)).sum::<f64>();
    let mut lines: Vec<(String, Vec<Step>)> = lines.into_iter().filter(|(_, steps)| sum(steps) > 0.0).collect();
    lines.sort_by(|(_, one), (_, other)| sum(other).total_cmp(&sum(one)));
    let shown = lines.len().min(COLOURS.len());
    if lines.len() > shown {
        panel.note(format!("{} more that grew less", lines.len() - shown));
    }
    let peak = lines.iter().flat_map(|(_, steps)| steps).map(|step| step.value).fold(0.0, f64::max);
    panel.top = peak.max(1.0) * 1.08;
    if lines.is_empty() {
        panel.note("none");
    }
    for ((name, steps), colour) in lines.into_iter().zip(COLOURS) {
        panel.curve(vec![stairs(&steps)], Pen::new(colour, 1.8, Dash::Solid), name);
    }
    panel
}

#[expect(clippy::cast_precision_loss, reason = "pixels are coarser")]
fn number(value: u64) -> f64 {
    value as f64
}

const HEIGHT: f64 = 190.0;
const COLOURS: [Colour; 5] = [VERMILLION, BLUE, GREEN, ORANGE, PURPLE];
