//! A fault that hangs on hardware comes and goes with what programs in the host set it to.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use lab::live::{LabNetwork, Live, LiveError};
use lab::network::{FIXES, RECORDED_FACTS};
use lab::scenario::Scenario;
use linux::clock;
use path::Seed;

use crate::everywhere::everywhere;

/// Two hosts; whatever `east` gets comes twice while its adapter does so, or has a short ring.
const NETWORK: &str = r#"
title = "t"
about = "t"
[hosts.west]
[hosts.east]
[hosts.east.facts.interfaces.cable]
rings = { rx = 256, rx_max = 8192 }
[hosts.east.facts.interfaces.cable.features.rx-gro-hw]
hw = true
wanted = true
active = true
[[links]]
name = "cable"
between = ["west", "east"]
[[faults]]
id = "twice"
link = "cable"
towards = "east"
add = { duplicate = { probability = 1.0 } }
WHILE
[truth]
healthy = true
"#;

/// After this what is waited for is taken for not coming. No claim rests on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Calls `inside` while the network lives.
fn living(condition: &str, inside: impl FnOnce(Live<'_>)) {
    let mut scenario = Scenario::parse("t.toml", &NETWORK.replace("WHILE", condition)).unwrap();
    // Nobody tests here, so no host needs the program of linerate.
    scenario.services.clear();
    let stage = LabNetwork::raise(&scenario, Seed(1), Path::new("/bin/false")).unwrap();
    let hear = |error: LiveError| panic!("{error}");
    stage.live(lab::relay::Pace::REAL, &hear, inside).unwrap();
}

/// How often a datagram from `west` arrives at `east`, told by the one that is sent behind it.
fn arrives(live: &Live<'_>) -> usize {
    let [west, east] = ["west", "east"].map(|name| live.network.host(name).unwrap());
    let address = east.addresses().iter().find(|address| address.is_ipv4()).copied().unwrap();
    let receiver = east.run(|| UdpSocket::bind(SocketAddr::new(address, 0)).unwrap()).unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
    let sender = west.run(|| UdpSocket::bind(any).unwrap()).unwrap();
    for number in [1, 2] {
        sender.send_to(&[number], receiver.local_addr().unwrap()).unwrap();
    }
    let mut said = [0];
    let mut count = 0;
    loop {
        receiver.recv(&mut said).unwrap();
        if said == [2] {
            return count;
        }
        count += 1;
    }
}

/// Sets the hardware of `east` as a program there would, without asking anybody to look.
fn set(live: &Live<'_>, old: &str, new: &str) {
    let script = format!("sed 's/{old}/{new}/' ${RECORDED_FACTS} > $PWD/new && mv $PWD/new ${RECORDED_FACTS}");
    let script = format!("cd $(dirname ${RECORDED_FACTS}) && {script}");
    let mut command = live.network.host("east").unwrap().command("sh");
    let output = command.args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn wait_until_it_arrives(live: &Live<'_>, times: usize) {
    let begun = clock::now();
    while arrives(live) != times {
        assert!(clock::now().since(begun) < PATIENCE, "the network does not obey its hardware");
    }
}

#[test]
fn fault_of_a_feature_goes_when_it_is_switched_off_and_comes_back() {
    everywhere(module_path!(), "fault_of_a_feature_goes_when_it_is_switched_off_and_comes_back", || {
        living(r#"while = { host = "east", interface = "cable", feature = "rx-gro-hw" }"#, |live| {
            assert_eq!(arrives(&live), 2);
            set(&live, "active = true", "active = false");
            live.obey().unwrap();
            assert_eq!(arrives(&live), 1, "who asks need not wait");
            set(&live, "active = false", "active = true");
            wait_until_it_arrives(&live, 2);
            set(&live, "active = true", "active = false");
            wait_until_it_arrives(&live, 1);
            assert!(!live.end_fault("twice"), "what hangs on hardware is fixed there");
        });
    });
}

#[test]
fn fault_of_a_ring_goes_when_the_ring_is_long_enough() {
    everywhere(module_path!(), "fault_of_a_ring_goes_when_the_ring_is_long_enough", || {
        living(r#"while = { host = "east", interface = "cable", ring = "rx", below = 512 }"#, |live| {
            assert_eq!(arrives(&live), 2);
            set(&live, "rx = 256", "rx = 511");
            live.obey().unwrap();
            assert_eq!(arrives(&live), 2);
            set(&live, "rx = 511", "rx = 512");
            live.obey().unwrap();
            assert_eq!(arrives(&live), 1);
        });
    });
}

#[test]
fn fault_that_hangs_on_nothing_is_mended_for_good() {
    everywhere(module_path!(), "fault_that_hangs_on_nothing_is_mended_for_good", || {
        living("", |live| {
            assert_eq!(arrives(&live), 2);
            assert!(live.end_fault("twice") && !live.end_fault("thrice"));
            assert_eq!(arrives(&live), 1);
            live.obey().unwrap();
            assert_eq!(arrives(&live), 1);
        });
    });
}

#[test]
fn each_host_keeps_its_own_fixes() {
    everywhere(module_path!(), "each_host_keeps_its_own_fixes", || {
        living("", |live| {
            let in_host = |name: &str, script: &str| {
                let output = live.network.host(name).unwrap().command("sh").args(["-c", script]).output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).unwrap()
            };
            let place = in_host("west", &format!("mkdir -p ${FIXES}; touch ${FIXES}/mine; echo ${FIXES}"));
            assert_eq!(in_host("east", &format!("echo ${FIXES}; ls ${FIXES} 2>/dev/null || true")), place);
            assert!(!Path::new(place.trim()).exists(), "nor does it lie on the machine");
        });
    });
}
