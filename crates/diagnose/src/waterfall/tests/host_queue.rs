//! A queue of the sending host itself: TCP small queues hold back what is ready, without a window that is full.

use super::*;

/// Half of the congestion window in use, a megabyte unsent, and so many bytes with the qdisc or NIC.
fn below(bytes: u64) -> Columns {
    with(Field::WmemAlloc, move |_| bytes)
}

fn of(columns: &[Planned]) -> Waterfall {
    waterfall(vec![end(End::Sender, columns)])
}

fn replaced(mut columns: Columns, field: Field, value: u64) -> Columns {
    columns.retain(|(of, _)| *of != field);
    columns.push((field, Box::new(move |_| value)));
    columns
}

#[test]
fn what_waits_in_the_sending_host_shows_its_queue() {
    let queued = of(&below(50_000));
    assert_eq!(leading(&queued), Reason::HostQueue);
    assert_eq!(queued.dominant().unwrap().cause, Cause::PathCapacity);
    assert_eq!(queued.label(Cause::PathCapacity), "queue of the sending host");
    assert_eq!(queued.observed.host_queue, Some(ByteCount::new(50_000)));
    assert_eq!(
        queued.facts[0].text,
        "a queue of the sending host took 90 % of the line rate: data and room in the windows were there, and the qdisc or NIC of the \
         sending host took no more: up to 50.0 kB waited there"
    );
    let next = queued.facts[0].next.clone().unwrap();
    assert_eq!((next.place, next.command.as_str()), (HostSide::Here, "tc -s qdisc show"));
    assert_eq!(leading(&of(&below(0))), Reason::NotSending, "nothing waits there");
}

#[test]
fn windows_buffers_and_programs_come_before_a_queue_of_the_host() {
    let field = |field, value| leading(&of(&replaced(below(50_000), field, value)));
    assert_eq!(field(Field::Notsent, 0), Reason::SenderWaited, "nothing is ready");
    assert_eq!(field(Field::SndCwnd, 110), Reason::FullCongestionWindow);
    assert_eq!(field(Field::SndWnd, 150_000), Reason::NearlyFullWindow);
    let waiting = with(Field::SndbufLimited, |n| n * 10_000);
    assert_eq!(leading(&of(&replaced(waiting, Field::WmemAlloc, 50_000))), Reason::FullSendBuffer);
}

/// A queue that makes RTTs longer is that of the path, unless it is where TCP is held back.
#[test]
fn a_queue_that_stands_in_the_host_is_no_queue_of_the_path() {
    let grown = |bytes| replaced(below(bytes), Field::Rtt, 50_000);
    assert_eq!(leading(&of(&grown(0))), Reason::StandingQueue);
    assert_eq!(leading(&of(&grown(50_000))), Reason::HostQueue);
}

/// At 12 MB/s the kernel lets 11.7 kB of a paced connection lie below TCP: less than that is what has just left the pacing timer.
#[test]
fn of_a_paced_sender_no_less_than_small_queues_allow_shows_a_queue() {
    let of = |bytes| {
        let columns = replaced(paced(12_000_000, 90_000_000, 500_000), Field::WmemAlloc, bytes);
        leading(&waterfall(vec![end(End::Sender, &columns)]))
    };
    assert_eq!(of(11_000), Reason::Spread);
    assert_eq!(of(12_000), Reason::HostQueue);
    let asked = replaced(paced(12_000_000, 12_000_000, 500_000), Field::WmemAlloc, 12_000);
    assert_eq!(
        leading(&waterfall(vec![end(End::Sender, &asked)])),
        Reason::SocketPace,
        "it has the rate that was asked for"
    );
}
