//! The network of a round, without a socket.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::collections::{BTreeMap, BTreeSet};

use model::round::{Member, Round, Segment};
use serde_json::{Value, json};
use web::exchange::Request;
use web::site::Site;
use web::source::files::Files;

fn network(round: Round) -> Value {
    let id = round.id;
    let mut files = Files::named("test");
    files.add_round(round);
    let site = Site::new(Box::new(files), Vec::new());
    let response = site.answer(&Request::get(&format!("/view/v1/round/{id}/network")));
    assert_eq!(response.status, 200);
    serde_json::from_slice(&response.body).unwrap()
}

fn nrao() -> Round {
    Round::from_json(include_bytes!("../../../testdata/rounds/nrao-overlay.json")).unwrap()
}

/// Hosts and segments without a test.
fn declared(hosts: &[(&str, &str)], segments: &[(&str, [&str; 2])]) -> Round {
    let member = |(name, site): &(&str, &str)| Member {
        attributes: BTreeMap::from([("site".to_owned(), (*site).to_owned())]),
        ..Member::named(name)
    };
    let segment = |(name, between): &(&str, [&str; 2])| Segment {
        name: (*name).to_owned(),
        between: between.map(str::to_owned),
        rate: None,
        interfaces: None,
    };
    let segments = segments.iter().map(segment).collect();
    Round { members: hosts.iter().map(member).collect(), segments, tests: Vec::new(), ..nrao() }
}

fn places(view: &Value) -> BTreeMap<String, (u64, f64)> {
    let of = |node: &Value| {
        let place = (node["column"].as_u64().unwrap(), node["row"].as_f64().unwrap());
        (node["label"].as_str().unwrap().to_owned(), place)
    };
    view["nodes"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn guests_stand_on_their_machines_and_what_is_between_machines_is_called_unknown() {
    let view = network(nrao());
    let nodes = view["nodes"].as_array().unwrap();
    let name = |number: &Value| nodes[usize::try_from(number.as_u64().unwrap()).unwrap()]["label"].as_str().unwrap();
    let links: BTreeSet<(String, &str, &str)> = view["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| (link["kind"].as_str().unwrap().to_owned(), name(&link["between"][0]), name(&link["between"][1])))
        .collect();
    assert!(links.contains(&("depends_on".to_owned(), "na-arc-1", "naasc-vs-4")), "{links:?}");
    assert!(links.contains(&("unknown".to_owned(), "naasc-vs-4", "not declared")), "{links:?}");
    let suspects: Vec<&str> = nodes
        .iter()
        .filter(|node| node["is_suspect"] == json!(true))
        .map(|node| node["label"].as_str().unwrap())
        .collect();
    assert_eq!(suspects, ["naasc-vs-4"]);
    assert_eq!(view["suspects"][0]["place"], "naasc-vs-4");
}

#[test]
fn no_two_nodes_stand_at_one_place_and_a_chain_stands_in_order() {
    let hosts = [("dtn", "summit"), ("r1", "summit"), ("r2", "base"), ("archive", "base"), ("alone", "elsewhere")];
    let view =
        network(declared(&hosts, &[("uplink", ["dtn", "r1"]), ("wan", ["r1", "r2"]), ("lan", ["r2", "archive"])]));
    let at = places(&view);
    let columns: Vec<u64> = ["dtn", "r1", "r2", "archive"].map(|name| at[name].0).to_vec();
    assert!(columns.is_sorted() || columns.iter().rev().is_sorted(), "{at:?}");
    assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), 4, "{at:?}");
    for view in [view, network(nrao())] {
        let at = places(&view);
        let apart: BTreeSet<String> = at.values().map(|place| format!("{place:?}")).collect();
        assert_eq!(apart.len(), at.len(), "{at:?}");
    }
}

#[test]
fn many_hosts_that_stand_alike_are_one_node_and_no_picture_is_endless() {
    let names: Vec<String> = (0..2_000).map(|number| format!("h{number}")).collect();
    let mut hosts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "farm")).collect();
    hosts.extend([("switch", "farm"), ("far", "away")]);
    let uplinks: Vec<String> = names.iter().map(|name| format!("port-{name}")).collect();
    let mut segments: Vec<(&str, [&str; 2])> =
        uplinks.iter().zip(&names).map(|(uplink, name)| (uplink.as_str(), [name.as_str(), "switch"])).collect();
    segments.push(("wan", ["switch", "far"]));
    let view = network(declared(&hosts, &segments));
    let nodes = view["nodes"].as_array().unwrap();
    let farm = nodes.iter().find(|node| node["kind"] == "hosts").unwrap();
    assert_eq!((&farm["label"], farm["hosts"].as_array().unwrap().len()), (&"2000 hosts of farm".into(), 2_000));
    assert_eq!((nodes.len(), &view["left_out"]), (3, &0.into()), "{nodes:?}");

    let far: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let view = network(declared(&far, &[]));
    let drawn = view["nodes"].as_array().unwrap().len();
    assert_eq!(u64::try_from(drawn).unwrap() + view["left_out"].as_u64().unwrap(), 2_000);
    assert!(drawn <= 300, "{drawn}");
}
