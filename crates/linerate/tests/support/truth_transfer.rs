//! Transfers of ordinary programs: sockets of this one in the namespaces of two hosts, written to and read from by its threads.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use linux::netns::{NetnsRef, with_netns};
use linux::sockets::{PacingLimit, set_pacing_limit};
use units::DataRate;

use super::truth_network::Network;

/// A program writes for so long, and waits in its write for room whenever there is none.
pub fn waits_for_room(network: &Network, length: Duration) {
    connected(network, |near, far| writes(near, far, length));
}

/// The same with a kernel that sends no faster than it was asked to.
pub fn has_its_kernel_pace(network: &Network, rate: DataRate, length: Duration) {
    connected(network, |near, far| {
        set_pacing_limit(&near, PacingLimit::Limited(rate)).unwrap();
        writes(near, far, length);
    });
}

fn writes(mut near: TcpStream, far: TcpStream, length: Duration) {
    let reader = thread::spawn(move || received(far));
    let (block, until) = ([7; 64 << 10], Instant::now() + length);
    let mut sent = 0;
    while Instant::now() < until {
        near.write_all(&block).unwrap();
        sent += block.len();
    }
    drop(near);
    assert_eq!(reader.join().unwrap(), sent);
}

/// A program writes `size` bytes so many `times`, and goes on when the other end has taken them and was asked for the next four times.
pub fn answers_in_turns(network: &Network, size: usize, times: std::num::NonZero<u32>) {
    const ASKED: usize = 4;
    connected(network, |mut near, mut far| {
        let reader = thread::spawn(move || {
            let mut taken = vec![0; size];
            while far.read_exact(&mut taken).is_ok() {
                for _ in 0..ASKED {
                    far.write_all(&[1]).unwrap();
                    far.read_exact(&mut [0]).unwrap();
                }
            }
        });
        let block = vec![7; size];
        for _ in 0..times.get() {
            near.write_all(&block).unwrap();
            for _ in 0..ASKED {
                near.read_exact(&mut [0]).unwrap();
                near.write_all(&[2]).unwrap();
            }
        }
        drop(near);
        reader.join().unwrap();
    });
}

/// A connection from near to far by the way with a delay, which is not paced: a socket that connects by BBR is for ever.
fn connected(network: &Network, transfer: impl FnOnce(TcpStream, TcpStream)) {
    network.set(&network.near, "net.ipv4.tcp_congestion_control", "reno");
    let of = |host: &str| NetnsRef::parse(host).unwrap();
    let listener = with_netns(&of(&network.far), || TcpListener::bind((network.far_delayed(), 0)).unwrap()).unwrap();
    let to = listener.local_addr().unwrap();
    let near = with_netns(&of(&network.near), || TcpStream::connect(to).unwrap()).unwrap();
    near.set_nodelay(true).unwrap();
    let (far, _) = listener.accept().unwrap();
    transfer(near, far);
}

/// All that comes until the end.
fn received(mut socket: TcpStream) -> usize {
    let (mut taken, mut all) = (vec![0; 64 << 10], 0);
    loop {
        match socket.read(&mut taken).unwrap() {
            0 => return all,
            length => all += length,
        }
    }
}
