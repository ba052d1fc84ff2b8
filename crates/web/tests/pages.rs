//! Pages over a real archive and over files, without a socket.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::io::Read as _;
use std::time::Duration;

use archive::Archive;
use model::measurement::{DirectionTotal, Heading, Measurement, SteadyState};
use model::played::Finding;
use model::round::{Endpoint, Member, Round, Tested};
use model::run::{Run, RunId};
use model::spec::TestSpec;
use units::{DataRate, PacketCount, WallTime};
use web::exchange::Request;
use web::site::Site;
use web::source::files::Files;
use web::source::kept::Kept;

fn round() -> Round {
    let mut with_script = Member::named("<script>alert(1)</script>");
    with_script.failure = Some("no answer".to_owned());
    Round {
        format: Round::FORMAT,
        id: RunId::new(WallTime::from_unix_nanos(1_700_000_000_000_000_000), 7),
        title: "two hosts".to_owned(),
        started: WallTime::from_unix_nanos(1_700_000_000_000_000_000),
        elapsed: Duration::from_secs(3),
        members: vec![Member::named("a"), with_script],
        segments: Vec::new(),
        tests: Vec::new(),
    }
}

fn of_files() -> Site {
    let mut files = Files::named("test");
    files.add_round(round());
    Site::new(Box::new(files), Vec::new())
}

fn json(site: &Site, address: &str) -> serde_json::Value {
    let response = site.answer(&Request::get(address));
    assert_eq!(response.status, 200, "{address}");
    serde_json::from_slice(&response.body).unwrap()
}

#[test]
fn files_and_archives_show_the_same_round() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path().join("a.db")).unwrap();
    archive.keep_round(&round()).unwrap();
    let kept = Site::new(Box::new(Kept::new(archive)), Vec::new());
    let id = round().id;
    for address in [format!("/view/v1/round/{id}"), format!("/view/v1/round/{id}/why")] {
        assert_eq!(json(&kept, &address), json(&of_files(), &address));
    }
    assert_eq!(json(&kept, "/view/v1/overview")["rounds"], json(&of_files(), "/view/v1/overview")["rounds"]);
}

#[test]
fn a_shell_holds_no_data_and_every_answer_has_the_policy() {
    let site = of_files();
    for address in ["/", "/pair?from=%3Cscript%3E&to=b", "/view/v1/overview", "/assets/../../etc/passwd", "/nothing"] {
        let response = site.answer(&Request::get(address));
        let policy = response.headers().into_iter().find(|(name, _)| *name == "content-security-policy").unwrap().1;
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{address}");
        let is_page = response.media.starts_with("text/html");
        assert!(!is_page || !String::from_utf8_lossy(&response.body).contains("alert(1)"), "{address}");
    }
    assert_eq!(site.answer(&Request::get("/assets/../Cargo.toml")).status, 404);
    assert_eq!(site.answer(&Request::get("/assets/app.js")).status, 200);
}

#[test]
fn what_is_not_there_is_refused_with_a_way_out() {
    for address in
        ["/view/v1/round/x", "/view/v1/run/01M7YBV61WD9A5DHCG4CFK32TT", "/view/v1/host?name=nobody", "/view/v1/pair"]
    {
        let response = of_files().answer(&Request::get(address));
        assert_eq!(response.status, 404, "{address}");
        let problem: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
        assert!(problem["error"].is_string() && problem["hint"].is_string(), "{address}");
    }
}

#[test]
fn a_period_without_results_is_an_empty_history() {
    let history = json(&of_files(), "/view/v1/pair?from=a&to=b&since_s=1&until_s=2");
    assert_eq!(history["results"], serde_json::json!([]));
    assert_eq!(history["levels"], serde_json::json!([]));
}

#[test]
fn ten_thousand_hosts_are_listed_in_part_and_the_rest_is_counted() {
    let mut files = Files::named("test");
    files.add_round(Round { members: (0..10_000).map(|at| Member::named(&format!("h{at:05}"))).collect(), ..round() });
    let site = Site::new(Box::new(files), Vec::new());
    let list = json(&site, "/view/v1/overview");
    assert_eq!(list["hosts"].as_array().unwrap().len(), 100);
    assert_eq!(list["more"]["hosts"], 9_900);
    assert_eq!(json(&site, "/view/v1/overview?search=h09999")["hosts"], serde_json::json!(["h09999"]));
}

/// Test number `number` between two hosts, over TCP.
fn tested(number: usize, ends: [usize; 2]) -> Tested {
    let [from, to] = ends.map(|at| Endpoint { host: format!("h{at:05}"), network: None });
    let run = serde_json::json!({
        "format": Run::FORMAT,
        "id": RunId::new(WallTime::from_unix_nanos(1_700_000_000_000_000_000), number as u128),
        "started_unix_ns": 1_700_000_000_000_000_000_u64,
        "role": "client",
        "command": [],
        "spec": TestSpec::default(),
        "local": {},
        "peer": { "target": "peer" },
        "outcome": { "state": "complete" },
    });
    let total = DirectionTotal {
        heading: Heading::Outbound,
        sent: None,
        received: None,
        elapsed: Duration::from_secs(10),
        goodput: DataRate::from_bps(900_000_000 - 10_000 * number as u64),
        retransmits: Some(PacketCount::new(number as u64)),
        datagrams: None,
        steady: SteadyState::NotReached,
    };
    let measurement = Some(Measurement { totals: vec![total], ..Measurement::default() });
    let run = Run { measurement, ..serde_json::from_value(run).unwrap() };
    Tested {
        label: "tcp".to_owned(),
        from,
        to,
        began: Duration::ZERO,
        expected: Some(DataRate::from_bps(1_000_000_000)),
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        samples: None,
        finding: Finding::Run(Box::new(run)),
    }
}

/// A round of two hosts with these tests.
fn of_two(tests: Vec<Tested>) -> Site {
    let mut files = Files::named("test");
    let members = ["h00000", "h00001"].map(Member::named).into();
    files.add_round(Round { members, tests, ..round() });
    Site::new(Box::new(files), Vec::new())
}

#[test]
fn a_round_is_opened_at_the_network_with_the_worst_pair() {
    let mut inside = tested(1, [1, 0]);
    inside.expected = Some(DataRate::from_bps(100_000_000_000));
    for end in [&mut inside.from, &mut inside.to] {
        end.network = Some("ingress".to_owned());
    }
    let opens = |tests| json(&of_two(tests), &format!("/view/v1/round/{}", round().id))["worst"].clone();
    assert_eq!(opens(vec![tested(0, [0, 1]), inside]), "goodput@ingress");
    assert!(opens(vec![tested(0, [0, 1])]).is_null(), "where all do what they should, the first grid is as good");
}

/// A round of ten thousand hosts with these tests.
fn ten_thousand(pairs: impl Iterator<Item = [usize; 2]>) -> Site {
    let mut files = Files::named("test");
    let members = (0..HOSTS).map(|at| Member::named(&format!("h{at:05}"))).collect();
    let tests = pairs.enumerate().map(|(number, ends)| tested(number, ends)).collect();
    files.add_round(Round { members, tests, ..round() });
    Site::new(Box::new(files), Vec::new())
}

#[test]
fn grids_of_a_round_of_ten_thousand_hosts_have_those_that_were_measured() {
    let site = ten_thousand([[3, 9_000], [9_000, 3], [3, 7]].into_iter());
    let id = round().id;
    let view = json(&site, &format!("/view/v1/round/{id}"));
    assert_eq!(view["hosts"].as_array().unwrap().len(), HOSTS);
    for metric in ["goodput", "retransmits"] {
        let grid = json(&site, &format!("/view/v1/round/{id}/grid?metric={metric}"));
        assert_eq!(grid["hosts"], serde_json::json!(["h00003", "h00007", "h09000"]), "{metric}");
    }
    assert_eq!(json(&site, &format!("/view/v1/round/{id}/why"))["problems"], serde_json::json!([]));
}

#[test]
fn a_round_of_ten_thousand_pairs_is_shown_by_its_worst() {
    // All pairs of it would be a hundred million cells of each grid.
    let site = ten_thousand((0..HOSTS).map(|from| [from, (from + 1) % HOSTS]));
    let id = round().id;
    let grid = json(&site, &format!("/view/v1/round/{id}/grid?metric=goodput"));
    let hosts: Vec<&str> = grid["hosts"].as_array().unwrap().iter().map(|host| host.as_str().unwrap()).collect();
    assert_eq!((hosts.len(), grid["hosts_left_out"].as_u64()), (1_500, Some(8_500)));
    // The later tests reached less.
    assert!(hosts.contains(&"h09999") && !hosts.contains(&"h05000"), "{hosts:?}");
    let worst = grid["worst"].as_array().unwrap();
    assert!(worst.iter().all(|pair| pair["from"].as_str().unwrap() > "h09000"), "{worst:?}");
    let grid = json(&site, &format!("/view/v1/round/{id}/grid?metric=retransmits"));
    assert_eq!(grid["hosts"].as_array().unwrap().len(), 1_500);
    assert!(json(&site, &format!("/view/v1/round/{id}/why"))["problems"].is_array());
}

const HOSTS: usize = 10_000;

#[test]
fn who_takes_gzip_gets_the_same_in_fewer_bytes_and_others_get_it_as_it_is() {
    let mut files = Files::named("test");
    files.add_round(Round { members: (0..10_000).map(|at| Member::named(&format!("h{at:05}"))).collect(), ..round() });
    let site = Site::new(Box::new(files), Vec::new());
    let asked = |address: &str, encodings: Option<&str>| {
        site.answer(&Request { encodings: encodings.map(str::to_owned), ..Request::get(address) })
    };
    let encoding = |response: &web::exchange::Response| {
        response.headers().into_iter().find(|(name, _)| *name == "content-encoding").map(|(_, value)| value)
    };
    for address in ["/view/v1/overview?limit=1000", "/assets/app.js", "/assets/vendor/uPlot.iife.min.js"] {
        let (plain, packed) = (asked(address, None), asked(address, Some("br, gzip;q=0.8")));
        assert_eq!((encoding(&plain), encoding(&packed).as_deref()), (None, Some("gzip")), "{address}");
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(packed.body.as_ref()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain.body.as_ref(), "{address}");
        assert!(packed.body.len() < plain.body.len() / 2, "{address}: {} of {}", packed.body.len(), plain.body.len());
        // A browser that keeps both keeps them apart.
        assert!(plain.tag.is_none() || plain.tag != packed.tag, "{address}");
        assert_eq!(encoding(&asked(address, Some("gzip;q=0"))), None);
    }
    // What fits into a packet is sent as it is.
    assert_eq!(encoding(&asked("/view/v1/downloads", Some("gzip"))), None);
}
