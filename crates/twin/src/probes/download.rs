//! Downloads of a file over HTTP, directly or through proxies.

use std::net::SocketAddr;
use std::time::Duration;

use model::measurement::Heading;
use model::probe::download::{Answer, Download, DownloadSpec, DownloadTimes};
use model::run::{Failure, FailureKind, Outcome};
use model::spec::{Limit, TestSpec};
use path::Seed;
use scenario::{Http, Proxy, ServiceKind};
use units::{ByteCount, DataRate};

use super::Asked;
use crate::flow::OneWay;
use crate::flow::run::{Leg, transfer};
use crate::network::Network;

/// Fetches a file from a host as often as the test asks. Returns the downloads, and how long they took together.
pub(crate) fn downloads(
    network: &mut Network<'_>,
    ends: [usize; 2],
    http: &Http,
    asked: Asked,
) -> (Vec<Download>, Duration) {
    let mut found = Vec::new();
    let mut took = Duration::ZERO;
    for number in 0..http.count {
        let asked = Asked { seed: asked.seed.part(u64::from(number)), ..asked };
        let download = one(network, ends, http, asked, number);
        took += download.times.total;
        found.push(download);
    }
    (found, took)
}

/// What serves a file on a host, and the legs on which it comes.
struct Served {
    size: ByteCount,
    port: u16,
    /// The last leg ends at whoever asked.
    legs: Vec<Leg>,
    /// Who passed it on, the nearest to the server first.
    via: Vec<usize>,
}

fn served(network: &Network<'_>, [from, to]: [usize; 2], file: &str, turn: Turn) -> Option<Served> {
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
            Some(Served { size, port: own.port, legs: vec![Leg::new(to, from)], via: Vec::new() })
        }
        ServiceKind::Proxy(proxy) => {
            let size = files_of(proxy.origin)?;
            let (legs, via) = through(proxy, [to, from], turn)?;
            Some(Served { size, port: own.port, legs, via })
        }
    }
}

/// Which of several downloads it is, and the seed of its draws.
#[derive(Debug, Clone, Copy)]
struct Turn {
    number: u32,
    seed: Seed,
}

/// The front end deals over its nodes in turn; a node that does not have the file asks the next one.
fn through(proxy: &Proxy, [front, client]: [usize; 2], turn: Turn) -> Option<(Vec<Leg>, Vec<usize>)> {
    let Turn { number, seed } = turn;
    let place = number as usize % proxy.over.len().max(1);
    let node = *proxy.over.get(place)?;
    #[expect(clippy::cast_precision_loss, reason = "a draw")]
    let draw = (seed.part(u64::from(number)).0 >> 11) as f64 / (1_u64 << 53) as f64;
    let is_rerouted = draw < proxy.rerouted;
    let mut legs = Vec::new();
    let mut via = Vec::new();
    if is_rerouted {
        let next = *proxy.over.get((place + 1) % proxy.over.len())?;
        legs.push(Leg::new(proxy.origin, next));
        legs.push(Leg { overlay: proxy.overlay, ..Leg::new(next, node) });
        via.push(next);
    } else {
        legs.push(Leg::new(proxy.origin, node));
    }
    legs.push(Leg::new(node, front));
    legs.push(Leg::new(front, client));
    // What a node has itself crosses no link before it.
    legs.retain(|leg| leg.sender != leg.receiver);
    via.push(node);
    via.push(front);
    Some((legs, via))
}

fn one(network: &mut Network<'_>, ends: [usize; 2], http: &Http, asked: Asked, number: u32) -> Download {
    let Asked { target, seed, .. } = asked;
    let served = served(network, ends, &http.file, Turn { number, seed });
    let port = served.as_ref().map_or(80, |served| served.port);
    let mut download = Download {
        subject: asked.subject(),
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
    let one_way = OneWay { spec: &spec, heading: Heading::Inbound };
    for (number, leg) in served.legs.iter().enumerate() {
        let Some(leg) = transfer(network, *leg, one_way, seed.part(number as u64)) else {
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
        served_by: served.legs.first().map(|leg| name(&leg.sender)),
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
