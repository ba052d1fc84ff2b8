//! Which pairs are tested, and with what (docs/incidents.md, "What is tested").

use super::draw::{Draw, whole};
use super::network::Network;

/// A pair of hosts that are tested, in the direction of its data.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The links from one to the other, each with its direction.
    pub(super) path: Vec<(usize, usize)>,
    /// In bit/s.
    pub(super) rate: f64,
    /// In seconds.
    pub(super) rtt: f64,
}

/// A test as it is written.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) pair: usize,
    pub(super) kind: &'static str,
    /// Other keys.
    pub(super) keys: Vec<String>,
    pub(super) length: f64,
}

/// Pairs between which it is tested; at least one.
pub(super) fn pairs(network: &Network, draw: &mut Draw) -> Vec<Pair> {
    let testing = network.testing();
    if testing.len() >= LEAST_OF_GRID && draw.is(GRIDS) {
        return grid(network, &testing, draw);
    }
    let wanted = usize::try_from(whole(draw.log([1.0, 6.0]))).unwrap_or(1).max(1);
    let mut pairs: Vec<Pair> = Vec::new();
    for _ in 0..wanted * 8 {
        let (from, to) = (testing[draw.below(testing.len())], testing[draw.below(testing.len())]);
        if from == to || pairs.iter().any(|pair| (pair.from, pair.to) == (from, to)) {
            continue;
        }
        pairs.push(pair(network, [from, to]));
        if pairs.len() == wanted {
            break;
        }
    }
    if pairs.is_empty() {
        pairs.push(pair(network, [testing[0], testing[1]]));
    }
    pairs
}

/// All pairs of four to six hosts, as a mesh measures them.
fn grid(network: &Network, testing: &[usize], draw: &mut Draw) -> Vec<Pair> {
    let wanted = (LEAST_OF_GRID + draw.below(3)).min(testing.len());
    let mut hosts: Vec<usize> = Vec::new();
    while hosts.len() < wanted {
        let host = testing[draw.below(testing.len())];
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let ends = hosts.iter().flat_map(|from| hosts.iter().map(|to| [*from, *to]));
    ends.filter(|[from, to]| from != to).map(|ends| pair(network, ends)).collect()
}

fn pair(network: &Network, [from, to]: [usize; 2]) -> Pair {
    let path = network.path([from, to]);
    let (rate, rtt) = (network.rate_of(&path), network.rtt_of(&path));
    Pair { from, to, path, rate, rtt }
}

/// The tests of all pairs, one after the other.
pub(super) fn tests(network: &Network, pairs: &[Pair], draw: &mut Draw) -> Vec<Test> {
    if pairs.len() > MOST_PAIRS {
        return pairs.iter().enumerate().map(|(number, pair)| tcp(pair, number, &[])).collect();
    }
    let mut tests = Vec::new();
    for (number, pair) in pairs.iter().enumerate() {
        if draw.is(0.5) {
            let keys = vec!["count = 20".to_owned(), "interval = \"50ms\"".to_owned()];
            tests.push(Test { pair: number, kind: "ping", keys, length: 1.0 });
            if network.mtu > 1_500 {
                let keys = vec!["size = \"8000B\"".to_owned(), "label = \"large echoes\"".to_owned()];
                tests.push(Test { pair: number, kind: "ping", keys, length: 1.0 });
            }
        }
        if draw.is(0.25) {
            tests.push(Test { pair: number, kind: "mtu", keys: Vec::new(), length: 1.0 });
        }
        if draw.is(0.2) {
            tests.push(hops(number));
        }
        tests.push(tcp(pair, number, &[]));
        if draw.is(0.4) {
            tests.push(tcp(pair, number, &["reverse = true"]));
        }
        if draw.is(0.25) {
            tests.push(udp(pair, number, 0.2));
        }
        if draw.is(0.15) {
            tests.push(streams(pair, number));
        }
        if draw.is(0.1) {
            let mss = if network.mtu > 1_500 { "mss = 1448" } else { "mss = 1000" };
            tests.push(tcp(pair, number, &[mss, "label = \"small segments\""]));
        }
    }
    tests
}

/// The routers on the way.
pub(super) fn hops(number: usize) -> Test {
    Test { pair: number, kind: "hops", keys: Vec::new(), length: 1.0 }
}

/// Downloads of one file by a proxy; the ends are among the keys.
pub(super) fn downloads([from, to]: [&str; 2]) -> Test {
    let keys = [("from", from), ("to", to), ("file", "cube.fits")].map(|(key, value)| format!("{key} = \"{value}\""));
    let keys = keys.into_iter().chain(["count = 10".to_owned()]).collect();
    Test { pair: 0, kind: "http", keys, length: 10.0 }
}

/// A test of one stream.
pub(super) fn tcp(pair: &Pair, number: usize, keys: &[&str]) -> Test {
    let length = (40.0 * pair.rtt).clamp(3.0, 8.0);
    let mut all = vec![format!("time = \"{}ms\"", whole(length * 1e3)), "sample-every = \"20ms\"".to_owned()];
    all.push("probe-every = \"20ms\"".to_owned());
    all.extend(keys.iter().map(|key| (*key).to_owned()));
    Test { pair: number, kind: "tcp", keys: all, length }
}

/// Tests a pair before all that is tested already, and again behind it: what changes in between shows.
pub(super) fn before_and_after(tests: &mut Vec<Test>, pair: &Pair, number: usize) {
    tests.insert(0, tcp(pair, number, &[]));
    tests.push(tcp(pair, number, &[]));
}

/// Eight streams.
pub(super) fn streams(pair: &Pair, number: usize) -> Test {
    tcp(pair, number, &["streams = 8", "label = \"eight streams\""])
}

/// A transfer of so many bytes, which is over after a few round trips.
pub(super) fn short(pair: &Pair, number: usize, bytes: &str) -> Test {
    let every = ["sample-every = \"5ms\"", "probe-every = \"20ms\""].map(str::to_owned);
    Test {
        pair: number,
        kind: "tcp",
        keys: every.into_iter().chain([bytes.to_owned()]).collect(),
        length: 20.0 * pair.rtt,
    }
}

/// A connection that is used once in so many seconds, four times.
pub(super) fn seldom(number: usize, idle: f64) -> Test {
    let length = 4.5 * idle;
    let rate = format!("{}bit/s", whole(8.0 * SELDOM / idle));
    let keys = vec![
        format!("time = \"{}ms\"", whole(length * 1e3)),
        format!("rate = \"{rate}\""),
        format!("length = \"{}B\"", whole(SELDOM)),
        "sample-every = \"100ms\"".to_owned(),
        format!("expect = \"{rate}\""),
    ];
    Test { pair: number, kind: "tcp", keys, length }
}

/// Datagrams at a part of the rate.
pub(super) fn udp(pair: &Pair, number: usize, part: f64) -> Test {
    let rate = format!("rate = \"{}kbit/s\"", whole(pair.rate * part / 1e3));
    let keys = vec!["time = \"3s\"".to_owned(), rate, "no-gso = true".to_owned(), "length = \"1400B\"".to_owned()];
    Test { pair: number, kind: "udp", keys, length: 3.0 }
}

/// Bytes of each write of a connection that is seldom used.
const SELDOM: f64 = 10_000.0;
/// How often a mesh is measured.
const GRIDS: f64 = 0.08;
const LEAST_OF_GRID: usize = 4;
/// Pairs of a round that is no mesh.
const MOST_PAIRS: usize = 6;
