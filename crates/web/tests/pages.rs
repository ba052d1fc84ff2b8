//! Pages over a real archive and over files, without a socket.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::io::Read as _;
use std::time::Duration;

use archive::Archive;
use model::round::{Member, Round};
use model::run::RunId;
use units::WallTime;
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
