//! What stands beside logs of tests; the files of testdata/foreign/evidence were recorded over loopback.

use import::Import;
use import::evidence::Shown;
use import::round::{Source, UserFacts, of_files};
use model::measurement::Whose;
use model::played::Finding;
use model::probe::hops::TraceEnd;
use model::probe::path_mtu::MtuLimit;
use model::series::field::Field;
use units::WallTime;

fn recorded(name: &str) -> Import {
    super::import(&format!("evidence/{name}"))
}

fn source(name: &str) -> Source {
    Source { name: name.to_owned(), import: recorded(name), written: WallTime::from_unix_nanos(1 << 60), digest: 7 }
}

#[test]
fn every_recorded_output_is_read_whole() {
    for name in [
        "ping.txt",
        "tracepath.txt",
        "traceroute.txt",
        "mtr.txt",
        "mtr.json",
        "ss.txt",
        "ethtool.txt",
        "wget.txt",
        "curl.txt",
    ] {
        let import = recorded(name);
        assert!(!import.evidence.is_empty(), "{name}: {import:?}");
        assert_eq!(import.anomalies, [], "{name}");
        assert_eq!(import.tests.len(), 0, "{name}");
        assert!(import.evidence.iter().all(|item| !item.to_string().is_empty()));
        let hosts = import.evidence.iter().map(|item| item.host.as_deref());
        assert!(name == "mtr.json" || hosts.eq(import.evidence.iter().map(|_| Some("dtn1"))), "{name}");
    }
}

#[test]
fn echoes_have_their_sizes_and_quantiles() {
    let ping = recorded("ping.txt");
    let Shown::Echo(found) = &ping.evidence[0].shows else { panic!("{ping:?}") };
    let rtt = found.summary.rtt;
    assert_eq!(
        (rtt.sent.get(), rtt.lost.get(), rtt.min_us, rtt.median_us, rtt.max_us),
        (5, 0, Some(35), Some(36), Some(72))
    );
    assert_eq!((found.spec.payload_bytes, found.probes.len()), (1400, 5));
    assert_eq!(found.spec.fragments, model::probe::echo::Fragments::Forbidden);
}

#[test]
fn losses_and_routers_that_object_are_read() {
    let text = "$ ping -M do -s 8972 dtn2\nPING dtn2 (192.0.2.9) 8972(9000) bytes of data.\n\
                From 192.0.2.1 icmp_seq=1 Frag needed and DF set (mtu = 1490)\n\n\
                --- dtn2 ping statistics ---\n4 packets transmitted, 0 received, +1 errors, 100% packet loss, time 3060ms\n";
    let import = import::read(text.as_bytes());
    let Shown::Echo(found) = &import.evidence[0].shows else { panic!("{import:?}") };
    assert_eq!((found.summary.rtt.sent.get(), found.summary.rtt.lost.get(), found.summary.reported.get()), (4, 4, 1));
    assert_eq!(found.summary.rtt.min_us, None);
    // Statistics that contradict the answers above them are no evidence.
    let text = "PING a (192.0.2.9) 56(84) bytes of data.\n64 bytes from 192.0.2.9: icmp_seq=1 ttl=64 time=0.1 ms\n\
                --- a ping statistics ---\n1 packets transmitted, 0 received, 100% packet loss, time 0ms\n";
    let import = import::read(text.as_bytes());
    assert_eq!((import.evidence.len(), import.anomalies.len()), (0, 1), "{import:?}");
}

#[test]
fn a_path_has_its_mtu_and_who_limits_it() {
    let text = "$ tracepath -n dtn2\n 1?: [LOCALHOST]                      pmtu 9000\n 1:  192.0.2.1          0.310ms \n\
                 2:  192.0.2.5          1.310ms pmtu 1500\n 2:  no reply\n 3:  192.0.2.9        190.502ms reached\n     Resume: pmtu 1500 hops 3 back 3 \n";
    let import = import::read(text.as_bytes());
    let [Shown::PathMtu(mtu), Shown::Hops(hops)] = [&import.evidence[0].shows, &import.evidence[1].shows] else {
        panic!("{import:?}")
    };
    assert_eq!((mtu.interface_mtu.unwrap().get(), mtu.path_mtu.unwrap().get()), (9000, 1500));
    let reporter = "192.0.2.5".parse().ok();
    assert_eq!(mtu.limit, Some(MtuLimit::Told { reporter, told: Some(1500) }));
    assert_eq!((hops.hops.len(), hops.end, hops.subject.target.as_str()), (3, TraceEnd::Destination, "dtn2"));
}

#[test]
fn mtr_says_of_the_last_hop_what_the_whole_path_does() {
    let text = "Start: 2026-11-23T04:25:08+0000\nHOST: dtn1     Loss%   Snt   Last   Avg  Best  Wrst StDev\n\
                  1.|-- 192.0.2.1     90.0%    10    0.3   0.3   0.2   0.4   0.1\n  2.|-- 192.0.2.9      0.0%    10  190.5 190.4 190.1 191.0   0.3\n";
    let import = import::read(text.as_bytes());
    let [Shown::Hops(hops), Shown::Echo(echo)] = [&import.evidence[0].shows, &import.evidence[1].shows] else {
        panic!("{import:?}")
    };
    assert_eq!((hops.hops[0].sent, hops.hops[0].answers.len(), hops.end), (10, 1, TraceEnd::Destination));
    assert_eq!((echo.summary.rtt.lost.get(), echo.summary.rtt.min_us), (0, Some(190_100)));
}

#[test]
fn sockets_keep_what_their_kernel_knows() {
    let import = recorded("ss.txt");
    let Shown::Sockets(sockets) = &import.evidence[0].shows else { panic!("{import:?}") };
    let busiest = sockets.iter().max_by_key(|socket| value(socket, Field::BytesAcked)).unwrap();
    assert_eq!(busiest.congestion_control.as_deref(), Some("bbr"));
    assert_eq!((value(busiest, Field::SndMss), value(busiest, Field::Rtt)), (Some(65_483), Some(638)));
    assert_eq!(value(busiest, Field::RwndLimited), Some(20_000));
    assert_eq!(value(busiest, Field::DeliveryRate), Some(29_500_000_000 / 8));
}

fn value(socket: &import::evidence::Socket, field: Field) -> Option<u64> {
    socket.fields.iter().find(|known| known.field == field).map(|known| known.value)
}

#[test]
fn downloads_are_proved_by_their_two_clocks() {
    for name in ["wget.txt", "curl.txt"] {
        let import = recorded(name);
        let Shown::Download(found) = &import.evidence[0].shows else { panic!("{import:?}") };
        let near = found.body.get().abs_diff(300_000_000);
        assert!(near < 600_000, "{name}: {}", found.body);
        assert!(found.goodput.unwrap().bps() > 400_000_000, "{name}");
        assert_eq!(found.subject.target, "127.0.0.1");
    }
    let cut = std::fs::read_to_string(super::folder().join("evidence/wget.txt"))
        .unwrap()
        .replace("(62.1 MB/s)", "(621 MB/s)");
    let fast = import::read(cut.as_bytes());
    assert!(
        fast.evidence.iter().all(|item| !matches!(item.shows, Shown::Download(_))) || cut.contains("621"),
        "{fast:?}"
    );
}

#[test]
fn both_ends_their_socket_and_their_counters_are_one_run() {
    let files = ["client.log", "server.log", "ss.txt", "ethtool.txt", "ping.txt"].map(source);
    assert_eq!((files[0].import.tests.len(), files[1].import.tests.len()), (1, 1));
    let round = of_files(&files, &UserFacts::default()).round.unwrap();
    let runs: Vec<_> = round
        .tests
        .iter()
        .filter_map(|test| match &test.finding {
            Finding::Run(run) => Some((run, test.samples.as_ref().unwrap())),
            _ => None,
        })
        .collect();
    let [(run, samples)] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    let found = run.measurement.as_ref().unwrap();
    let total = &found.totals[0];
    // 2.79 GBytes of each end, and the time of the receiver's last byte.
    assert_eq!((total.sent.unwrap().get(), total.received.unwrap().get()), (2_995_739_689, 2_995_739_689));
    assert_eq!((total.elapsed.as_millis(), total.retransmits.unwrap().get()), (4_020, 13));
    assert!(samples.streams.iter().any(|stream| stream.whose == Whose::Peer));
    assert_eq!(found.flows[0].congestion_control.as_deref(), Some("bbr"));
    assert_eq!(found.latency.as_ref().unwrap().idle.unwrap().min_us, Some(4));
    assert_eq!(found.local_counters.as_ref().unwrap().change("nic.eth0.rx_drops"), Some(0));
    assert_eq!(round.tests.len(), 2, "the run and the echoes");
    assert!(round.tests.iter().all(|test| test.from.host == "dtn1"));
}

#[test]
fn what_the_user_and_the_text_say_stands_beside_what_was_measured() {
    let text = format!(
        "We tested over a ~190ms path:\n{}",
        std::fs::read_to_string(super::folder().join("la-serena-to-champaign-2020.txt")).unwrap()
    );
    let source =
        |import| Source { name: "a".to_owned(), import, written: WallTime::from_unix_nanos(1 << 60), digest: 1 };
    let stated = source(import::read(text.as_bytes())).runs(&UserFacts::default());
    assert_eq!(stated[0].0.declared.rtt.unwrap().as_millis(), 190);
    let facts = UserFacts {
        declared: model::run::Declared { rtt: Some(std::time::Duration::from_millis(200)), ..Default::default() },
        line_rate: Some(units::DataRate::from_bps(10_000_000_000)),
    };
    let told = source(import::read(text.as_bytes())).runs(&facts);
    assert_eq!(told[0].0.declared.rtt.unwrap().as_millis(), 200);
    assert_eq!(told[0].0.declared_line_rate.unwrap().bps(), 10_000_000_000);
    assert!(told[0].0.measurement.as_ref().unwrap().latency.is_none());
}
