//! Where the rate of a run went, for a person: bars, the sentences that matter most, and what to type next.

use diagnose::balance::{self, Balance, ShortOffer, part::BalanceShare};
use diagnose::waterfall::facts::{HostSide, again, typed};
use diagnose::waterfall::line::{LineRate, LineRateSource};
use diagnose::waterfall::{self, Waterfall};
use model::host::HostIdentity;
use model::measurement::Heading;
use model::run::Run;
use model::series::RunSamples;
use units::DataRate;
use units::duration::show;

use super::intervals::way;

/// Where the rate went, or the datagrams; empty where nothing was measured.
pub fn text(run: &Run, samples: &RunSamples) -> String {
    let waterfalls = waterfall::explain(run, samples, LineRate::of(run));
    let balances = balance::balance(run);
    waterfalls
        .iter()
        .map(|waterfall| bars(run, waterfall))
        .chain(balances.iter().map(|balance| datagrams(run, balance)))
        .collect()
}

/// A smaller part of the line rate would be shown as 0.0 %.
const SHOWN: f64 = 0.0005;

/// Characters of a bar for the whole line rate.
const BAR: f64 = 34.0;

fn bars(run: &Run, waterfall: &Waterfall) -> String {
    let line = waterfall.line_rate;
    let known = match line.source {
        LineRateSource::Nic => "the slower NIC",
        LineRateSource::Declared => "as declared",
        LineRateSource::Expected => "as earlier runs reached",
        LineRateSource::Unknown if LineRate::of(run) != LineRate::UNKNOWN => {
            "the highest seen, which is above what was declared or is known of the path"
        }
        LineRateSource::Unknown => "the highest seen: no NIC reports a link speed; --expect sets it",
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
    for share in waterfall.shares.iter().filter(|share| share.part_of_line_rate >= SHOWN) {
        text.push_str(&bar(waterfall.label(share.cause), share.part_of_line_rate, '░'));
    }
    for fact in &waterfall.facts {
        text.push_str(&format!("- {}\n", fact.text));
    }
    if let Some(next) = waterfall.facts.iter().find_map(|fact| fact.next.as_ref()) {
        let place = match next.place {
            HostSide::Here => "here",
            HostSide::Peer => "on the peer",
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

fn datagrams(run: &Run, balance: &Balance) -> String {
    let mut text =
        format!("\nwhere the datagrams went, {}: {} handed to the socket\n", way(balance.heading), balance.handed);
    let total = run.measurement.iter().flat_map(|measurement| &measurement.totals);
    if total.filter(|total| total.heading == balance.heading).all(|total| total.received.is_none()) {
        text.push_str(&share("dropped in the sending host", &balance.dropped_in_sender));
        text.push_str("- the receiver reported nothing, so it is not known how many of them arrived\n");
        return text;
    }
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
    text.push_str(&of_datagrams(run, balance).unwrap_or_default());
    text
}

/// What the datagrams say, and the test that would say more.
fn of_datagrams(run: &Run, balance: &Balance) -> Option<String> {
    let total = run.measurement.as_ref()?.totals.iter().find(|total| total.heading == balance.heading)?;
    let counts = total.datagrams.filter(|counts| counts.sent.get() > 0)?;
    let share = counts.lost.share_of(counts.sent)?;
    let offered = DataRate::of(total.sent?, total.elapsed)?;
    let streams = u64::from(run.spec.streams.max(1));
    let at = |rate: DataRate| {
        let command = again(run, balance.heading);
        format!("next, here: {command} --udp --rate {}", typed(DataRate::from_bps((rate.bps() / streams).max(1_000))))
    };
    let part = |percent: u64| DataRate::from_bps(offered.bps() / 100 * percent);
    let short = ShortOffer::of(run, total);
    // What was on its way when the test ended is not known to be lost.
    let is_whole = counts.lost <= counts.lost_at_tail && share <= OVERLOAD;
    let text = if let Some(ShortOffer { asked, .. }) = short.filter(|_| is_whole) {
        let device = sender(run, balance.heading).device.as_ref().map_or("DEVICE", |device| &device.name);
        let place = if balance.heading == Heading::Outbound { "here" } else { "on the peer" };
        format!(
            "- no datagram was lost, but only {offered} of the {asked} asked for were offered\nnext, {place}: tc -s qdisc show dev {device}\n      whether a shaper or a full queue of the sending host limited it\n"
        )
    } else if is_whole {
        let before_the_last = if counts.lost.get() > 0 { " before the last ones" } else { "" };
        let next = at(part(200));
        format!(
            "- no datagram was lost{before_the_last} at {offered}\n{next}\n      twice the rate: where losses begin\n"
        )
    } else if share > OVERLOAD {
        // Below what arrived: if nothing is lost then, the path passes no more; if as much is, it is not the rate.
        let rate = DataRate::from_bps(total.goodput.bps() / 10 * 9);
        format!(
            "- {:.1} % of {offered} were lost, {} arrived: a queue or a rate limit on the path takes no more, or it loses at any rate\n{}\n      a rate below what arrived: losses that stay are not for want of capacity\n",
            share * 100.0,
            total.goodput,
            at(rate),
        )
    } else {
        format!(
            "- {} of {} datagrams were lost at {offered}{}\n{} --time 30s\n      half the rate: a share of losses that stays the same is not for want of capacity\n",
            counts.lost,
            counts.sent,
            short.map(|short| format!(", of {} asked for", short.asked)).unwrap_or_default(),
            at(part(50)),
        )
    };
    Some(text)
}

fn sender(run: &Run, heading: Heading) -> &HostIdentity {
    if heading == Heading::Outbound { &run.local } else { &run.peer.host }
}

/// A larger share of losses is taken for more than the path takes, as far as one test can say.
const OVERLOAD: f64 = 0.01;

fn share(label: &str, part: &BalanceShare) -> String {
    let count = part.packets.map_or_else(|| "unknown".to_owned(), |packets| packets.to_string());
    let because = part.because.as_ref().map_or_else(String::new, |because| format!("  {because}"));
    format!("  {label:<34} {count:>10}{because}\n")
}
