//! What flows show by themselves and beside others of their pair.

use diagnose::signs::flows;
use model::round::Tested;
use model::series::field::Field;

use crate::world::{Tcp, round, tcp, udp};

/// 1 MiB in 50 ms.
const SMALL_WINDOW: Tcp = Tcp { mbps: 160, again: 0, window: 1 << 20, window_limited: 0.97, cwnd: 4000 };
const LOSSES: Tcp = Tcp { mbps: 60, again: 5, window: 16 << 20, window_limited: 0.0, cwnd: 260 };

/// The answer to a question about the flow of the test at a place.
fn shown(tests: Vec<Tested>, at: usize, sign: &str) -> Option<&'static str> {
    flows(&round(tests)).get(at)?.state(sign)
}

#[test]
fn a_window_that_holds_a_flow_is_told_from_losses_that_do() {
    assert_eq!(shown(vec![tcp("a", "c", 0, SMALL_WINDOW)], 0, "window-share"), Some("most"));
    assert_eq!(shown(vec![tcp("a", "c", 0, LOSSES)], 0, "window-share"), Some("nothing"));
    assert_eq!(shown(vec![tcp("a", "c", 0, Tcp::GOOD)], 0, "window-share"), None, "nothing is missing");
}

#[test]
fn what_a_pair_carries_is_known_by_whatever_gets_through() {
    let datagrams = |lost| vec![tcp("a", "c", 0, LOSSES), udp("a", "c", 1, 400, lost)];
    assert_eq!(shown(datagrams(None), 0, "carried"), Some("all"));
    // A tenth of them is lost: the path does not carry that much.
    assert_eq!(shown(datagrams(Some(10)), 0, "carried"), None);
    // What was carried before it became slow says nothing.
    let before = vec![udp("a", "c", 0, 400, None), tcp("a", "c", 1, LOSSES)];
    assert_eq!(shown(before, 1, "carried"), None);
}

#[test]
fn a_flow_is_known_by_its_best_moments() {
    assert_eq!(shown(vec![tcp("a", "c", 0, SMALL_WINDOW)], 0, "best"), Some("part"));
    assert_eq!(shown(vec![tcp("a", "c", 0, Tcp::GOOD)], 0, "best"), Some("all"));
}

fn marked(marked: u64) -> Option<&'static str> {
    let mut test = tcp("a", "c", 0, LOSSES);
    let columns = test.samples.iter_mut().flat_map(|samples| &mut samples.streams[0].columns);
    columns.filter(|column| column.field == Field::DeliveredCe).for_each(|column| column.values.fill(marked));
    shown(vec![test], 0, "marks")
}

#[test]
fn a_few_marks_are_enough_to_hold_a_flow_back() {
    assert_eq!(marked(5), Some("yes"), "five of 41,000 segments");
    assert_eq!((marked(1), marked(0)), (Some("no"), Some("no")));
}
