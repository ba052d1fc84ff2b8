//! Logs as reports and slides print them give the numbers of the same logs put together by hand.

use model::measurement::Measurement;

fn totals(import: &import::Import) -> Vec<String> {
    let one = |found: &Measurement| {
        let total = &found.totals[0];
        let retransmits = total.retransmits.map(|count| count.get());
        let lost = total.datagrams.map(|counts| (counts.lost.get(), counts.sent.get()));
        let (sent, received) = (total.sent.map(|bytes| bytes.get()), total.received.map(|bytes| bytes.get()));
        let steps: Vec<_> =
            found.intervals.iter().map(|step| (step.bytes.get(), step.retransmits.map(|count| count.get()))).collect();
        format!("{sent:?} {received:?} {} in {:?}, {retransmits:?} {lost:?} {steps:?}", total.goodput, total.elapsed)
    };
    import.tests.iter().filter_map(|test| test.measurement.as_ref()).map(one).collect()
}

#[test]
fn logs_as_printed_give_the_numbers_of_the_logs_put_together() {
    for (printed, together) in [
        ("la-serena-2020.txt", vec!["la-serena-to-champaign-2020.txt"]),
        ("amlight-2023.txt", vec!["amlight-1ms-2023.txt", "amlight-209ms-2023.txt"]),
        ("brown-2013.txt", vec!["brown-firewall-2013.txt"]),
        ("dynes-queues-2013.txt", vec!["dynes-queues-2013.txt"]),
        ("dynes-paced-2013.txt", vec!["dynes-paced-2013.txt"]),
    ] {
        let as_printed = totals(&super::import(&format!("accounts/{printed}")));
        let expected: Vec<String> = together.iter().flat_map(|name| totals(&super::import(name))).collect();
        assert_eq!(as_printed, expected, "{printed}");
    }
}

#[test]
fn the_rtt_is_that_of_the_text_above() {
    let rtts = |name: &str| -> Vec<u128> {
        super::import(&format!("accounts/{name}")).stated_rtts.iter().map(|stated| stated.rtt.as_millis()).collect()
    };
    assert_eq!(rtts("la-serena-2020.txt"), [190]);
    assert_eq!(rtts("amlight-2023.txt"), [1, 209]);
}
