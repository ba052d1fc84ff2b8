//! Networks with a planted fault that answer what is asked next, until one cause at one place stands out. No time passes
//! but that which the tests say they take.

use std::collections::BTreeSet;
use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{FaultLocation, conclude, weigh};
use diagnose::next::{Ending, Means, Next, Proposal, next};
use model::played::Finding;
use model::round::{Endpoint, Passage, Round, Tested};
use model::series::field::Field;
use model::spec::Direction;
use plan::task::Task;

use crate::world::{Tcp, round, tcp, udp};

const LOSSES: Tcp = Tcp { mbps: 60, again: 5, window: 16 << 20, window_limited: 0.0, cwnd: 260 };
const SMALL_WINDOW: Tcp = Tcp { mbps: 160, again: 0, window: 1 << 20, window_limited: 0.97, cwnd: 4000 };

fn means(left: u64) -> Means {
    let hosts: BTreeSet<String> = ["a", "b", "here", "there", "c", "d"].map(str::to_owned).into();
    Means { starting: hosts.clone(), hosts, around: Duration::from_secs(1), left: Duration::from_secs(left) }
}

fn asked(round: &Round, means: &Means) -> Next {
    next(round, &weigh(round, Catalogue::built_in(), &Rules::built_in()), means)
}

/// The way between two hosts of the way from `a` to `c`.
fn way(from: &Endpoint, to: &Endpoint) -> Vec<Passage> {
    let hosts = ["a", "here", "there", "c"];
    let segments = ["of-a", "long", "of-c"];
    let at = |end: &Endpoint| hosts.iter().position(|host| *host == end.host).unwrap();
    let passage = |segment: usize, towards: usize| Passage {
        segment: segments[segment].to_owned(),
        towards: hosts[towards].to_owned(),
    };
    let (from, to) = (at(from), at(to));
    if from < to {
        (from..to).map(|at| passage(at, at + 1)).collect()
    } else {
        (to..from).rev().map(|at| passage(at, at)).collect()
    }
}

/// What a network answers in which `suffers` says whether a test over a way meets the fault.
fn answered(proposal: &Proposal, number: u64, suffers: &dyn Fn(&Task, &[Passage]) -> bool, bad: Tcp) -> Option<Tested> {
    let (from, to) = (&proposal.from.host, &proposal.to.host);
    let there = way(&proposal.from, &proposal.to);
    let back = way(&proposal.to, &proposal.from);
    let task = proposal.tasks.first().unwrap();
    let mut tested = match task {
        Task::Tcp(flow) => {
            assert_eq!(flow.spec.direction, Direction::Forward, "who sends asks");
            let what = if suffers(task, &there) { bad } else { Tcp::GOOD };
            let mut tested = tcp(from, to, number, what);
            if let Some(mss) = flow.spec.mss {
                set_segments(&mut tested, mss.get());
            }
            tested
        }
        Task::Udp(flow) => {
            let rate = flow.spec.rate.unwrap().bps() * u64::from(flow.spec.streams) / 1_000_000;
            udp(from, to, number, rate, suffers(task, &there).then_some(1000))
        }
        // Nobody answers echoes here.
        _ => {
            let mut nothing = udp(from, to, number, 1, None);
            nothing.finding = Finding::Nothing { detail: "no echoes here".to_owned() };
            nothing
        }
    };
    if let (Finding::Run(run), Task::Tcp(flow) | Task::Udp(flow)) = (&mut tested.finding, task) {
        run.spec = flow.spec.clone();
    }
    tested.label.clone_from(&proposal.label);
    (tested.way, tested.way_back) = (there, back);
    Some(tested)
}

/// Gives a transfer another segment size.
fn set_segments(tested: &mut Tested, mss: u32) {
    let streams = tested.samples.iter_mut().flat_map(|samples| &mut samples.streams);
    for column in streams.flat_map(|stream| &mut stream.columns) {
        if matches!(column.field, Field::SndMss | Field::Advmss) {
            column.values.fill(u64::from(mss));
        }
    }
}

/// Tests on for so many seconds; returns what was asked, and how it ended.
fn examined(
    round: &mut Round,
    seconds: u64,
    suffers: &dyn Fn(&Task, &[Passage]) -> bool,
    bad: Tcp,
) -> (Vec<String>, Ending) {
    let mut means = means(seconds);
    let mut says = Vec::new();
    loop {
        match asked(round, &means) {
            Next::Enough(ending) => return (says, ending),
            Next::Test(proposal) => {
                means.left -= proposal.takes;
                let number = round.tests.len() as u64;
                round.tests.extend(answered(&proposal, number, suffers, bad));
                says.push(proposal.says);
            }
        }
    }
}

fn most_likely(round: &Round) -> (String, FaultLocation, f64) {
    let weighing = weigh(round, Catalogue::built_in(), &Rules::built_in());
    let hypotheses = &weighing.standings[0].hypotheses;
    let best = hypotheses.iter().max_by(|a, b| a.probability.total_cmp(&b.probability)).unwrap();
    (best.cause.id.clone(), best.place.clone(), best.probability)
}

fn long() -> Passage {
    Passage { segment: "long".to_owned(), towards: "there".to_owned() }
}

#[test]
fn loss_is_followed_to_its_segment_within_half_a_minute() {
    for place in [long(), Passage { segment: "of-c".to_owned(), towards: "c".to_owned() }] {
        let mut round = round(vec![tcp("a", "c", 0, LOSSES), tcp("c", "a", 1, Tcp::GOOD)]);
        let before = most_likely(&round).2;
        let at = place.clone();
        let suffers = move |_: &Task, way: &[Passage]| way.contains(&at);
        let (says, _) = examined(&mut round, 30, &suffers, LOSSES);
        let (cause, found, probability) = most_likely(&round);
        let segment = FaultLocation::Segment { name: place.segment, towards: Some(place.towards) };
        assert_eq!((cause.as_str(), &found), ("random-loss", &segment), "{says:#?}");
        assert!(probability > before, "{before} became {probability}: {says:#?}");
        assert!(says.iter().any(|says| says.contains("datagrams at")), "{says:#?}");
    }
}

#[test]
fn a_test_is_asked_for_with_what_it_tells_apart() {
    let round = round(vec![tcp("a", "c", 0, LOSSES), tcp("c", "a", 1, Tcp::GOOD)]);
    let Next::Test(proposal) = asked(&round, &means(30)) else { panic!("nothing is asked") };
    assert!(proposal.says.starts_with("to tell "), "{}", proposal.says);
    assert!(proposal.bits > 0.04 && proposal.takes <= Duration::from_secs(30), "{proposal:?}");
}

#[test]
fn what_was_asked_is_not_asked_again() {
    let mut round = round(vec![tcp("a", "c", 0, LOSSES)]);
    let nothing_suffers = |_: &Task, _: &[Passage]| false;
    let (says, _) = examined(&mut round, 600, &nothing_suffers, LOSSES);
    let distinct: BTreeSet<&String> = round.tests.iter().map(|tested| &tested.label).collect();
    assert_eq!(distinct.len(), round.tests.len(), "{says:#?}");
}

#[test]
fn several_streams_settle_a_window() {
    let mut round = round(vec![tcp("a", "c", 0, SMALL_WINDOW), tcp("c", "a", 1, Tcp::GOOD)]);
    // Each stream has a window of its own, and a part of the way a shorter round trip.
    let alone =
        |task: &Task, way: &[Passage]| matches!(task, Task::Tcp(flow) if flow.spec.streams == 1) && way.len() == 3;
    examined(&mut round, 30, &alone, SMALL_WINDOW);
    let (cause, place, _) = most_likely(&round);
    assert_eq!((cause.as_str(), place), ("receive-window-small", FaultLocation::Host { name: "c".to_owned() }));
}

#[test]
fn nothing_is_asked_of_a_network_that_is_well_or_without_time_or_hosts() {
    let well = round(vec![tcp("a", "c", 0, Tcp::GOOD)]);
    assert_eq!(asked(&well, &means(60)), Next::Enough(Ending::Healthy));
    let ill = round(vec![tcp("a", "c", 0, LOSSES)]);
    assert_eq!(asked(&ill, &means(1)), Next::Enough(Ending::NoTime));
    let nobody = Means { left: Duration::from_secs(60), ..Means::default() };
    assert_eq!(asked(&ill, &nobody), Next::Enough(Ending::NothingLeft));
}

#[test]
fn what_a_person_reads_has_the_tests_that_were_asked_for() {
    let mut round = round(vec![tcp("a", "c", 0, LOSSES), tcp("c", "a", 1, Tcp::GOOD)]);
    let suffers = |_: &Task, way: &[Passage]| way.contains(&long());
    examined(&mut round, 30, &suffers, LOSSES);
    let diagnosis = conclude(&round, weigh(&round, Catalogue::built_in(), &Rules::built_in()));
    let tells = &diagnosis.problems[0].ranking[0];
    let all: Vec<&String> = tells.speaks_for.iter().chain(&tells.speaks_against).collect();
    let asked_for = |says: &&&String| round.tests[2..].iter().any(|tested| says.starts_with(&tested.label));
    assert!(all.iter().any(|says| asked_for(&says)), "{all:#?}");
}
