//! Where the rate of a run went, for a person: bars, the sentences that matter most, and what to type next.

use diagnose::balance::{self, Balance, part::Part};
use diagnose::waterfall::facts::Place;
use diagnose::waterfall::line::{LineRate, LineRateSource};
use diagnose::waterfall::{self, Waterfall};
use model::run::Run;
use model::series::RunSamples;
use units::duration::show;

use super::intervals::way;

/// Where the rate went, or the datagrams; empty where nothing was measured.
pub fn text(run: &Run, samples: &RunSamples) -> String {
    let waterfalls = waterfall::explain(run, samples, LineRate::of(run));
    let balances = balance::balance(run);
    waterfalls.iter().map(bars).chain(balances.iter().map(datagrams)).collect()
}

/// Characters of a bar for the whole line rate.
const BAR: f64 = 40.0;

fn bars(waterfall: &Waterfall) -> String {
    let line = waterfall.line_rate;
    let known = match line.source {
        LineRateSource::Nic => "the slower network card",
        LineRateSource::Declared => "as declared",
        LineRateSource::Expected => "as earlier runs reached",
        LineRateSource::Unknown => "the highest seen, since no card tells its speed; --expect names it",
    };
    let mut text = format!(
        "\nwhere the rate went, {}: {} ({known}) x {}\n",
        way(waterfall.heading),
        line.rate,
        show(waterfall.time)
    );
    #[expect(clippy::cast_precision_loss, reason = "a share is shown, never counted with")]
    let delivered =
        if waterfall.line.get() == 0 { 0.0 } else { waterfall.delivered.get() as f64 / waterfall.line.get() as f64 };
    text.push_str(&bar("delivered", delivered, '█'));
    for share in waterfall.shares.iter().filter(|share| share.bytes.get() > 0) {
        text.push_str(&bar(share.cause.label(), share.part_of_line_rate, '░'));
    }
    for fact in &waterfall.facts {
        text.push_str(&format!("- {}\n", fact.text));
    }
    if let Some(next) = waterfall.facts.iter().find_map(|fact| fact.next.as_ref()) {
        let place = match next.place {
            Place::Here => "here",
            Place::Peer => "on the peer",
        };
        text.push_str(&format!("next, {place}: {}\n      {}\n", next.command, next.purpose));
    }
    text
}

fn bar(label: &str, part: f64, block: char) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few characters")]
    let length = (part.clamp(0.0, 1.0) * BAR).round() as usize;
    let blocks: String = std::iter::repeat_n(block, length).collect();
    format!("  {label:<34} {:>5.1} % {blocks}\n", part * 100.0).replace(" \n", "\n")
}

fn datagrams(balance: &Balance) -> String {
    let mut text =
        format!("\nwhere the datagrams went, {}: {} handed to the socket\n", way(balance.heading), balance.handed);
    text.push_str(&format!("  {:<34} {:>10}\n", "received", balance.received.to_string()));
    for (label, part) in [
        ("dropped in the sending host", &balance.dropped_in_sender),
        ("lost on the path", &balance.lost_on_path),
        ("dropped in the receiving host", &balance.dropped_in_receiver),
    ] {
        text.push_str(&share(label, part));
    }
    for note in &balance.notes {
        text.push_str(&format!("- {note}\n"));
    }
    text
}

fn share(label: &str, part: &Part) -> String {
    let count = part.packets.map_or_else(|| "unknown".to_owned(), |packets| packets.to_string());
    let because = part.because.as_ref().map_or_else(String::new, |because| format!("  {because}"));
    format!("  {label:<34} {count:>10}{because}\n")
}
