//! Claims about programs: on bytes, on frames that the kernel runs them over, on a device of a fresh namespace.

use std::net::UdpSocket;
use std::time::Duration;

use super::assemble::{Alu, AssembleError, Assembler, At, Reg, When, Width};
use super::meter::{Bucket, BurstMeter, Hook};
use crate::sandbox::{in_sandbox, inside};
use crate::{Reason, Unavailable, clock};

/// The bytes are those of Documentation/bpf/standardization/instruction-set.rst.
#[test]
fn instructions_have_their_bytes() {
    let mut program = Assembler::new();
    program.mov(Reg::R6, Reg::R1).alu(Alu::Mul, Reg::R8, 2_048).call(5).load(Width::Word, Reg::R1, At(Reg::R6, 164));
    program.store(Width::Double, At(Reg::R0, 8), Reg::R1).clear(At(Reg::R0, 16)).map(Reg::R1, 7);
    program.jump_if(Reg::R0, When::Equal, 0, "out").jump_if(Reg::R1, When::Equal, Reg::R7, "out");
    program.label("out").end_with(-1);
    let bytes = program.bytes().unwrap();
    let expected: [[u8; 8]; 12] = [
        [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
        [0x27, 0x08, 0, 0, 0, 8, 0, 0],
        [0x85, 0, 0, 0, 5, 0, 0, 0],
        [0x61, 0x61, 164, 0, 0, 0, 0, 0],
        [0x7b, 0x10, 8, 0, 0, 0, 0, 0],
        [0x7a, 0x00, 16, 0, 0, 0, 0, 0],
        [0x18, 0x11, 0, 0, 7, 0, 0, 0],
        [0; 8],
        [0x15, 0x00, 1, 0, 0, 0, 0, 0],
        [0x1d, 0x71, 0, 0, 0, 0, 0, 0],
        [0xb4, 0x00, 0, 0, 0xff, 0xff, 0xff, 0xff],
        [0x95, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn a_jump_to_nowhere_or_too_far_is_refused() {
    assert_eq!(Assembler::new().jump("x").bytes(), Err(AssembleError::NoLabel("x")));
    let mut long = Assembler::new();
    long.jump("x");
    for _ in 0..40_000 {
        long.mov(Reg::R0, 0);
    }
    assert_eq!(long.label("x").bytes(), Err(AssembleError::TooFar("x")));
}

/// A frame of IPv4 with these ECN bits and a UDP datagram of so many bytes.
fn frame(ecn: u8, payload: usize, port: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let length = u16::try_from(28 + payload).unwrap().to_be_bytes();
    frame.extend([0x45, ecn, length[0], length[1], 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0x14, 0x51, 0, 8, 0, 0]);
    frame.resize(42 + payload, 0);
    frame
}

/// Root of the machine may load programs; anybody else, and an older kernel, is told what is missing.
fn allowed(opened: Result<BurstMeter, Unavailable>) -> Option<BurstMeter> {
    match opened {
        Ok(meter) => Some(meter),
        Err(error) => {
            assert!(matches!(error.reason, Reason::Denied | Reason::Unsupported), "{error}");
            eprintln!("not run without privilege: {error}");
            None
        }
    }
}

#[test]
fn root_of_a_user_namespace_is_denied_and_told_so() {
    in_sandbox(module_path!(), "root_of_a_user_namespace_is_denied_and_told_so", || {
        assert!(inside());
        let error = BurstMeter::open(1, Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.reason, Reason::Denied, "{error}");
    });
}

/// All buckets of a meter once they have closed.
fn closed(meter: &mut BurstMeter, hook: Hook) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    let end = clock::now() + meter.tick() * 2;
    let overrun = meter.read(hook, end, |bucket| buckets.push(bucket));
    assert_eq!(overrun.ticks, 0);
    buckets
}

#[test]
fn the_kernel_runs_the_program_over_frames_and_counts_them() {
    let Some(mut meter) = allowed(BurstMeter::of_frames(Duration::from_secs(1), Hook::Ingress)) else { return };
    meter.pass(&frame(0, 958, 1_000), 7);
    meter.pass(&frame(3, 458, 1_000), 5);
    let buckets = closed(&mut meter, Hook::Ingress);
    let sum = |of: fn(&Bucket) -> u64| buckets.iter().map(of).sum::<u64>();
    assert_eq!(sum(|bucket| bucket.bytes), 7 * 1_000 + 5 * 500);
    assert_eq!((sum(|bucket| bucket.packets), sum(|bucket| bucket.aggregates)), (12, 12));
    assert_eq!(sum(|bucket| bucket.marked), 5);
    assert!(buckets.iter().all(|bucket| bucket.flows.count_ones() == 1), "one flow: {buckets:?}");
}

/// A frame of IPv6 and a segment of TCP without options and payload.
fn segment_of_ipv6(port: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64];
    frame.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    frame.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0x14, 0x51, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
    frame
}

/// The bits of all flows of frames that pass.
fn bits_of(frames: impl IntoIterator<Item = Vec<u8>>) -> Option<u32> {
    let mut meter = allowed(BurstMeter::of_frames(Duration::from_secs(1), Hook::Ingress))?;
    for frame in frames {
        meter.pass(&frame, 2);
    }
    Some(closed(&mut meter, Hook::Ingress).iter().fold(0, |bits, bucket| bits | bucket.flows).count_ones())
}

/// Of 64 flows whose bits are drawn 50.5 of 128 are set, with a standard deviation of 3.0: five of them on either side.
#[test]
fn neighbouring_ports_and_addresses_set_bits_as_if_they_were_drawn() {
    let drawn = 36..=65;
    let Some(ports) = bits_of((0..64).map(|port| frame(0, 100, 40_000 + port))) else { return };
    assert!(drawn.contains(&ports), "ports: {ports}");
    let of_ipv6 = bits_of((0..64).map(|port| segment_of_ipv6(40_000 + port))).unwrap();
    assert!(drawn.contains(&of_ipv6), "ports of IPv6: {of_ipv6}");
    for (place, what) in [(29, "sources"), (33, "destinations"), (31, "networks")] {
        let hosts = bits_of((0..64).map(|host| {
            let mut frame = frame(0, 100, 40_000);
            frame[place] = 10 + host;
            frame
        }));
        assert!(drawn.contains(&hosts.unwrap()), "{what}: {hosts:?}");
    }
}

#[test]
fn fragments_of_a_datagram_are_one_flow_though_only_the_first_has_ports() {
    let fragments = (0..8_u8).map(|at| {
        let mut frame = frame(0, 100, 1_000 + u16::from(at) * 77);
        (frame[20], frame[21]) = (if at < 7 { 0x20 } else { 0 }, at * 16);
        frame
    });
    let Some(bits) = bits_of(fragments) else { return };
    assert_eq!(bits, 1);
}

#[test]
fn a_sample_has_the_headers_of_frames_of_every_length() {
    let Some(mut meter) = allowed(BurstMeter::of_frames(Duration::from_secs(1), Hook::Ingress)) else { return };
    let mut with_options = frame(0, 60, 1_000);
    with_options[14] = 0x48;
    let frames = (0..60).map(|payload| frame(0, payload, 1_000));
    for frame in frames.chain([segment_of_ipv6(1_000), with_options]) {
        meter.pass(&frame, 1);
        let mut heads = 0;
        meter.samples(Hook::Ingress, |sample| {
            heads += 1;
            assert!(sample.head.len() >= frame.len().min(54) && frame.starts_with(sample.head), "{}", frame.len());
            assert!(frame[14] == 0x45 || sample.head.len() == frame.len().min(80), "all headers: {}", frame.len());
            assert_eq!(sample.bytes, frame.len() as u64);
        });
        assert_eq!(heads, 1, "{}", frame.len());
    }
}

#[test]
fn a_bucket_that_was_taken_anew_is_an_overrun_and_no_number() {
    let Some(mut meter) = allowed(BurstMeter::of_frames(Duration::from_millis(1), Hook::Ingress)) else { return };
    meter.pass(&frame(0, 10, 1), 1);
    let late = clock::now() + meter.memory() * 3;
    let overrun = meter.read(Hook::Ingress, late, |bucket| panic!("{bucket:?} was gone"));
    assert!(overrun.ticks > 0);
}

#[test]
fn datagrams_over_loopback_are_counted_in_both_directions_with_their_headers() {
    crate::netns::in_fresh_netns(|| {
        let lo = crate::links::dump().unwrap().into_iter().find(|link| link.name == "lo").unwrap();
        let Some(mut meter) = allowed(BurstMeter::open(lo.index, Duration::from_millis(10))) else { return };
        let sockets = [(); 3].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        for socket in &sockets {
            for _ in 0..10 {
                socket.send_to(&[0; 1_000], sink.local_addr().unwrap()).unwrap();
                sink.recv_from(&mut [0; 1_024]).unwrap();
            }
        }
        for hook in [Hook::Egress, Hook::Ingress] {
            let buckets = closed(&mut meter, hook);
            let bytes: u64 = buckets.iter().map(|bucket| bucket.bytes).sum();
            let packets: u64 = buckets.iter().map(|bucket| bucket.packets).sum();
            assert_eq!((bytes, packets), (30 * 1_042, 30), "{hook:?}");
        }
    })
    .unwrap();
}

#[test]
fn the_first_packets_of_a_bucket_are_sampled_and_one_of_sixteen_behind_them() {
    let Some(mut meter) = allowed(BurstMeter::of_frames(Duration::from_secs(1), Hook::Ingress)) else { return };
    let long = frame(0, 958, 0x1234);
    meter.pass(&long, 20_000);
    let (mut samples, mut bytes) = (0_u32, 0);
    meter.samples(Hook::Ingress, |sample| {
        assert_eq!(sample.head, &long[..80]);
        (samples, bytes) = (samples + 1, bytes + sample.bytes);
    });
    // The first 256, of two buckets where a second ends meanwhile, and one of each sixteen of the rest, 1,234.
    assert!((256 + 1_200..=2 * 256 + 1_240).contains(&samples), "{samples}");
    assert!(bytes.abs_diff(20_000 * 1_000) < 4_000_000, "{bytes}");
    meter.pass(&frame(0, 10, 1), 16);
    let mut heads = 0;
    meter.samples(Hook::Ingress, |sample| heads += usize::from(sample.head.len() == 52));
    meter.samples(Hook::Ingress, |sample| panic!("{sample:?} was taken before"));
    assert!(heads <= 16, "{heads}");
}

#[test]
fn samples_beyond_the_room_for_them_are_counted() {
    const PACKETS: u32 = 1_000_000;
    let Some(mut meter) = allowed(BurstMeter::of_frames(Duration::from_secs(1), Hook::Ingress)) else { return };
    meter.pass(&frame(0, 100, 1), PACKETS);
    let mut samples = 0_u64;
    meter.samples(Hook::Ingress, |_| samples += 1);
    let buckets = closed(&mut meter, Hook::Ingress);
    assert_eq!(buckets.iter().map(|bucket| bucket.packets).sum::<u64>(), u64::from(PACKETS));
    let lost: u64 = buckets.iter().map(|bucket| bucket.samples_lost).sum();
    // All of the first 256 of each bucket, and one of each sixteen of the rest. Two more buckets are those of a machine that stands still
    // meanwhile.
    let expected = u64::from(PACKETS) / 16 + 240;
    assert!((expected - 2..=expected + 2 * 241).contains(&(samples + lost)), "{samples} and {lost}");
    assert!((32_000..=32_768).contains(&samples), "the ring holds less than there was: {samples} and {lost}");
    meter.pass(&frame(0, 100, 1), 1_000);
    let mut later = 0_u64;
    meter.samples(Hook::Ingress, |_| later += 1);
    assert!(later > 0, "there is room again");
}
