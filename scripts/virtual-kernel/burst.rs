//! Sends datagrams at a rate for a time, or takes them: the burst of a case. Compiled by the standard compiler alone.
//!
//!     burst sink
//!     burst ADDRESS START_MS,RATE_KBIT,LENGTH_MS,BYTES

use std::net::UdpSocket;
use std::time::{Duration, Instant};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [sink] if sink == "sink" => take(),
        [address, burst] => send(address, burst),
        _ => Err(std::io::Error::other("burst sink | burst ADDRESS START_MS,RATE_KBIT,LENGTH_MS,BYTES")),
    }
}

fn take() -> std::io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:9")?;
    let mut buffer = [0; 65_536];
    loop {
        socket.recv(&mut buffer)?;
    }
}

fn send(address: &str, burst: &str) -> std::io::Result<()> {
    let numbers: Vec<u64> = burst.split(',').filter_map(|number| number.parse().ok()).collect();
    let [start, rate_kbit, length, bytes] = numbers[..] else {
        return Err(std::io::Error::other("four numbers"));
    };
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((address, 9))?;
    let payload = vec![0; bytes as usize];
    let began = Instant::now() + Duration::from_millis(start);
    // UDP, IP and Ethernet headers are part of the rate.
    let gap = Duration::from_nanos((bytes + 42) * 8 * 1_000_000 / rate_kbit);
    std::thread::sleep(Duration::from_millis(start));
    let mut sent = 0_u32;
    let mut due = began;
    while due < began + Duration::from_millis(length) {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if socket.send(&payload).is_ok() {
            sent += 1;
        }
        due += gap;
    }
    println!("burst {sent}");
    Ok(())
}
