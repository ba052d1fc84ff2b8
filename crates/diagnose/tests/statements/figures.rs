//! Numbers of a text, one beside the other, whatever printed them.

use diagnose::statements::StatementKind;

use super::{assert_fault, faults, statements};

#[test]
fn what_was_switched_off_for_the_faster_one_is_the_cause() {
    let text =
        "throughput between the two boxes:\n\n| setting | Mbit/s |\n|---|---|\n| tso on  | 3.1 |\n| tso off | 941 |\n";
    assert_fault(text, &["3.10 Mbit/s with segmentation offload", "941 Mbit/s without", "broken"]);
    let decides = |text: &str| statements(text).iter().any(|one| one.kind == StatementKind::Decisive);
    assert!(decides(text));
    assert!(!decides(&text.replace("3.1 |", "933 |")), "what is as fast sets nothing apart");
}

#[test]
fn a_tunnel_is_named_where_only_the_slower_one_passes_it() {
    let text = "through the VPN: 38.4 Mbit/s\nwithout it, same hosts: 411.2 Mbit/s\n";
    assert_fault(text, &["38.4 Mbit/s with a tunnel (VPN) (line 1)", "411 Mbit/s without (line 2)"]);
}

#[test]
fn a_window_over_an_rtt_that_is_the_rate_is_the_limit() {
    let text =
        "The copy has 3.2 MB/s and never more. RTT 20 ms.\nIn the capture the receive window is 64 KiB all the time.\n";
    assert_fault(text, &["25.6 Mbit/s is what 65.5 kB (line 2) allow at an RTT of 20.0 ms", "receive window"]);
    assert_eq!(faults(&text.replace("20 ms", "2 ms")), [] as [&str; 0], "it allows ten times as much");
}

#[test]
fn streams_that_are_each_as_fast_have_a_limit_of_their_own() {
    let text = "iperf3 to the archive, one stream: 93.7 Mbit/s\niperf3 to the archive, 8 streams: 741.2 Mbit/s\n";
    assert_fault(text, &["1 stream has 93.7 Mbit/s and 8 741 Mbit/s", "each stream has a limit of its own"]);
}

#[test]
fn rates_of_links_and_plans_are_no_measurements() {
    for text in [
        "The hosts have 10 Gbit/s, the line is 1 Gbit/s, and the VPN gateway has 2x10G.\n",
        "We pay for 250 Mbit/s down and 40 Mbit/s up over the VPN.\n",
        "plan: 600/400, Wi-Fi in the living room\n",
    ] {
        assert_eq!(faults(text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn a_connection_that_stood_after_lost_syns_is_late_and_not_slow() {
    let text = "$ curl -so /dev/null -w 'connect %{time_connect} total %{time_total}  %{speed_download} B/s\\n' http://10.43.118.20/blob\n\
                connect 3.071220 total 3.091377  3391907 B/s\n";
    let all = faults(text);
    assert!(all.iter().all(|says| says.contains("its SYN or the answer is lost 2 times")), "{all:?}");
}
