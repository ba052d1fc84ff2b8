//! The next test of a diagnosis as commands that can be typed: to the peer of the run that is affected, by its port and options.

use diagnose::waterfall::facts::{again, typed};
use model::measurement::Heading;
use model::run::Run;
use model::spec::{Direction, Family, Limit, Protocol, TestSpec};
use units::DataRate;
use units::duration::show;

/// The commands of a cause for this run; those that need what the run does not have are left out.
pub fn commands(run: &Run, templates: &[String]) -> Vec<String> {
    templates.iter().filter_map(|template| filled(run, template)).collect()
}

/// One of them. The words in braces are those of `commands` in the catalogue of causes.
fn filled(run: &Run, template: &str) -> Option<String> {
    let spec = &run.spec;
    let heading = match spec.direction {
        Direction::Forward | Direction::Bidirectional => Heading::Outbound,
        Direction::Reverse => Heading::Inbound,
    };
    let goodput = goodput(run, heading);
    // Both senders send in a test of both directions.
    let heading = if template.contains("--bidir") { Heading::Outbound } else { heading };
    let streams = u64::from(if template.contains("{test}") { spec.streams.max(1) } else { 1 });
    let rate = |percent: u64| {
        let part = goodput?.bps().checked_mul(percent)? / 100 / streams;
        Some(typed(DataRate::from_bps(part.max(LEAST_RATE))))
    };
    let mut command = template.to_owned();
    for (word, percent) in [("{rate}", 100), ("{below}", 90), ("{half}", 50)] {
        if command.contains(word) {
            command = command.replace(word, &rate(percent)?);
        }
    }
    let test = again(run, heading);
    let host = test.strip_prefix("linerate test ")?.split(' ').next()?.to_owned();
    command = command.replace("{test}", &format!("{test}{}", options(spec, template)));
    command = command.replace("{datagrams}", &format!("{test} --udp"));
    command = command.replace("{plain}", &test);
    Some(command.replace("{host}", &format!("{host}{}", place(spec))))
}

/// The options of the run that make it this test, but for those that the template gives.
fn options(spec: &TestSpec, template: &str) -> String {
    let usual = TestSpec::default();
    let mut options = String::new();
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|_| !template.contains(name)) {
            options.push_str(&format!(" {name} {value}"));
        }
    };
    option("--streams", (spec.streams != usual.streams).then(|| spec.streams.to_string()));
    option(
        "--time",
        match spec.limit {
            Limit::Time(time) if spec.limit != usual.limit && !time.is_zero() => Some(show(time).replace(' ', "")),
            Limit::Time(_) | Limit::Bytes(_) | Limit::Blocks(_) => None,
        },
    );
    if spec.protocol == Protocol::Tcp {
        option("--cca", spec.congestion_control.clone());
        option("--mss", spec.mss.map(|mss| mss.get().to_string()));
    }
    options
}

/// Where and by which family a probe goes to the same host.
fn place(spec: &TestSpec) -> String {
    let family = match spec.family {
        Some(Family::Ipv4) => " --ipv4",
        Some(Family::Ipv6) => " --ipv6",
        None => "",
    };
    let netns = spec.place.netns.as_ref().map_or_else(String::new, |netns| format!(" --netns {netns}"));
    format!("{family}{netns}")
}

fn goodput(run: &Run, heading: Heading) -> Option<DataRate> {
    let totals = &run.measurement.as_ref()?.totals;
    Some(totals.iter().find(|total| total.heading == heading)?.goodput).filter(|rate| rate.bps() > 0)
}

/// No test is asked for at a lower rate.
const LEAST_RATE: u64 = 1_000;

#[cfg(test)]
mod tests {
    use clap::Parser;
    use diagnose::causes::Catalogue;

    use super::*;
    use crate::cli::Cli;

    fn run() -> Run {
        let round = include_str!("../../../../testdata/rounds/nrao-overlay.json");
        let round: model::round::Round = serde_json::from_str(round).expect("a kept round");
        let mut runs = round.tests.into_iter().filter_map(|tested| match tested.finding {
            model::played::Finding::Run(run) if run.spec.protocol == Protocol::Tcp => Some(*run),
            _ => None,
        });
        runs.find(|run| goodput(run, Heading::Outbound).is_some()).expect("a run with a result")
    }

    /// The command with the run's own options, as somebody has to be able to paste it.
    #[test]
    fn a_paced_test_keeps_port_netns_and_options_of_the_run() {
        let mut run = run();
        run.peer.target = "10.88.2.2".to_owned();
        run.peer.address = Some("10.88.2.2:5301".to_owned());
        run.spec = TestSpec { streams: 2, congestion_control: Some("reno".to_owned()), ..TestSpec::default() };
        run.spec.place.netns = Some("ingress".to_owned());
        let measurement = run.measurement.as_mut().expect("a result");
        for total in &mut measurement.totals {
            total.goodput = DataRate::from_bps(200_000_000);
        }
        let typed = commands(&run, &["{test} --pace {below}".to_owned(), "linerate probe mtu {host}".to_owned()]);
        assert_eq!(
            typed[0],
            "linerate test 10.88.2.2 --port 5301 --netns ingress --streams 2 --cca reno --pace 90.0Mbit/s"
        );
        assert_eq!(typed[1], "linerate probe mtu 10.88.2.2 --netns ingress");
    }

    #[test]
    fn every_command_of_the_catalogue_is_one_that_linerate_takes() {
        let mut run = run();
        run.peer.target = "10.88.2.2".to_owned();
        run.peer.address = Some("10.88.2.2:5301".to_owned());
        run.spec = TestSpec { streams: 2, ..TestSpec::default() };
        let mut seen = 0;
        for cause in Catalogue::built_in().all() {
            for command in commands(&run, &cause.commands) {
                assert!(!command.contains('{'), "{}: a word that is not filled in: {command}", cause.id);
                if let Err(error) = Cli::try_parse_from(command.split(' ')) {
                    panic!("{}: `{command}`: {error}", cause.id);
                }
                seen += 1;
            }
        }
        assert!(seen >= 30, "the catalogue has {seen} commands");
    }
}
