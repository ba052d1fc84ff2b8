//! What can be said about the outputs that were printed in reports of real incidents.

fn said(file: &str) -> Vec<String> {
    let import = super::import(file);
    let each = import.tests.iter().flat_map(|test| &test.observations);
    each.chain(&import.observations).map(ToString::to_string).collect()
}

#[test]
fn la_serena_to_champaign() {
    assert_eq!(
        said("la-serena-to-champaign-2020.txt"),
        [
            "all congestion windows printed are a multiple of 8948 bytes: the segment size, as packets of 9000 bytes \
             over IPv4 with time stamps have it",
            "62 segments were retransmitted of about 1430, 4.3 %, at 1.69 Mbit/s (segments of 8948 bytes)",
            "58791 of 840532 datagrams were lost, 7.0 %, sent at 999 Mbit/s",
        ]
    );
}

#[test]
fn brown_university_through_its_firewall() {
    assert_eq!(
        said("brown-firewall-2013.txt"),
        [
            "70 segments were retransmitted of about 38925, 0.18 %, at 44.8 Mbit/s (segments of 1448 bytes, assumed)",
            "0.18 % loss and 8.29 ms RTT allow one TCP stream about 40.4 Mbit/s (Mathis, segments of \
             1448 bytes, assumed); it reached 44.8 Mbit/s",
            "to bwctl.newy.net.internet2.edu 917 Mbit/s, from it 44.8 Mbit/s, 20.5 times as fast one way as the \
             other; retransmits: 0 and 70; RTT 8.38 ms and 8.29 ms",
        ]
    );
}

#[test]
fn dynes_with_shallow_queues_and_shaped_at_the_sender() {
    assert_eq!(
        said("dynes-queues-2013.txt"),
        [
            "46 segments were retransmitted of about 46355, 0.10 %, at 17.5 Mbit/s (segments of 1448 bytes, assumed)",
            "0.10 % loss and 36.7 ms RTT allow one TCP stream about 12.3 Mbit/s (Mathis, segments of \
             1448 bytes, assumed); it reached 17.5 Mbit/s",
        ]
    );
    let shaped = said("dynes-paced-2013.txt");
    assert_eq!(
        shaped[0],
        "1 segment was retransmitted of about 2147603, 0.00004656 %, at 826 Mbit/s (segments of 1448 bytes, assumed)"
    );
    assert!(shaped[1].contains("about 566 Mbit/s"), "{shaped:?}");
}

#[test]
fn amlight_over_one_and_over_209_milliseconds() {
    assert_eq!(
        said("amlight-1ms-2023.txt"),
        [
            "49 segments were retransmitted of about 9639948, 0.00051 %, at 59.5 Gbit/s (segments of 1448 bytes, assumed)"
        ]
    );
    assert_eq!(
        said("amlight-209ms-2023.txt"),
        [
            "for the first 2.00 s the rate was below half of its fastest, 29.3 Gbit/s; over the whole run it was 17.2 Gbit/s",
            "the receiver ended 210 ms after the sender: data in flight and in buffers took that long to arrive",
        ]
    );
}
