//! Small questions about a path, and tests towards each of its hops.

use model::probe::along::Along;
use model::probe::download::Download;
use model::probe::echo::EchoSeries;
use model::probe::hops::{Trace, TraceEnd};
use model::probe::path_mtu::PathMtu;
use model::run::Outcome;

use crate::actors::world::World;

/// near, router and far, in a row; what is behind the router takes packets of 1400 bytes.
fn network() -> World {
    let mut world = World::new();
    world.run(
        "mount -t tmpfs none /run; for host in near router far; do ip netns add $host; ip -n $host link set lo up; done; \
         link() { ip -n $1 link add $2 mtu $6 type veth peer name $4 mtu $6 netns $3; \
         ip -n $1 addr add 192.0.2.$5/30 dev $2; ip -n $3 addr add 192.0.2.$(($5 + 1))/30 dev $4; \
         ip -n $1 link set $2 up; ip -n $3 link set $4 up; }; \
         link near out router in 1 1500; link router out far in 5 1400; \
         ip -n near route add 192.0.2.4/30 via 192.0.2.2; ip -n far route add 192.0.2.0/30 via 192.0.2.5; \
         ip netns exec router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'; near='ip netns exec near'",
    );
    world
}

#[track_caller]
fn answer<T: serde::de::DeserializeOwned>(world: &mut World, question: &str) -> T {
    let printed = world.run(&format!("$near $L {question} --json"));
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{question}: {error}: {printed}"))
}

#[test]
fn each_question_has_its_answer_for_programs_and_for_people() {
    let mut world = network();
    let echoes: EchoSeries = answer(&mut world, "probe ping 192.0.2.6 --count 5 --interval 10ms --size 100B");
    assert_eq!((echoes.summary.rtt.sent.get(), echoes.summary.rtt.lost.get(), echoes.spec.payload_bytes), (5, 0, 100));
    let mtu: PathMtu = answer(&mut world, "probe mtu 192.0.2.6");
    assert_eq!(mtu.path_mtu.map(units::Mtu::get), Some(1400));
    let way: Trace = answer(&mut world, "probe hops 192.0.2.6");
    assert_eq!((way.hops.len(), way.end), (2, TraceEnd::Destination));
    let said = world.run("$near $L probe hops 192.0.2.6");
    assert!(said.lines().any(|line| line.contains("192.0.2.2")), "{said}");
    assert!(
        world.run("$near $L probe ping 192.0.2.6").starts_with("10 of 10 echoes answered, 0 lost\nRTT min/median/max ")
    );
    assert_eq!(world.run("$near $L probe mtu 192.0.2.6 -4"), "mtu 1400 B, as 192.0.2.2 says");
    let said = world.run("$L probe ping 192.0.2.1 --netns near");
    assert!(said.starts_with("10 of 10"), "{said}");
}

#[test]
fn each_file_that_is_fetched_is_a_line_and_one_that_is_not_there_an_error() {
    let mut world = network();
    let (printed, code) = world.ends("$near $L probe http http://192.0.2.6/file --count 2 --json");
    assert_eq!(code, 3, "{printed}");
    let downloads: Vec<Download> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(downloads.len(), 2);
    assert!(downloads.iter().all(|found| matches!(&found.outcome, Outcome::Failed(_))));
    assert!(world.said().starts_with("error: 192.0.2.6:80 refuses the connection"), "{}", world.said());
    let (said, code) = world.ends("$near $L probe ping no.such.host");
    assert!(code == 3 && said.contains("no.such.host"), "{said}");
    assert!(said.contains("does not resolve") && !said.contains("serve"), "{said}");
    world.run("ip netns exec far sh -c 'echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all'");
    let (said, code) = world.ends("$near $L probe ping 192.0.2.6 --count 2 --interval 10ms");
    assert!(code == 3 && said.starts_with("0 of 2 echoes answered"), "{code}: {said}");
    let (said, code) = world.ends("$near $L probe ping 192.0.2.6 --size 70kB");
    assert!(code == 2 && said.contains("an echo carries at most 65467 bytes"), "{said}");
}

#[test]
fn tests_towards_each_hop_say_at_which_it_becomes_bad() {
    let mut world = network();
    world.run(
        "mkfifo $F/serving; ip netns exec far $L serve --no-archive 2> $F/serving & exec 8< $F/serving; read line <&8",
    );
    let along: Along = answer(&mut world, "test 192.0.2.6 --hops --bytes 500kB -C cubic");
    let [router, far] = along.hops.as_slice() else { panic!("{along:?}") };
    assert_eq!([router.address.to_string(), far.address.to_string()], ["192.0.2.2", "192.0.2.6"]);
    assert!(router.there.is_none() && router.back.is_none(), "no partner answers there");
    for run in [&far.there, &far.back] {
        assert_eq!(run.as_ref().unwrap().outcome, Outcome::Complete);
    }
    assert_eq!([router, far].map(|hop| hop.path_mtu.path_mtu.map(units::Mtu::get)), [Some(1500), Some(1400)]);
    assert_eq!([router, far].map(|hop| hop.echo.summary.rtt.sent.get()), [100, 100]);
    let said = world.run("$near $L test 192.0.2.6 --hops --bytes 500kB -C cubic");
    let turn = "hop 2 (192.0.2.6): packets of more than 1400 B do not reach it, those of 1500 B reach the hop before";
    assert!(said.lines().any(|line| line == turn) && said.contains("no partner"), "{said}");
    let kept = world.run("$L runs list --json");
    assert_eq!(kept.lines().count(), 4, "its flows are runs as any other: {kept}");
    world.run("ip netns pids far | xargs kill");
}

#[test]
fn hops_behind_which_nobody_answers_are_told_from_one_that_has_no_time() {
    let mut world = network();
    // The router forwards and does not answer echoes itself.
    world.run("ip netns exec router sh -c 'echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all'");
    let said = world.run("$near $L test 192.0.2.6 --hops --no-archive");
    assert!(said.contains("192.0.2.2") && said.contains("100 of 100"), "{said}");
    assert!(!said.contains("nothing becomes worse"), "{said}");
    world.run("ip -n near link set out mtu 1400; ip -n router link set in mtu 1400");
    let alike = world.run("$near $L test 192.0.2.6 --hops --no-archive");
    assert!(alike.contains("goodput is not judged: no flow reached a hop"), "{alike}");
    assert!(!said.contains("nobody answers"), "{said}");
    world.run("ip netns exec far sh -c 'echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all'");
    world.run("ip netns exec router sh -c 'echo 0 > /proc/sys/net/ipv4/icmp_echo_ignore_all'");
    let (said, code) = world.ends("$near $L test 192.0.2.6 --hops --no-archive");
    assert!(said.contains("the destination has not answered") && said.contains("2-30  silent"), "{said}");
    assert!(!said.contains("nothing becomes worse") && code == 3, "{said}");
}
