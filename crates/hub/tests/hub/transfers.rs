//! Rates of transfers that agents deliver: a drop is an incident without a test, and the hub asks for one.

use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use hub::agent::connection::{Call, Connection};
use hub::api::Nothing;
use hub::api::mesh::{Pairs, PlanInfo, PlanText};
use hub::api::record::{Delivery, Receipt, Record, RecordKind, Verdict};
use hub::trust::token::Purpose;
use mesh::incident::{Incident, Metric};
use model::measurement::Heading;
use model::transfer_rates::{PeerRate, RateLimit, TransferRates};
use tempfile::TempDir;
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::running::{Running, TwoHosts};
use crate::watching::incidents;

const PATIENCE: Duration = Duration::from_secs(60);
const PLAN: TwoHosts = TwoHosts { times: "every = \"24h\"", test: "kind = \"tcp\"\ntime = \"10s\"" };

struct Mesh {
    hub: Running,
    agent: Connection,
    _homes: [TempDir; 2],
    start: u64,
    minute: u64,
}

impl Mesh {
    fn start() -> Self {
        let hub = Running::start();
        let homes = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        for (home, name) in homes.iter().zip(["a", "b"]) {
            hub.join(home.path(), name, hub.token(Purpose::Join)).unwrap();
        }
        let mut person = hub.person(&hub.token(Purpose::Operate));
        let call = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
        let info: PlanInfo = person.call(&call, &PlanText { text: PLAN.text() }).unwrap();
        assert_eq!(info.agents, ["a", "b"]);
        let agent = hub.agent(homes[0].path());
        let start = hub.hub.now().unix_seconds() - 7_200;
        Self { hub, agent, _homes: homes, start, minute: 0 }
    }

    /// Host a delivers what it sent to a peer in a minute.
    fn minute(&mut self, peer: &str, mbit: u64, limited_by: RateLimit) {
        self.minute += 1;
        let noise = self.minute * 7 % 11;
        let peer: IpAddr = peer.parse().unwrap();
        let rate = PeerRate {
            peer,
            prefix: "198.51.100.0/24".to_owned(),
            heading: Heading::Outbound,
            rate: DataRate::from_bps((mbit * 100 + noise) * 10_000),
            moved: ByteCount::new(50_000_000),
            intervals: 60,
            retransmits: PacketCount::new(0),
            limited_by,
        };
        let start = WallTime::from_unix_nanos((self.start + self.minute * 60) * 1_000_000_000);
        let length = Duration::from_secs(60);
        let rates = TransferRates { format: TransferRates::FORMAT, start, length, peers: vec![rate], left_out: 0 };
        let content = serde_json::to_vec(&rates).unwrap();
        let record = Record::pack(format!("transfers-{}", self.minute), RecordKind::Transfers, &content, None).unwrap();
        let call = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
        let receipt: Receipt = self.agent.call(&call, &Delivery { records: vec![record] }).unwrap();
        assert_eq!(receipt.verdicts, [Verdict::Stored]);
    }

    /// Waits until the hub has judged all that was delivered, and returns the names of the ends of series.
    fn judged(&self) -> Vec<(String, String)> {
        let mut person = self.hub.person(&self.hub.token(Purpose::View));
        let call = Call { method: "GET", path: "/api/v1/pairs", patience: PATIENCE };
        let until = Instant::now() + PATIENCE;
        loop {
            let pairs: Pairs = person.call(&call, &Nothing {}).unwrap();
            assert!(pairs.series.iter().all(|info| info.series.metric == Metric::TransferRate), "{pairs:?}");
            if pairs.series.iter().map(|info| info.results).sum::<u64>() == self.minute {
                return pairs.series.into_iter().map(|info| (info.series.from, info.series.to)).collect();
            }
            assert!(Instant::now() < until, "{pairs:?}");
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    fn incident(&self, what: &str, holds: impl Fn(&Incident) -> bool) -> Incident {
        let until = Instant::now() + PATIENCE;
        loop {
            let known = incidents(&self.hub);
            if let Some(found) = known.iter().find(|incident| holds(incident)) {
                return found.clone();
            }
            assert!(Instant::now() < until, "{what}: {known:#?}");
            thread::park_timeout(Duration::from_millis(20));
        }
    }
}

fn pair(from: &str, to: &str) -> (String, String) {
    (from.to_owned(), to.to_owned())
}

#[test]
fn a_drop_between_hosts_of_the_plan_is_an_incident_and_one_test_is_asked_for() {
    let mut mesh = Mesh::start();
    (0..24).for_each(|_| mesh.minute("192.0.2.2", 900, RateLimit::Transport));
    assert_eq!(mesh.judged(), [pair("a", "b")]);
    assert!(incidents(&mesh.hub).is_empty());
    (0..4).for_each(|_| mesh.minute("192.0.2.2", 90, RateLimit::Transport));
    let incident = mesh.incident("the next test", |incident| incident.next_test().is_some());
    assert!(incident.is_of_transfers(), "{incident:#?}");
    let run = incident.next_test().unwrap();
    assert!(run.starts_with("tcp@all/a/b/") && run.contains("asked"), "{run}");
    mesh.judged();
    // It goes on to be slow: it stays one incident with one test.
    (0..4).for_each(|_| mesh.minute("192.0.2.2", 90, RateLimit::Transport));
    mesh.judged();
    let known = incidents(&mesh.hub);
    assert_eq!(known.iter().map(Incident::next_test).collect::<Vec<_>>(), [Some(run)]);
}

#[test]
fn what_a_program_has_limited_opens_nothing_and_other_networks_are_known_by_their_prefix() {
    let mut mesh = Mesh::start();
    (0..24).for_each(|_| mesh.minute("198.51.100.7", 900, RateLimit::Transport));
    (0..6).for_each(|_| mesh.minute("198.51.100.7", 90, RateLimit::Program));
    assert_eq!(mesh.judged(), [pair("a", "198.51.100.0/24")]);
    assert!(incidents(&mesh.hub).is_empty());
    (0..4).for_each(|_| mesh.minute("198.51.100.9", 90, RateLimit::Transport));
    let incident = mesh.incident("an incident", |_| true);
    // No test of the plan goes there.
    assert!(incident.is_of_transfers() && incident.next_test().is_none(), "{incident:#?}");
}
