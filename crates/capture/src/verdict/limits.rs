//! Windows, buffers and the application: whoever had the time.

use super::cause::{Cause, SURE_OF_APPLICATION, Verdict};
use super::judged::{Judged, LEAST_SHARE};
use super::text::{bytes, percent, rate, time};
use crate::direction::event::EventType;
use crate::direction::owner::Owner;

pub(super) fn verdicts(judged: &Judged) -> Vec<Verdict> {
    [receiver_window(judged), zero_window(judged), send_buffer(judged), pacing(judged), application(judged)]
        .into_iter()
        .flatten()
        .collect()
}

/// Share of the time of a pacing rate below which something else limits.
const MOSTLY_PACED: f64 = 0.3;
/// A window that allows so many times the goodput is full because nobody reads.
const SLOW_READER: f64 = 4.0;

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn receiver_window(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::ReceiverWindow);
    if share < LEAST_SHARE {
        return None;
    }
    let window = &judged.direction.window;
    let least = judged.rtt_ns.max(1) as f64 / 1e9;
    let allowed = window.max as f64 / least;
    let filled = format!(
        "for {} of the time, the bytes outstanding filled the offered window ({} at most)",
        percent(share),
        bytes(window.max)
    );
    let goodput = judged.direction.delivered() as f64 * 1e9 / judged.total_ns.max(1) as f64;
    if allowed > SLOW_READER * goodput {
        let evidence = format!(
            "{filled}: over {} it would allow {}, so the receiving application reads at {} and lets it fill",
            time(judged.rtt_ns),
            rate(allowed),
            rate(goodput)
        );
        return Some(
            Verdict::new(Cause::ReceiverWindow, 0.85, evidence)
                .share(share)
                .rival("a window that was much smaller at first")
                .next_test("look at the receiving application and its storage"),
        );
    }
    let evidence =
        format!("{filled}: {} of window over {} allow {}", bytes(window.max), time(judged.rtt_ns), rate(allowed));
    let known = window.scale.is_some();
    let verdict = Verdict::new(Cause::ReceiverWindow, if known { 0.95 } else { 0.6 }, evidence)
        .share(share)
        .next_test("raise the receiver's buffer (net.ipv4.tcp_rmem, or SO_RCVBUF of the application), and test again");
    Some(match (known, window.scale) {
        (false, _) => verdict.rival("a window scale that was not captured: the SYN is missing"),
        (true, Some(0)) => verdict.rival("window scaling removed from the SYN by a middlebox"),
        _ => verdict,
    })
}

fn zero_window(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::ZeroWindow);
    let count = judged.direction.counts.zero_windows;
    if count == 0 || share < 0.01 {
        return None;
    }
    let evidence = format!(
        "the receiver closed its window {count} times, for {} of the time: its application reads slower than data arrives",
        percent(share)
    );
    Some(
        Verdict::new(Cause::ZeroWindow, 0.98, evidence)
            .share(share)
            .next_test("look at the receiving application and its storage"),
    )
}

fn send_buffer(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::SendBuffer);
    let plateau = judged.direction.rounds.last_plateau;
    if share < LEAST_SHARE {
        return None;
    }
    if let Some(level) = judged.direction.woken_at() {
        let evidence = format!(
            "for {} of the time all that was written had left, below the offered window of {}, and more came each time {} or less were \
             left of it: a writer that waits for room is woken when a third of the send buffer is free",
            percent(share),
            bytes(judged.direction.window.last),
            bytes(level),
        );
        return Some(
            Verdict::new(Cause::SendBuffer, 0.8, evidence).share(share).next_test(
                "ss -tmi at the sender: sndbuf_limited, and the size of the send buffer (net.ipv4.tcp_wmem)",
            ),
        );
    }
    if let Some(level) = judged.direction.refilled_to() {
        return Some(refilled(judged, share, level));
    }
    if let Some(level) = judged.direction.drained_to() {
        return Some(drained(judged, share, level));
    }
    let flight = plateau.unwrap_or(judged.direction.counts.max_flight);
    let held = if judged.direction.rounds.had_loss {
        "and in most RTTs a part of that had drained before one acknowledgment was answered with a burst"
    } else {
        "without loss"
    };
    let evidence = format!(
        "for {} of the time, {} were in flight in every RTT, below the offered window of {}, {held}, and the RTT stayed at {}",
        percent(share),
        bytes(flight),
        bytes(judged.direction.window.last),
        time(judged.rtt_ns),
    );
    Some(
        Verdict::new(Cause::SendBuffer, 0.6, evidence)
            .share(share)
            .rival("a congestion window that is clamped, or that HyStart has stopped from growing")
            .next_test("ss -tmi at the sender: sndbuf_limited, and the size of the send buffer (net.ipv4.tcp_wmem)"),
    )
}

/// Frames that leave evenly, with room in the window, and no queue before them.
fn pacing(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::CongestionWindow);
    let frames = judged.direction.frames().filter(|_| share >= MOSTLY_PACED && judged.is_paced())?;
    let evidence = format!(
        "for {} of the time packets left evenly at {}, a frame of whole segments each time, with room in the receiver's window of {}, a \
         median queueing delay of {} and no pause that a program would make between its blocks",
        percent(share),
        rate(frames.bytes_per_second()),
        bytes(judged.direction.window.last),
        time(judged.direction.queue_quantile_ns(0.5).unwrap_or(0)),
    );
    Some(
        Verdict::new(Cause::PacingRate, 0.8, evidence)
            .share(share)
            .rival(
                "an application that writes whole segments by a clock, no more than a millisecond of its rate at once",
            )
            .rival("a congestion control that paces, before it has found the rate of its bottleneck")
            .next_test(
                "ss -ti at the sender: pacing_rate, and its cap after the slash (SO_MAX_PACING_RATE, fq maxrate)",
            ),
    )
}

/// A writer that does not wait for room, and tries again by a timer.
fn refilled(judged: &Judged, share: f64, level: u64) -> Verdict {
    let evidence = format!(
        "for {} of the time all that was written had left, below the offered window of {}, and each burst filled up to {} outstanding, however \
         much had been acknowledged since the one before: a writer that finds the send buffer full and tries again by a timer",
        percent(share),
        bytes(judged.direction.window.last),
        bytes(level),
    );
    Verdict::new(Cause::SendBuffer, 0.7, evidence)
        .share(share)
        .rival("an application that keeps so much outstanding, as it learns outside this connection what has arrived")
        .next_test("ss -tmi at the sender: sndbuf_limited, and the size of the send buffer (net.ipv4.tcp_wmem)")
}

/// A writer that is woken late, or tries again by a timer, and whose kernel takes far more than its buffer holds.
fn drained(judged: &Judged, share: f64, level: u64) -> Verdict {
    let evidence = format!(
        "for {} of the time all that was written had left, below the offered window of {}, and more came each time about {} were left of it, of \
         {} at most, however large the burst before was: an application does not see what is acknowledged, a full send buffer does",
        percent(share),
        bytes(judged.direction.window.last),
        bytes(level),
        bytes(judged.direction.counts.max_flight),
    );
    Verdict::new(Cause::SendBuffer, 0.7, evidence)
        .share(share)
        .rival(
            "an application that learns outside this connection what has arrived, and writes more when most of it has",
        )
        .next_test("ss -tmi at the sender: sndbuf_limited, and the size of the send buffer (net.ipv4.tcp_wmem)")
}

fn application(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::Application) + judged.share(Owner::ApplicationOrSendBuffer);
    if share < LEAST_SHARE {
        return None;
    }
    let pauses = judged.direction.events.list.iter().filter(|event| event.event_type == EventType::Pause);
    let (count, longest) = pauses.fold((0_u64, None::<&_>), |(count, longest), pause| {
        let span = |event: &crate::direction::event::Event| event.to_ns - event.from_ns;
        (count + 1, longest.filter(|other| span(other) >= span(pause)).or(Some(pause)))
    });
    let is_either = judged.direction.is_writer_in_doubt();
    let pauses = longest.map_or_else(
        || ": short gaps, each with the window open".to_owned(),
        |pause| {
            let longest = time(pause.to_ns - pause.from_ns);
            if count == 1 {
                format!(", and one pause of {longest}")
            } else {
                format!(", {count} pauses of 100 ms and more, the longest {longest}")
            }
        },
    );
    let either = if is_either {
        "; its application wrote no more, or its send buffer was full and its writer tried again by a timer: this capture does not tell these apart"
    } else {
        ""
    };
    let evidence = format!(
        "for {} of the time the sender had sent all it had, with the receiver's window open and nothing lost{pauses}{either}",
        percent(share)
    );
    let mut verdict = Verdict::new(Cause::Application, if is_either { 0.5 } else { SURE_OF_APPLICATION }, evidence)
        .share(share)
        .rival("a sending host that is short of CPU")
        .next_test("look at what the sending application waits for: its storage, its CPU, its own protocol");
    if judged.direction.waited.packets > 0 {
        verdict = verdict.rival("a qdisc of the sending host, in which packets waited: the capture is behind it");
    }
    if longest.is_none() {
        // Evenly spaced packets look the same, whoever spaces them.
        verdict = verdict.rival("a pacing rate at the sender (SO_MAX_PACING_RATE, fq maxrate)");
    }
    // Who waits for room is woken by an acknowledgment; who asks again by a timer writes as an application would.
    if is_either {
        verdict = verdict.rival("a full send buffer whose writer tries again by a timer and does not wait").next_test(
            "ss -tmi at the sender: sndbuf_limited, skmem; if its buffer has room, look at what the sending application waits for",
        );
    }
    verdict.frames = longest.map(|pause| pause.first_frame).into_iter().collect();
    Some(verdict)
}
