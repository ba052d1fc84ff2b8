//! What a transfer is expected to reach is what the kernel's TCP reaches on a path and with buffers that are known.

use model::expectation::{Bound, Prediction};

use super::stage::{Show, shows, shows_unless_spoilt, test, two_hosts, within};

/// The buffers and the delay of a path of 100 Mbit/s on which they are the limit.
fn limited(host: &str, sysctl: &str) -> String {
    let delay = r#"{ delay = { time = "50ms" } }"#;
    let flow = "time = \"8s\"\ncca = \"cubic\"\nexpect = \"100Mbit/s\"\nprobe-every = \"0s\"";
    let setting = format!("[hosts.{host}]\nsysctl = {{ {sysctl} }}\n");
    two_hosts(delay, delay, &test("tcp", flow)).replace(&format!("[hosts.{host}]\n"), &setting)
}

/// What was expected of the first test.
fn prediction(show: &Show) -> &Prediction {
    let [expectation] = &show.measurement(0).expectations[..] else { panic!("{:?}", show.measurement(0).expectations) };
    expectation.expected.prediction().unwrap_or_else(|| panic!("{expectation:?}"))
}

/// Plays it: the limit is found, and a quarter is the most by which the rate differs. What assumptions and the model do
/// not have costs a tenth; the rest is for what a machine does that does other things as well.
fn is_as_expected(text: &str, limit: Bound) {
    shows_unless_spoilt(text, |show| {
        let prediction = prediction(show);
        assert_eq!(prediction.limit, limit, "{prediction:?}");
        within(0.75..=1.25, prediction.attained.unwrap(), "of what is expected")
    });
}

#[test]
fn a_small_send_buffer_gives_what_is_expected() {
    is_as_expected(&limited("near", r#""net.ipv4.tcp_wmem" = "4096 16384 524288""#), Bound::SendBuffer);
}

#[test]
fn a_small_receive_buffer_gives_what_is_expected() {
    is_as_expected(&limited("far", r#""net.ipv4.tcp_rmem" = "4096 131072 1048576""#), Bound::ReceiveWindow);
}

#[test]
fn a_path_with_buffers_enough_gives_its_rate() {
    let link = r#"{ port = { rate = "40Mbit/s", queue = { bytes = "250kB" } } }, { delay = { time = "10ms" } }"#;
    let flow = "time = \"8s\"\ncca = \"cubic\"\nexpect = \"40Mbit/s\"\nprobe-every = \"0s\"";
    let text = two_hosts(link, r#"{ delay = { time = "10ms" } }"#, &test("tcp", flow));
    is_as_expected(&text, Bound::Path);
}

#[test]
fn each_thing_that_is_known_is_from_where_it_was_known() {
    let text = limited("near", r#""net.ipv4.tcp_wmem" = "4096 16384 524288""#).replace("8s", "1s");
    shows(&text, |show| {
        let inputs = &prediction(show).inputs;
        assert_eq!((inputs.send_buffer.value.get(), inputs.send_buffer.from.as_str()), (524_288, "tcp_wmem of near"));
        assert_eq!(
            (inputs.receive_buffer.value.get(), inputs.receive_buffer.from.as_str()),
            (67_108_864, "tcp_rmem of far")
        );
        assert_eq!(inputs.path_rate.value.bps(), 100_000_000);
        assert!(inputs.rtt_us.value >= 100_000, "{:?}", inputs.rtt_us);
        Ok(())
    });
}
