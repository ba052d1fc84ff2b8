//! Downloads of a file over HTTP, directly or through proxies.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use model::measurement::Heading;
use model::probe::download::{Answer, Download, DownloadSpec, DownloadTimes};
use model::run::{Failure, FailureKind, Outcome};
use model::spec::{Limit, TestSpec};
use path::Seed;
use scenario::{Http, Proxy, ServiceKind};
use units::{ByteCount, DataRate, WallTime};

use super::subject;
use crate::flow::run::transfer;
use crate::network::Network;

/// Fetches a file from a host as often as the test asks. Returns the downloads, and how long they took together.
pub(crate) fn downloads(
    network: &mut Network<'_>,
    (from, to): (usize, usize),
    http: &Http,
    (target, started, seed): (IpAddr, WallTime, Seed),
) -> (Vec<Download>, Duration) {
    let mut found = Vec::new();
    let mut took = Duration::ZERO;
    for number in 0..http.count {
        let seed = seed.part(u64::from(number));
        let download = one(network, (from, to), http, (target, started, seed, number));
        took += download.times.total;
        found.push(download);
    }
    (found, took)
}

/// What serves a file on a host, and the legs on which it comes.
struct Served {
    size: ByteCount,
    port: u16,
    /// From whom to whom, over which overlay; the last leg ends at whoever asked.
    legs: Vec<(usize, usize, Option<usize>)>,
    /// Who passed it on, the nearest to the server first.
    via: Vec<usize>,
}

fn served(
    network: &Network<'_>,
    (from, to): (usize, usize),
    file: &str,
    (seed, number): (Seed, u32),
) -> Option<Served> {
    let services = &network.scenario.services;
    let files_of = |host: usize| {
        services.iter().find_map(|service| match &service.kind {
            ServiceKind::Files(files) if service.host == host => files.get(file).copied(),
            _ => None,
        })
    };
    let own = services.iter().find(|service| service.host == to && !matches!(service.kind, ServiceKind::Serve))?;
    match &own.kind {
        ServiceKind::Serve => None,
        ServiceKind::Files(files) => {
            let size = files.get(file).copied()?;
            Some(Served { size, port: own.port, legs: vec![(to, from, None)], via: Vec::new() })
        }
        ServiceKind::Proxy(proxy) => {
            let size = files_of(proxy.origin)?;
            let (legs, via) = through(proxy, (to, from), (seed, number))?;
            Some(Served { size, port: own.port, legs, via })
        }
    }
}

type Legs = Vec<(usize, usize, Option<usize>)>;

/// The front end deals over its nodes in turn; a node that does not have the file asks the next one.
fn through(proxy: &Proxy, (front, client): (usize, usize), (seed, number): (Seed, u32)) -> Option<(Legs, Vec<usize>)> {
    let turn = number as usize % proxy.over.len().max(1);
    let node = *proxy.over.get(turn)?;
    #[expect(clippy::cast_precision_loss, reason = "a draw")]
    let draw = (seed.part(u64::from(number)).0 >> 11) as f64 / (1_u64 << 53) as f64;
    let is_rerouted = draw < proxy.rerouted;
    let mut legs = Vec::new();
    let mut via = Vec::new();
    if is_rerouted {
        let next = *proxy.over.get((turn + 1) % proxy.over.len())?;
        legs.push((proxy.origin, next, None));
        legs.push((next, node, proxy.overlay));
        via.push(next);
    } else {
        legs.push((proxy.origin, node, None));
    }
    legs.push((node, front, None));
    legs.push((front, client, None));
    via.push(node);
    via.push(front);
    Some((legs, via))
}

fn one(
    network: &mut Network<'_>,
    (from, to): (usize, usize),
    http: &Http,
    (target, started, seed, number): (IpAddr, WallTime, Seed, u32),
) -> Download {
    let served = served(network, (from, to), &http.file, (seed, number));
    let port = served.as_ref().map_or(80, |served| served.port);
    let mut download = Download {
        subject: subject(target, started),
        spec: DownloadSpec::of(format!("http://{target}:{port}/{}", http.file)),
        outcome: Outcome::Failed(Failure { kind: FailureKind::Refused, detail: "no such file".to_owned() }),
        local_address: None,
        peer_address: Some(SocketAddr::new(target, port)),
        answer: None,
        times: DownloadTimes { total: Duration::from_millis(10), ..DownloadTimes::default() },
        body: ByteCount::ZERO,
        goodput: None,
        overall: None,
        tcp: Vec::new(),
        congestion_control: None,
    };
    let Some(served) = served else { return download };
    // Model: pieces are passed on as they come, so the slowest leg sets the rate, and each one its round trips before.
    let spec = TestSpec { limit: Limit::Bytes(served.size), ..TestSpec::default() };
    let (mut slowest, mut before, mut arrived) = (Duration::ZERO, Duration::ZERO, served.size);
    for (number, (sender, receiver, overlay)) in served.legs.iter().enumerate() {
        let ends = ((*sender, *receiver), *overlay);
        let Some(leg) = transfer(network, ends, (&spec, Heading::Inbound), seed.part(number as u64)) else {
            return download;
        };
        slowest = slowest.max(leg.took);
        before += leg.handshake * 2;
        arrived = arrived.min(leg.delivered);
    }
    let name = |host: &usize| network.blueprint.hosts[*host].name.clone();
    let total = before + slowest;
    download.outcome = if arrived >= served.size {
        Outcome::Complete
    } else {
        Outcome::Failed(Failure { kind: FailureKind::Lost, detail: "the file did not come to its end".to_owned() })
    };
    download.answer = Some(Answer {
        status: 200,
        content_length: Some(served.size),
        served_by: served.legs.first().map(|(origin, ..)| name(origin)),
        via: served.via.iter().map(|host| format!("1.1 {}", name(host))).collect(),
    });
    download.times =
        DownloadTimes { resolved: Some(Duration::ZERO), connected: Some(before / 2), first_byte: Some(before), total };
    download.body = arrived;
    download.goodput = DataRate::of(arrived, slowest);
    download.overall = DataRate::of(arrived, total);
    download.congestion_control = Some("cubic".to_owned());
    download
}
