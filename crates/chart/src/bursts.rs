//! What passed a device, and its bursts.

use model::bursts::{BurstReport, DirectionBursts};
use model::measurement::Heading;
use units::DataRate;

use crate::axis::Quantity;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, LIMIT, ORANGE, VERMILLION};
use crate::panel::{BandStep, Key, Layer, Level, Mark, Panel, Step};
use crate::scene::{Colour, Dash, Paint, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};

/// The picture: of each direction the busiest bucket and the mean of each step, and every large burst as a cross.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(report: &BurstReport, made_by: &str, form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let panels: Vec<Panel> = report
        .directions
        .iter()
        .flat_map(|direction| [Some(panel(report, direction)), retransmissions(direction), heat(report, direction)])
        .flatten()
        .collect();
    let bursts: u64 = report.directions.iter().map(|direction| direction.bursts).sum();
    let place = report.namespace.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    let header = Header {
        title: format!("bursts of {} of {}{place}", report.device, report.host),
        lines: vec![format!(
            "{bursts} bursts above {} % of the line rate in buckets of {}",
            report.threshold_percent,
            units::duration::show(report.bucket)
        )],
        footer: "linerate watch bursts".to_owned(),
        made_by: made_by.to_owned(),
    };
    #[expect(clippy::cast_precision_loss, reason = "pixels are coarser")]
    let to_us = units::duration::micros(report.length).max(1) as f64;
    let axis = Axis::Of { name: "time since the watch began", quantity: Quantity::Micros };
    let span = Span { from_us: 0.0, to_us, steady_us: None, axis };
    drawn(&layout::scene(&header, &panels, span, &fonts), &fonts, form)
}

fn panel(report: &BurstReport, direction: &DirectionBursts) -> Panel {
    let (name, title) = match direction.heading {
        Heading::Inbound => ("in", "in, on the physical layer"),
        Heading::Outbound => ("out", "out, on the physical layer"),
    };
    let mut panel = Panel::new(name, title, Quantity::Rate, 170.0);
    let bps = |rate: DataRate| number(rate.bps());
    let line = report.line_rate.map(bps);
    let peak = bps(direction.busiest_bucket).max(line.unwrap_or(0.0)).max(1.0);
    panel.top = peak * 1.08;
    let step = number(units::duration::micros(direction.steps.step));
    let bars = |rates: &[DataRate]| -> Vec<Step> {
        let at = |index: usize| number(index as u64) * step;
        let steps = rates.iter().enumerate().filter(|(_, rate)| !rate.is_zero());
        steps.map(|(index, rate)| Step { from_us: at(index), to_us: at(index) + step, value: bps(*rate) }).collect()
    };
    let (busiest, mean) = (Paint::Solid(ORANGE), Paint::Solid(BLUE));
    panel.layers.push(Layer::Bars { bars: bars(&direction.steps.busiest), paint: busiest });
    panel.keys.push(Key { mark: Mark::Fill(busiest), text: "busiest bucket of each step".to_owned() });
    panel.layers.push(Layer::Bars { bars: bars(&direction.steps.mean), paint: mean });
    panel.keys.push(Key { mark: Mark::Fill(mean), text: "mean of each step".to_owned() });
    if let Some(line) = line {
        panel.level(Level { value: line, from_us: None, pen: LIMIT }, "line rate");
    }
    if !direction.largest.is_empty() {
        let pen = Pen::new(VERMILLION, 1.8, Dash::Solid);
        let start = report.start.unix_nanos();
        let at = direction.largest.iter().map(|burst| number(burst.start.unix_nanos().saturating_sub(start) / 1_000));
        panel.layers.push(Layer::Crosses { at_us: at.collect(), pen });
        panel.keys.push(Key { mark: Mark::Cross(pen), text: "one of the largest bursts".to_owned() });
    }
    panel
}

/// How often TCP retransmitted in each step; none where it did not, or nobody looked.
fn retransmissions(direction: &DirectionBursts) -> Option<Panel> {
    let counts = &direction.steps.retransmissions;
    let most = *counts.iter().max()?;
    let way = if direction.heading == Heading::Inbound { "in" } else { "out" };
    let mut panel = Panel::new(format!("{way}-retransmits"), format!("{way}, retransmissions"), Quantity::Count, 70.0);
    panel.per = format!("in each {}", units::duration::show(direction.steps.step));
    panel.top = number(most.max(1)) * 1.08;
    let step = number(units::duration::micros(direction.steps.step));
    let bars = counts.iter().zip(0_u64..).filter(|(count, _)| **count > 0).map(|(count, index)| {
        let from_us = number(index) * step;
        Step { from_us, to_us: from_us + step, value: number(*count) }
    });
    let paint = Paint::Solid(VERMILLION);
    panel.layers.push(Layer::Bars { bars: bars.collect(), paint });
    panel.keys.push(Key { mark: Mark::Fill(paint), text: "times that TCP of this host retransmitted".to_owned() });
    Some(panel)
}

/// Bursts over time by length, the darker the more; none where they are all in one step.
fn heat(report: &BurstReport, direction: &DirectionBursts) -> Option<Panel> {
    let map = &direction.over_time;
    let classes = map.by_length.iter().map(Vec::len).max()?;
    if map.by_length.len() < 2 {
        return None;
    }
    let way = if direction.heading == Heading::Inbound { "in" } else { "out" };
    let title = format!("{way}, bursts by length: n stands for 2^n times {}", units::duration::show(report.bucket));
    let mut panel = Panel::new(format!("{way}-lengths"), title, Quantity::Count, 12.0 * number(classes as u64) + 24.0);
    panel.per = format!("in each {}", units::duration::show(map.step));
    panel.top = number(classes as u64);
    let step = number(units::duration::micros(map.step));
    for (colour, counts, text) in SHADES {
        let paint = Paint::Solid(colour);
        for class in 0..classes {
            let low = number(class as u64);
            for (from, to) in runs(map.by_length.iter().map(|step| step.get(class).is_some_and(|n| counts.contains(n))))
            {
                let (from_us, to_us) = (number(from) * step, number(to) * step);
                let steps = vec![BandStep { from_us, to_us, low, high: low + 1.0 }];
                panel.layers.push(Layer::Band { steps, paint });
            }
        }
        panel.keys.push(Key { mark: Mark::Fill(paint), text: text.to_owned() });
    }
    Some(panel)
}

/// Where neighbours are true: each run from its first place to the place behind its last.
fn runs(cells: impl Iterator<Item = bool>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for (place, cell) in (0_u64..).zip(cells) {
        match runs.last_mut() {
            _ if !cell => {}
            Some(run) if run.1 == place => run.1 += 1,
            _ => runs.push((place, place + 1)),
        }
    }
    runs
}

/// Counts of a cell, the lightest first.
const SHADES: [(Colour, std::ops::RangeInclusive<u64>, &str); 4] = [
    (Colour(0xc6, 0xdb, 0xef), 1..=1, "1 burst"),
    (Colour(0x6b, 0xae, 0xd6), 2..=9, "2 to 9"),
    (Colour(0x21, 0x71, 0xb5), 10..=99, "10 to 99"),
    (Colour(0x08, 0x30, 0x6b), 100..=u64::MAX, "100 and more"),
];

#[expect(clippy::cast_precision_loss, reason = "pixels are coarser")]
fn number(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_cell_and_counts_have_one_shade_each() {
        assert_eq!(runs([true, true, false, true].into_iter()), [(0, 2), (3, 4)]);
        assert_eq!(runs([false, false].into_iter()), []);
        for count in [1, 2, 9, 10, 99, 100, u64::MAX] {
            assert_eq!(SHADES.iter().filter(|(_, counts, _)| counts.contains(&count)).count(), 1, "{count}");
        }
    }
}
