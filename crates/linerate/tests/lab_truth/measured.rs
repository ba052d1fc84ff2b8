//! What is measured is what the scenario says.

use std::time::Duration;

use anyhow::ensure;
use model::measurement::Heading;
use model::played::Finding;
use model::probe::path_mtu::MtuLimit;

use super::stage::{shows, test, two_hosts, within};

#[test]
fn round_trips_take_the_delay_of_both_ways() {
    let text = two_hosts(
        r#"{ delay = { time = "35ms" } }"#,
        r#"{ delay = { time = "15ms" } }"#,
        &test("ping", "count = 40\ninterval = \"25ms\""),
    );
    shows(&text, |show| {
        let Finding::Echo(series) = show.finding(0) else { panic!("{:?}", show.finding(0)) };
        let rtt = series.summary.rtt;
        ensure!(rtt.lost.get() == 0, "{} echoes are lost", rtt.lost.get());
        let least = rtt.min_us.unwrap();
        assert!(least >= 50_000, "{least} us: no packet is faster than the path");
        // Two directions of two links, and four kernels. The fastest tells of the path, the others of the machine as well.
        let slack = u64::try_from((show.lateness() * 4 + Duration::from_millis(2)).as_micros()).unwrap();
        ensure!(least <= 50_000 + slack, "{least} us, where {slack} us more than 50 ms are explained");
        Ok(())
    });
}

/// 1,356 bytes more need 1.085 ms on a link of 10 Mbit/s, and 0.1 ms on one of 100 Mbit/s: which way is the slow one shows.
#[test]
fn larger_packets_take_as_much_longer_as_the_slow_link_says() {
    let text = two_hosts(
        "{ port = { rate = \"10Mbit/s\", queue = { bytes = \"1MB\" } } }, { delay = { time = \"5ms\" } }",
        "{ port = { rate = \"100Mbit/s\", queue = { bytes = \"1MB\" } } }, { delay = { time = \"5ms\" } }",
        &test("tcp", "time = \"1s\""),
    );
    shows(&text, |show| {
        let times = show.measurement(0).latency.as_ref().and_then(|latency| latency.packet_times);
        let times = times.expect("packets of both sizes are answered");
        let [there, back] = [Heading::Outbound, Heading::Inbound].map(|heading| times.towards(heading));
        let milliseconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64() * 1e3;
        let slack = show.lateness().as_secs_f64() * 1e3 + 0.2;
        within(1.085 - slack..=1.085 + slack, milliseconds(there), "ms there")?;
        within((0.108 - slack).max(0.0)..=0.108 + slack, milliseconds(back), "ms back")
    });
}

#[test]
fn every_lost_datagram_is_in_the_log_of_the_path_and_no_other() {
    let text = two_hosts(
        "{ loss = { random = 0.02 } }, { delay = { time = \"5ms\" } }",
        r#"{ delay = { time = "5ms" } }"#,
        &test("udp", "time = \"4s\"\nrate = \"20Mbit/s\"\nlength = \"1200B\"\nprobe-every = \"0s\""),
    );
    shows(&text, |show| {
        let datagrams = show.measurement(0).totals[0].datagrams.unwrap();
        // Payload, and the headers of UDP, IP and Ethernet.
        let size = 1_200 + 8 + 20 + 14;
        let lost = show.logged(|line| line["reason"] == "random" && line["bytes"].as_u64().unwrap() % size == 0);
        assert!(datagrams.lost.get() >= lost, "what the path has lost does not arrive: {lost} of {datagrams:?}");
        // A receiver that gets no processor for long loses some itself.
        ensure!(datagrams.lost.get() == lost, "{lost} were lost on the path: {datagrams:?}");
        let (sent, lost) = (datagrams.sent.get() as f64, lost as f64);
        let sigma = (sent * 0.02 * 0.98).sqrt();
        assert!((lost - sent * 0.02).abs() < 5.0 * sigma, "{lost} of {sent}");
        Ok(())
    });
}

#[test]
fn every_datagram_that_is_held_is_overtaken() {
    let text = two_hosts(
        "{ reorder = { every-nth = 50, time = \"8ms\" } }, { delay = { time = \"5ms\" } }",
        r#"{ delay = { time = "5ms" } }"#,
        &test("udp", "time = \"3s\"\nrate = \"20Mbit/s\"\nlength = \"1200B\"\nprobe-every = \"0s\""),
    );
    shows(&text, |show| {
        let datagrams = show.measurement(0).totals[0].datagrams.unwrap();
        ensure!(datagrams.lost.get() == 0, "{datagrams:?}");
        let held = datagrams.sent.get() / 50;
        // Packets of the control connection take turns as well, and nothing comes after the last datagram. Where the
        // sender gets no processor for 8 ms, nothing overtakes either.
        ensure!(datagrams.reordered.get().abs_diff(held) <= 3, "{datagrams:?}");
        Ok(())
    });
}

#[test]
fn a_small_mtu_is_found_and_whether_anybody_tells() {
    for (report, told) in [("icmp", true), ("silent", false)] {
        let there = format!(r#"{{ mtu = {{ bytes = 1380, report = "{report}" }} }}"#);
        shows(&two_hosts(&there, "", &test("mtu", "")), |show| {
            let Finding::PathMtu(found) = show.finding(0) else { panic!("{:?}", show.finding(0)) };
            ensure!(found.path_mtu.is_some_and(|mtu| mtu.get() == 1_380), "{report}: {found:?}");
            ensure!(matches!(found.limit, Some(MtuLimit::Told { .. })) == told, "{found:?}");
            ensure!((found.limit == Some(MtuLimit::Silent)) != told, "{found:?}");
            Ok(())
        });
    }
}
