//! A transfer of a packet capture as a picture: sequence numbers over time, as in tcptrace's graphs, with the owner of
//! each moment behind them; RTT, flight and goodput below.

use capture::report::TransferReport;
use capture::{Column, EventType, Extent, Owner, Series};

use crate::axis::Quantity;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILLION};
use crate::panel::{Key, Label, Layer, Mark, Panel, Sample, Step, peak, stairs};
use crate::run::story::amount;
use crate::scene::{Colour, Dash, Paint, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};

/// Events that are numbered in the picture: the costliest.
const NUMBERED: usize = 12;
/// A window further above what was sent than this would leave too little room for the rest.
const IN_SIGHT: f64 = 1.6;

/// The picture, as the bytes of a file.
///
/// # Errors
/// See [`ChartError`]; [`ChartError::NoAxis`] where nothing was captured in the span.
pub fn picture(transfer: &TransferReport, form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let series = transfer.series.as_deref().ok_or(ChartError::NoAxis)?;
    let view = View::new(transfer, series).ok_or(ChartError::NoAxis)?;
    let panels = [numbers(&view), rtt(&view), flight(&view), goodput(&view)];
    let axis = Axis::Of { name: "time since the first data", quantity: Quantity::Micros };
    let span = Span { from_us: view.from_us, to_us: view.to_us, steady_us: None, axis };
    drawn(&layout::scene(&header(&view), &panels, span, &fonts), &fonts, form)
}

/// The columns of a picture, with times that count from the first data and numbers from the lowest that is shown.
struct View<'a> {
    transfer: &'a TransferReport,
    series: &'a Series,
    columns: &'a [Column],
    from_us: f64,
    to_us: f64,
    base: u64,
}

impl<'a> View<'a> {
    fn new(transfer: &'a TransferReport, series: &'a Series) -> Option<Self> {
        let has_any = |column: &Column| column.sent.get().is_some() || column.acked.get().is_some();
        let last = series.columns.iter().rposition(has_any)?;
        let first = series.columns.iter().position(|column| column.sent.get().is_some())?;
        let columns = series.columns.get(first..=last)?;
        let least = columns
            .iter()
            .filter_map(|column| column.acked.get().or(column.sent.get()))
            .map(|extent| extent.0)
            .min()?;
        let mut view = Self { transfer, series, columns, from_us: 0.0, to_us: 0.0, base: least };
        // A transfer that is seen from its first byte on starts at zero.
        if view.base < series.columns.len() as u64 {
            view.base = 0;
        }
        let offset = i64::try_from(first).unwrap_or_default();
        view.from_us = us(series.from_ns - transfer.first_ns + offset * series.width_ns);
        view.to_us = view.at(columns.len());
        Some(view)
    }

    fn at(&self, index: usize) -> f64 {
        let width = i64::try_from(index).unwrap_or_default().saturating_mul(self.series.width_ns);
        self.from_us + us(width)
    }

    fn number(&self, value: u64) -> f64 {
        amount(value.saturating_sub(self.base))
    }

    fn each(&self) -> impl Iterator<Item = (usize, &'a Column)> {
        self.columns.iter().enumerate()
    }

    /// The value of columns that have one, at their starts and ends.
    fn curve(&self, value: impl Fn(&Column) -> Option<(f64, f64)>) -> Vec<Sample> {
        let mut curve = Vec::new();
        for (index, column) in self.each() {
            if let Some((low, high)) = value(column) {
                curve.push((self.at(index), low));
                if low < high {
                    curve.push((self.at(index + 1), high));
                }
            }
        }
        curve
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place on a picture")]
fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}

/// Letters of a line of the header.
const LINE: usize = 135;
/// Lines of a verdict at most; a longer one is cut where its text, which is printed as well, goes on.
const MOST_LINES: usize = 3;

/// A sentence in lines.
fn wrapped(sentence: &str) -> impl Iterator<Item = String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LINE => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let is_cut = lines.len() > MOST_LINES;
    lines.truncate(MOST_LINES);
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        last.push_str(" …");
    }
    lines.into_iter()
}

fn header(view: &View) -> Header {
    let transfer = view.transfer;
    let rate = transfer.goodput_bps().map_or_else(|| "nothing".to_owned(), |bps| Quantity::Rate.show(amount(bps)));
    let verdict = transfer.verdicts.first().map_or_else(
        || "not judged: no rule has enough evidence".to_owned(),
        |verdict| format!("{}: {}", verdict.cause.name(), verdict.evidence),
    );
    let counts = &transfer.counts;
    Header {
        title: format!("{} to {}: {rate}", transfer.from, transfer.to),
        lines: wrapped(&verdict)
            .chain([format!(
                "{} · {} segments, {} retransmitted ({} spurious), {} reordered, {} timeouts",
                Quantity::Bytes.show(amount(transfer.delivered_bytes)),
                counts.segments,
                counts.retransmits,
                counts.spurious,
                counts.reordered,
                counts.timeouts
            )])
            .collect(),
        footer: format!("each column is {}", Quantity::Micros.show(us(view.series.width_ns))),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    }
}

/// The colour behind the moments of an owner; what is as it should be stays white.
fn shade(owner: Owner) -> Option<Colour> {
    match owner {
        Owner::Handshake | Owner::CongestionWindow | Owner::Unknown => None,
        Owner::Timeout => Some(VERMILLION.thinned(0.45)),
        Owner::Recovery => Some(ORANGE.thinned(0.35)),
        Owner::ZeroWindow => Some(PURPLE.thinned(0.6)),
        Owner::ReceiverWindow => Some(PURPLE.thinned(0.3)),
        Owner::Application => Some(GREY.thinned(0.22)),
        Owner::SendBuffer => Some(SKY.thinned(0.35)),
        Owner::ApplicationOrSendBuffer => Some(SKY.thinned(0.15)),
        Owner::SlowStart => Some(GREEN.thinned(0.2)),
    }
}

fn shading(view: &View, panel: &mut Panel) {
    for owner in Owner::ALL {
        let Some(colour) = shade(owner) else { continue };
        let mut bars: Vec<Step> = Vec::new();
        for (index, column) in view.each() {
            if column.owner() != Some(owner) {
                continue;
            }
            let (from_us, to_us) = (view.at(index), view.at(index + 1));
            match bars.last_mut().filter(|bar| bar.to_us == from_us) {
                Some(bar) => bar.to_us = to_us,
                None => bars.push(Step { from_us, to_us, value: panel.top }),
            }
        }
        if !bars.is_empty() {
            let paint = Paint::Solid(colour);
            panel.layers.push(Layer::Bars { bars, paint });
            panel.keys.push(Key { mark: Mark::Fill(paint), text: owner.name().to_owned() });
        }
    }
}

fn numbers(view: &View) -> Panel {
    let mut panel = Panel::new("sequence", "Sequence numbers", Quantity::Bytes, 300.0);
    let of = |extent: fn(&Column) -> Extent| {
        move |column: &Column| extent(column).get().map(|(low, high)| (view.number(low), view.number(high)))
    };
    let acked = view.curve(of(|column| column.acked));
    let window = view.curve(of(|column| column.window_right));
    let sent = view.curve(of(|column| column.sent));
    let highest = peak([&acked, &sent]).max(1.0);
    let within = peak([&window]) <= highest * IN_SIGHT;
    panel.top = if within { highest.max(peak([&window])) } else { highest } * 1.06;
    if view.base > 0 {
        panel.per = format!("from {} on", Quantity::Bytes.show(amount(view.base)));
    }
    shading(view, &mut panel);
    data(view, &mut panel);
    if within {
        panel.curve(vec![window], Pen::new(PURPLE, 1.2, Dash::Long), "window");
    } else {
        panel.note("the right edge of the receiver's window is far above this panel");
    }
    panel.curve(vec![acked], Pen::new(GREEN, 1.4, Dash::Solid), "acknowledged");
    repairs(view, &mut panel);
    panel
}

/// What was sent, from the lowest to the highest byte of each column.
fn data(view: &View, panel: &mut Panel) {
    let mut lines = Vec::new();
    // A line is seen that is as high as it is wide.
    let least = panel.top / panel.height;
    for (index, column) in view.each() {
        // Where something was retransmitted, the lowest byte is one of that.
        let low = if column.retransmits > 0 { column.acked.get().map(|acked| acked.1) } else { None };
        if let Some((lowest, high)) = column.sent.get() {
            let low = low.unwrap_or(lowest).clamp(lowest, high);
            let (from_us, low, high) = (view.at(index), view.number(low), view.number(high));
            lines.push(vec![(from_us, low), (from_us, high.max(low + least))]);
        }
    }
    if !lines.is_empty() {
        panel.curve(lines, Pen::new(INK, 1.0, Dash::Solid), "sent");
    }
}

fn repairs(view: &View, panel: &mut Panel) {
    let dots = |value: fn(&Column) -> Option<(u64, u64)>| -> Vec<Sample> {
        let found = view.each().filter_map(|(index, column)| Some((index, value(column)?)));
        found
            .flat_map(|(index, (low, high))| [(view.at(index), view.number(low)), (view.at(index), view.number(high))])
            .collect()
    };
    let sacked = dots(|column| column.sacked.get());
    if !sacked.is_empty() {
        panel.layers.push(Layer::Dots { samples: sacked, diameter: 1.6, colour: PURPLE });
        panel.keys.push(Key { mark: Mark::Dot(PURPLE), text: "SACK".to_owned() });
    }
    let resent = dots(|column| column.retransmitted.get());
    if !resent.is_empty() {
        let count: u64 = view.columns.iter().map(|column| u64::from(column.retransmits)).sum();
        panel.layers.push(Layer::Dots { samples: resent, diameter: 3.6, colour: VERMILLION });
        panel.keys.push(Key { mark: Mark::Dot(VERMILLION), text: format!("retransmitted, {count} packets") });
    }
    let events = view.transfer.events.iter().take(NUMBERED);
    let shown = events.filter(|event| (view.from_us..=view.to_us).contains(&us(event.from_ns)));
    let labels: Vec<Label> =
        shown.map(|event| Label { at_us: us(event.from_ns), text: event.number.to_string() }).collect();
    if !labels.is_empty() {
        panel.note("numbers at the top: the costliest events, as the text lists them");
        panel.layers.push(Layer::Labels { labels });
    }
    let timeouts = view.transfer.events.iter().filter(|event| event.event == EventType::Timeout);
    let at_us: Vec<f64> = timeouts.map(|event| us(event.to_ns)).collect();
    if at_us.iter().any(|at| (view.from_us..=view.to_us).contains(at)) {
        let pen = Pen::new(VERMILLION, 1.6, Dash::Solid);
        panel.layers.push(Layer::Crosses { at_us, pen });
        panel.keys.push(Key { mark: Mark::Cross(pen), text: "RTO".to_owned() });
    }
    let marks: u64 = view.columns.iter().map(|column| u64::from(column.ce_marks)).sum();
    if marks > 0 {
        panel.note(format!("{marks} packets carry congestion marks (CE)"));
    }
}

fn rtt(view: &View) -> Panel {
    let mut panel = Panel::new("rtt", "RTT", Quantity::Micros, 100.0);
    let samples: Vec<Sample> = view
        .each()
        .filter_map(|(index, column)| Some((view.at(index), column.rtt_ns.get()?)))
        .flat_map(|(at, (low, high))| [(at, amount(low) / 1e3), (at, amount(high) / 1e3)])
        .collect();
    panel.ranges(samples, "no sample: each needs a segment that was sent once and acknowledged");
    panel
}

fn flight(view: &View) -> Panel {
    let mut panel = Panel::new("flight", "In flight", Quantity::Bytes, 100.0);
    let curve = view.curve(|column| column.flight.get().map(|(_, high)| (amount(high), amount(high))));
    panel.top = peak([&curve]).max(1.0) * 1.12;
    panel.curve(vec![curve], Pen::new(BLUE, 1.3, Dash::Solid), "most of each column (RFC 6675)");
    panel
}

fn goodput(view: &View) -> Panel {
    const STEPS: usize = 240;
    let mut panel = Panel::new("goodput", "Goodput", Quantity::Rate, 100.0);
    let stride = view.columns.len().div_ceil(STEPS).max(1);
    let mut steps = Vec::new();
    let mut before = view.columns.iter().find_map(|column| column.acked.get()).map_or(0, |acked| acked.0);
    for (index, columns) in view.columns.chunks(stride).enumerate() {
        let (from_us, to_us) = (view.at(index * stride), view.at(index * stride + columns.len()));
        let now = columns.iter().filter_map(|column| column.acked.get()).map(|acked| acked.1).max().unwrap_or(before);
        steps.push(Step { from_us, to_us, value: amount(now.saturating_sub(before)) * 8e6 / (to_us - from_us) });
        before = before.max(now);
    }
    let curve = stairs(&steps);
    panel.top = peak([&curve]).max(1.0) * 1.12;
    panel.curve(vec![curve], Pen::new(BLUE, 1.4, Dash::Solid), "as acknowledged");
    panel
}
