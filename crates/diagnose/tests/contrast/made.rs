//! Fleets in which the answer is known.

use diagnose::contrast::attribute::Attribute;
use diagnose::contrast::class::Classes;
use diagnose::contrast::rank::{Contrast, contrast};
use diagnose::contrast::split::Mark;

use crate::machines::standing;

const BAD: [&str; 5] = ["b1", "b2", "b3", "b4", "b5"];
const GOOD: [&str; 7] = ["g1", "g2", "g3", "g4", "g5", "g6", "g7"];

/// What each host has, first the bad ones and then the good ones; `-` is no such thing, `?` is not known.
fn attribute(setting: &str, values: [&str; 12]) -> Attribute {
    let hosts = BAD.iter().chain(&GOOD).map(|host| (*host).to_owned());
    let value = |value: &str| (value != "-").then(|| value.to_owned());
    let values = hosts.zip(values).filter(|(_, value)| *value != "?").map(|(host, text)| (host, value(text)));
    Attribute { name: setting.to_owned(), setting: setting.to_owned(), values: values.collect() }
}

fn found(attributes: &[Attribute]) -> Contrast {
    contrast(attributes, &standing(&BAD, &GOOD), &Classes::built_in())
}

#[test]
fn what_parts_twelve_hosts_cleanly_is_significant() {
    let found = found(&[attribute("net.ipv4.tcp_ecn", ["1", "1", "1", "1", "1", "2", "2", "2", "2", "2", "2", "2"])]);
    // One of 792 ways to choose five of twelve.
    assert!((found.separators[0].p - 1.0 / 792.0).abs() < 1e-9);
    assert!(found.separators[0].is_significant);
    assert!(!found.to_string().contains("only a change"), "{found}");
}

#[test]
fn a_value_for_each_host_is_no_cause() {
    let serial = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12"];
    let found = found(&[
        attribute("machine.serial", serial),
        attribute("net.core.somaxconn", ["1", "1", "1", "1", "2", "2", "2", "2", "2", "2", "2", "2"]),
    ]);
    assert_eq!(found.separators[0].name, "net.core.somaxconn");
    assert!(found.separators[0].score > 5.0 * found.separators[1].score, "{found}");
    assert_eq!(found.separators[0].against, ["b5"]);
}

#[test]
fn small_numbers_of_several_sizes_are_one_mark() {
    let rings = ["256", "512", "256", "512", "512", "4096", "4096", "4096", "2048", "4096", "4096", "4096"];
    let found = found(&[attribute("ring.rx", rings)]);
    assert_eq!(found.separators[0].mark, Mark::AtMost { number: 512.0 });
    assert_eq!(found.separators[0].separation, 1.0);
}

#[test]
fn the_last_number_of_three_is_the_limit() {
    let (small, large) = ("4096 131072 6291456", "4096 87380 2147483647");
    let (less, more) = ("4096 131072 4194304", "4096 131072 1073741824");
    let values = [small, small, less, small, less, large, more, large, more, large, large, large];
    let found = found(&[attribute("net.ipv4.tcp_rmem", values)]);
    assert_eq!(found.separators[0].mark, Mark::AtMost { number: 6_291_456.0 });
}

#[test]
fn what_is_not_there_is_a_value_and_what_is_not_known_is_none() {
    let found = found(&[
        attribute("feature.rx-gro-hw", ["on", "on", "on", "?", "?", "-", "-", "-", "-", "-", "?", "?"]),
        attribute("link.mtu", ["?", "?", "?", "?", "?", "1500", "9000", "9000", "9000", "9000", "9000", "9000"]),
    ]);
    assert_eq!(found.separators.len(), 1, "{found}");
    assert_eq!((found.separators[0].separation, found.separators[0].usual.clone()), (1.0, None));
    assert!((found.separators[0].p - 1.0 / 56.0).abs() < 1e-9, "three of eight: {}", found.separators[0].p);
}

#[test]
fn of_settings_that_part_alike_the_likelier_kind_is_tried_first() {
    let part = ["1", "1", "1", "1", "1", "0", "0", "0", "0", "0", "0", "0"];
    let found =
        found(&[attribute("net.core.somaxconn", part), attribute("qdisc.root", part), attribute("link.mtu", part)]);
    let order: Vec<&str> = found.separators.iter().map(|separator| separator.name.as_str()).collect();
    assert_eq!(order, ["link.mtu", "qdisc.root", "net.core.somaxconn"]);
    assert!(found.separators.iter().all(|separator| separator.ties == 2));
    assert_eq!(found.ways, 1);
    assert_eq!(found.next.unwrap().attribute, "link.mtu");
}
