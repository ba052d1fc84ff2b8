//! One interval put together.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use linux::{clock, host, netns, random};
use model::host::HostIdentity;
use model::measurement::Heading;
use model::run::RunId;
use model::series::RunSamples;
use model::transfer::{FlowInterval, SocketOwner, Transfer, WatchedFlow};
use passive::flows::finish::{Surroundings, canonical};
use passive::flows::span::Span;
use passive::flows::table::{Activity, Ended, Table};
use passive::flows::talkers::{self, Share};
use units::{ByteCount, DataRate, MonoTime, PacketCount, WallTime};

use super::expectations::Expectations;
use super::owners::{Owners, SocketFile};
use super::request::Request;

/// What intervals are made with.
#[derive(Debug)]
pub(super) struct Reporter {
    host: String,
    namespace: Option<String>,
    declared: Option<DataRate>,
    shown: usize,
    owners: Owners,
    expectations: Expectations,
    identities: HashMap<IpAddr, HostIdentity>,
    /// What is not seen whatever happens.
    not_seen: Vec<String>,
    losses: LossEvents,
    mark: (MonoTime, WallTime),
}

/// Whether the kernel's events of losses are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LossEvents {
    Read,
    Denied,
}

impl Reporter {
    pub(super) fn new(request: &Request, not_seen: Vec<String>, losses: LossEvents) -> Self {
        Self {
            host: host::hostname(),
            namespace: request.namespace.as_ref().map(ToString::to_string),
            declared: request.line_rate,
            shown: request.shown,
            owners: Owners::default(),
            expectations: Expectations::default(),
            identities: HashMap::new(),
            not_seen,
            losses,
            mark: (clock::now(), clock::wall_now()),
        }
    }

    /// Transfers that ended, with their samples.
    pub(super) fn transfers(&mut self, ended: Vec<Ended>, now: MonoTime) -> Vec<(Transfer, RunSamples)> {
        self.owners.search(ended.iter().map(|each| each.inode), now);
        let transfers = ended.into_iter().map(|each| {
            let owner = self.owners.of(SocketFile { inode: each.inode, uid: each.uid });
            let (mut transfer, samples) = self.transfer(each.span, Some(owner), now);
            transfer.expected = self.expectations.of(&transfer, now);
            (transfer, samples)
        });
        transfers.collect()
    }

    fn transfer(&mut self, span: Span, owner: Option<SocketOwner>, now: MonoTime) -> (Transfer, RunSamples) {
        let wall = clock::wall_now();
        let random = random::bytes().map_or(u128::from(now.as_nanos()), u128::from_ne_bytes);
        let around = Surroundings {
            id: RunId::new(wall, random),
            mono: now,
            wall,
            host: self.identity(span.ends.local),
            namespace: self.namespace.clone(),
            owner,
            declared_line_rate: self.declared,
        };
        span.transfer(around)
    }

    /// This host with the device that has an address, read once.
    fn identity(&mut self, local: SocketAddr) -> HostIdentity {
        if self.identities.len() > MOST_ADDRESSES {
            self.identities.clear();
        }
        let address = local.ip().to_canonical();
        self.identities.entry(address).or_insert_with(|| measure::identity::local(Some(address))).clone()
    }

    /// What the interval that ends now shows.
    pub(super) fn interval(&mut self, table: &mut Table, finished: &[(Transfer, RunSamples)]) -> FlowInterval {
        let (now, wall) = (clock::now(), clock::wall_now());
        let (since, start) = std::mem::replace(&mut self.mark, (now, wall));
        let length = now.since(since);
        let mut active = table.take_interval();
        active.sort_by_key(|each| (std::cmp::Reverse(each.sent.saturating_add(each.received)), each.cookie));
        self.owners.search(active.iter().take(MOST_NAMED).map(|each| each.inode), now);
        let shares: Vec<Share> = active.iter().enumerate().map(|(rank, each)| self.share(rank, each)).collect();
        let rate = |bytes: u64| DataRate::of(ByteCount::new(bytes), length).unwrap_or(DataRate::ZERO);
        let sum = |of: fn(&Activity) -> u64| active.iter().map(of).fold(0, u64::saturating_add);
        let shown: Vec<Activity> = active.iter().take(self.shown).copied().collect();
        let flows = shown.iter().map(|each| self.flow(table, each, length)).collect();
        let mut not_seen = self.not_seen.clone();
        if self.owners.has_hidden() {
            not_seen.push("programs behind some connections: root may look at the processes of all users".to_owned());
        }
        FlowInterval {
            format: FlowInterval::FORMAT,
            host: self.host.clone(),
            namespace: self.namespace.clone(),
            start,
            length,
            connections: table.len() as u64,
            outbound: rate(sum(|each| each.sent)),
            inbound: rate(sum(|each| each.received)),
            retransmits: PacketCount::new(sum(|each| each.retransmits)),
            flows,
            talkers: talkers::talkers(&shares, length, MOST_TALKERS),
            finished: finished.iter().map(|(transfer, _)| transfer.clone()).collect(),
            small_finished: table.take_small(),
            missed: table.missed(),
            not_seen,
        }
    }

    /// Programs are looked for behind the busiest connections only.
    fn share(&mut self, rank: usize, each: &Activity) -> Share {
        let owner = (rank < MOST_NAMED).then(|| self.owners.of(SocketFile { inode: each.inode, uid: each.uid }));
        let program = owner.and_then(|owner| owner.program.map(|program| format!("{program} ({})", owner.user)));
        let peer = each.ends.peer.ip().to_canonical();
        Share { peer, program, sent: each.sent, received: each.received, retransmits: each.retransmits }
    }

    fn flow(&mut self, table: &Table, each: &Activity, length: Duration) -> WatchedFlow {
        let now = clock::now();
        let outbound = each.sent >= each.received;
        let owner = self.owners.of(SocketFile { inode: each.inode, uid: each.uid });
        let recent = table.recent(each.cookie).map(|span| self.transfer(span, None, now).0);
        let (sent, received) = table.totals(each.cookie).unwrap_or_default();
        let moved = if outbound { each.sent } else { each.received };
        let heading = if outbound { Heading::Outbound } else { Heading::Inbound };
        WatchedFlow {
            local: canonical(each.ends.local),
            peer: canonical(each.ends.peer),
            owner: Some(owner),
            heading,
            goodput: DataRate::of(ByteCount::new(moved), length).unwrap_or(DataRate::ZERO),
            moved: if outbound { sent } else { received },
            retransmits: PacketCount::new(each.retransmits),
            losses: (self.losses == LossEvents::Read).then_some(each.losses),
            rtt: recent.as_ref().and_then(|recent| recent.rtt),
            expected: recent.as_ref().and_then(|recent| self.expectations.of(recent, now)),
            limits: recent.filter(|recent| recent.heading == heading).map(|recent| recent.limits).unwrap_or_default(),
        }
    }
}

/// How many other network namespaces processes of this host are in, as far as they may be looked at.
pub(super) fn other_namespaces() -> usize {
    let own = netns::current_inode().ok();
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let inodes = processes.filter_map(|process| {
        process.file_name().to_str()?.parse::<u32>().ok()?;
        fs::metadata(process.path().join("ns/net")).ok().map(|file| file.ino())
    });
    let mut others: Vec<u64> = inodes.filter(|inode| Some(*inode) != own).collect();
    others.sort_unstable();
    others.dedup();
    others.len()
}

const MOST_TALKERS: usize = 10;
const MOST_NAMED: usize = 100;
const MOST_ADDRESSES: usize = 256;
