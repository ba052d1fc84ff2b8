//! A relay in user space that holds every packet for a fixed time.
//!
//! The hosts pack their frames into UDP (VXLAN), so that ordinary sockets can hold them back. The delay is constant, so
//! what came first goes first.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linux::netns::{NetnsRef, with_netns};
use linux::sockets::{Direction, set_buffer_size_beyond_limit};
use units::ByteCount;

/// A packet, when it may go on, and where to.
type Held = (Instant, Vec<u8>, SocketAddr);

/// The relay; it ends with its owner.
pub struct Relay {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

const PORT: u16 = 4789;

impl Relay {
    /// Relays between two hosts from inside a namespace.
    pub fn start(namespace: &str, hosts: [IpAddr; 2], delay: Duration) -> Self {
        let reference = NetnsRef::parse(namespace).unwrap();
        let socket = with_netns(&reference, || UdpSocket::bind(("0.0.0.0", PORT)).unwrap()).unwrap();
        set_buffer_size_beyond_limit(&socket, Direction::Receive, ByteCount::new(64 << 20)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let (stop, (send, receive)) = (Arc::<AtomicBool>::default(), channel());
        let (out, stopped) = (socket.try_clone().unwrap(), Arc::clone(&stop));
        let threads = vec![
            thread::spawn(move || {
                take(&socket, hosts, |packet, to| send.send((Instant::now() + delay, packet, to)).is_ok(), &stopped);
            }),
            thread::spawn(move || pass_on(&out, &receive)),
        ];
        Self { stop, threads }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A relay that failed has failed the test already.
            let _ = thread.join();
        }
    }
}

fn take(socket: &UdpSocket, [one, other]: [IpAddr; 2], pass: impl Fn(Vec<u8>, SocketAddr) -> bool, stop: &AtomicBool) {
    let mut packet = [0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut packet) else { continue };
        let to = SocketAddr::new(if from.ip() == one { other } else { one }, PORT);
        if !pass(packet[..length].to_vec(), to) {
            return;
        }
    }
}

fn pass_on(socket: &UdpSocket, held: &Receiver<Held>) {
    for (due, packet, to) in held {
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::park_timeout(left);
        }
        // A host that has gone takes nothing.
        let _ = socket.send_to(&packet, to);
    }
}
