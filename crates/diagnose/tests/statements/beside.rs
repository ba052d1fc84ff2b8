//! Sockets, handshakes, echoes and streams.

use super::{assert_fault, faults, statements};

#[test]
fn a_socket_whose_addresses_were_hidden_completes_its_test() {
    let text = "$ iperf3 -c far2 -t 10\n[  5] local 192.0.x.x port 41822 connected to 198.51.x.x port 5201\n\
                [  5]   0.00-10.00  sec   323 MBytes   271 Mbits/sec    0             sender\n\
                [  5]   0.00-10.09  sec   321 MBytes   267 Mbits/sec                  receiver\n\n\
                ESTAB 0      4194304  192.0.x.x:41822   198.51.x.x:5201\n\t cubic wscale:7,9 rto:290 rtt:88.4/0.021 mss:1448 cwnd:4210 \
                segs_out:203117 data_segs_out:203115 busy:8844ms rwnd_limited:7790ms(88.1%) minrtt:88.391 snd_wnd:3145728\n";
    assert_fault(
        text,
        &["192.0.x.x to far2: limited by the receive window for 88 % of the time", "3.15 MB", "285 Mbit/s"],
    );
}

#[test]
fn fields_without_a_line_of_addresses_are_a_socket() {
    let text = "\t cubic wscale:7,7 rto:53248 backoff:8 rtt:8.702/0.311 mss:1448 pmtu:1500 cwnd:1 ssthresh:7 bytes_sent:43440 retrans:1/20\n";
    assert_fault(text, &["doubled 8 times", "path MTU"]);
    assert_eq!(faults(&text.replace("backoff:8 ", "")), [] as [&str; 0]);
}

#[test]
fn an_answer_without_a_window_scale_is_a_fault() {
    let text = "10:11:02.114201 IP me.44112 > far.80: Flags [S], seq 1, win 64240, options [mss 1460,sackOK,nop,wscale 7], length 0\n\
                10:11:02.296388 IP far.80 > me.44112: Flags [S.], seq 9, ack 2, win 65535, options [mss 1460,sackOK,nop,wscale 9], length 0\n";
    assert_eq!(faults(text), [] as [&str; 0]);
    let without = text.replace(",nop,wscale 9", "");
    assert_fault(&without, &["me to far: the SYN offers a window scale, the answer has none", "65.5 kB"]);
    // Of an answer whose options were cut nothing is known.
    let cut = without.split(", options [mss 1460,sackOK]").next().unwrap();
    assert_eq!(faults(cut), [] as [&str; 0]);
}

#[test]
fn a_queue_of_a_second_is_said_before_the_one_echo_that_was_lost() {
    let answers = |times: &[u32]| -> String {
        times.iter().map(|time| format!("Antwort von 192.0.2.9: Bytes=32 Zeit={time}ms TTL=58\n")).collect()
    };
    let text = format!(
        "Ping wird ausgeführt für 192.0.2.9 mit 32 Bytes Daten:\n{}\nund mit Upload:\n\n{}Zeitüberschreitung der Anforderung.\n{}",
        answers(&[24, 23, 25]),
        answers(&[412, 1040]),
        answers(&[1050, 1041])
    );
    let all = faults(&text);
    let [only] = all.as_slice() else { panic!("{all:#?}") };
    assert!(only.contains("24.0 ms in one series of echoes and 1.04 s in another"), "{only}");
}

#[test]
fn streams_that_crawl_beside_others_that_are_alike_are_counted() {
    let rows = |rates: [(&str, &str, u32); 5]| -> String {
        let row = |(at, (amount, rate, again)): (usize, (&str, &str, u32))| {
            format!("[{:>3}]   0.00-10.00  sec  {amount}  {rate}  {again}             sender\n", 5 + 2 * at)
        };
        rates.into_iter().enumerate().map(row).collect()
    };
    let (fast, slow) = (("1.80 GBytes", "1.55 Gbits/sec", 4), ("33.1 MBytes", "27.8 Mbits/sec", 239));
    let text = format!("$ iperf3 -c n14 -P 5 -t 10\n...\n{}", rows([fast, slow, fast, fast, fast]));
    assert_fault(
        &text,
        &["1 of 5 streams crawl at 27.8 Mbit/s, with 239 of the 255 retransmits", "the other 4 reach 1.55 Gbit/s"],
    );
    let alike = format!("$ iperf3 -c n14 -P 5 -t 10\n{}", rows([fast, fast, fast, fast, fast]));
    assert!(faults(&alike).iter().all(|says| !says.contains("crawl")), "{:#?}", faults(&alike));
}

#[test]
fn two_summaries_of_one_stream_are_two_tests_and_no_sum() {
    let text = "with the tunnel:\n[  5]   0.00-10.00  sec   134 MBytes   112 Mbits/sec   31             sender\nwithout:\n\
                [  5]   0.00-10.00  sec   547 MBytes   459 Mbits/sec   88             sender\n";
    let said: Vec<String> = statements(text).into_iter().map(|one| one.says).collect();
    assert_eq!(said.iter().filter(|says| says.contains(": 31 of about ")).count(), 1, "{said:#?}");
    assert_eq!(said.iter().filter(|says| says.contains(": 88 of about ")).count(), 1, "{said:#?}");
}

#[test]
fn losses_that_come_many_at_once_are_of_a_queue_that_fills_for_a_short_time() {
    let log = |losses: [u32; 14]| -> String {
        let row = |again: u32| {
            let rate = if again > 0 { ("77.8750", "653.2") } else { ("112.2500", "941.6") };
            format!(
                "  {} MB /   1.00 sec =  {} Mbps   {again} retrans     {}\n",
                rate.0,
                rate.1,
                if again > 9 { "<- look" } else { "" }
            )
        };
        format!("nuttcp -i1 -T60 -w16m far\n{}", losses.into_iter().map(row).collect::<String>())
    };
    let bursts = log([0, 0, 0, 0, 211, 0, 0, 0, 0, 0, 0, 187, 0, 0]);
    assert_fault(
        &bursts,
        &["the 398 retransmits of 12 intervals fall into 2 of them, 187 or more at once", "942 Mbit/s without a loss"],
    );
    assert!(faults(&log([9; 14])).iter().all(|says| !says.contains("at once")));
}
