//! A hub whose clock is an hour from its agents'.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use hub::agent::directory::{Directory as AgentDirectory, Limits};
use hub::agent::join::{Joining, join};
use hub::agent::run::{Options, Watch, run};
use hub::api::record::{RunResult, content};
use hub::server::directory::{Directory, Settings};
use hub::server::log::Log;
use hub::server::state::Hub;
use hub::store::rows::{RecordQuery, TokenRow};
use hub::store::sqlite::Sqlite;
use hub::trust::secret;
use hub::trust::token::{Purpose, Secret, Token};
use linux::netns::in_fresh_netns;
use measure::stop::Stop;
use mesh::clock;
use model::played::Finding;
use tempfile::TempDir;
use tokio::sync::watch;
use units::WallTime;

use super::world::{AGENTS, PLAN};
use crate::actors::process::PATIENCE;

fn an_hour_ahead() -> WallTime {
    clock::later(linux::clock::wall_now(), HOUR)
}

fn an_hour_behind() -> WallTime {
    clock::earlier(linux::clock::wall_now(), HOUR)
}

const HOUR: Duration = Duration::from_secs(3_600);

/// A hub with this calendar and two agents with this host's, until each agent has delivered a result: what they measured.
fn results(calendar: fn() -> WallTime) -> Vec<RunResult> {
    let place = TempDir::new().unwrap();
    let files = Directory::at(&place.path().join("hub"));
    let settings = Settings::new("127.0.0.1:8443".parse().unwrap(), vec!["127.0.0.1".to_owned()]);
    files.init(&settings, None).unwrap();
    let store = Box::new(Sqlite::open(&files.database()).unwrap());
    let (mut hub, identity) = Hub::new(files.open().unwrap(), store, Log::to(|_| {})).unwrap();
    Arc::get_mut(&mut hub).unwrap().calendar = calendar;
    let (end, ended) = watch::channel(false);
    let (listens, listening) = mpsc::channel();
    let stop = Stop::default();
    thread::scope(|scope| {
        scope.spawn(|| hub::server::serve(&hub, identity, &settings, ended, |_| listens.send(()).unwrap()).unwrap());
        listening.recv_timeout(PATIENCE).unwrap();
        for agent in AGENTS {
            let directory = place.path().join(agent);
            join_as(&hub, agent, &directory);
            let options = Options {
                directory,
                program: env!("CARGO_BIN_EXE_linerate").into(),
                watch: Watch::Off,
                transfers: Watch::Off,
                metrics: None,
            };
            let stop = &stop;
            scope.spawn(move || run(&options, stop, &|_| {}).unwrap());
        }
        hub.set_plan(PLAN.to_owned()).unwrap();
        let results = wait_for_both(&hub);
        stop.stop();
        end.send(true).unwrap();
        results
    })
}

fn join_as(hub: &Hub, agent: &str, directory: &Path) {
    let secret = Secret::new(secret::random().unwrap());
    let expires = WallTime::from_unix_nanos(u64::MAX / 2);
    hub.store.add_token(TokenRow { hash: secret.hash(), purpose: Purpose::Join, expires }).unwrap();
    let token = Token { purpose: Purpose::Join, secret, authority: hub.authority.fingerprint() };
    let url = "https://127.0.0.1:8443".parse().unwrap();
    let joining = Joining { hub: url, token, name: agent.to_owned(), address: None, limits: Limits::default() };
    join(&AgentDirectory::at(directory), &joining).unwrap();
}

fn wait_for_both(hub: &Hub) -> Vec<RunResult> {
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        let newest = |agent| {
            let query =
                RecordQuery { kind: "result", agent: Some(agent), since: WallTime::from_unix_nanos(0), most: 1 };
            hub.store.newest(query).unwrap().pop()
        };
        if let [Some(a), Some(b)] = AGENTS.map(newest) {
            return [a, b].map(|record| content(&record.content).unwrap()).into();
        }
        assert!(std::time::Instant::now() < until, "no result of both agents");
        thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn agents_whose_clocks_are_an_hour_off_run_the_plan_and_date_results_by_the_hubs() {
    for calendar in [an_hour_ahead as fn() -> WallTime, an_hour_behind] {
        let results = in_fresh_netns(|| results(calendar)).unwrap();
        for result in results {
            let Finding::Run(run) = &result.finding else { panic!("{result:#?}") };
            assert!(run.measurement.is_some(), "{run:#?}");
            let apart = clock::between(result.began, calendar()).max(clock::between(calendar(), result.began));
            assert!(apart < HOUR / 2, "began {apart:?} from the hub's time");
        }
    }
}
