//! A transfer by the kernel, between two namespaces, over the path that the lab's relay makes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use lab::relay::Options;
use lab::relay::report::Report;
use linux::netns::{NetnsRef, with_netns};
use linux::sockets::set_congestion_control;
use linux::tcp_info::TcpInfo;
use rustix::event::{PollFd, PollFlags, poll};
use sim::sender::Writer;
use units::ByteCount;

use super::shape::Seen;
use super::transfer::{EVERY, PATIENCE, Transfer};
use crate::contests::far::{FAR, Far};
use crate::contests::wire;

/// Sends so many bytes. Returns what was seen of it, and what the relay did.
pub(super) fn send(transfer: &Transfer, bytes: ByteCount) -> anyhow::Result<(Vec<Seen>, Report)> {
    // A fortieth of the round trip is half of what the nearest of the targets allows.
    let late = Duration::from_micros(transfer.rtt_ms * 1_000 / 40).max(Options::default().late);
    wire::over(transfer.elements(), &Options { late, ..Options::default() }, |far| over(transfer, bytes, far))
}

const PORT: u16 = 5_300;
/// What is written at once, as iperf3 does.
const BLOCK: usize = 128 << 10;

fn over(transfer: &Transfer, bytes: ByteCount, far: &Far) -> anyhow::Result<Vec<Seen>> {
    // One that does not pace: what paces once does so for good.
    wire::set("tcp_congestion_control", "reno")?;
    // It begins with what the kernel has where nothing is set, and grows from there.
    wire::set("tcp_wmem", &format!("4096 16384 {}", transfer.send_buffer.get()))?;
    let address = (FAR.1, PORT);
    let listener = with_netns(&NetnsRef::Pid(far.id()), || TcpListener::bind(address))??;
    let reader = thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut buffer = vec![0; BLOCK];
        while stream.read(&mut buffer)? > 0 {}
        Ok(())
    });
    let stream = TcpStream::connect(address).context("the other namespace does not answer")?;
    set_congestion_control(&stream, transfer.algorithm.name())?;
    stream.set_nonblocking(transfer.writer == Writer::Polls)?;
    let began = Instant::now();
    let sending = stream.try_clone()?;
    let writer = thread::spawn({
        let writer = transfer.writer;
        move || write(sending, bytes, writer)
    });
    let seen = watch(&stream, bytes, began)?;
    writer.join().map_err(|_| anyhow!("the sender failed"))??;
    drop(stream);
    reader.join().map_err(|_| anyhow!("the receiver failed"))??;
    Ok(seen)
}

fn write(mut stream: TcpStream, bytes: ByteCount, writer: Writer) -> std::io::Result<()> {
    let block = vec![0; BLOCK];
    let mut left = usize::try_from(bytes.get()).unwrap_or(usize::MAX);
    while left > 0 {
        if writer == Writer::Polls {
            poll(&mut [PollFd::new(&stream, PollFlags::OUT)], None)?;
        }
        match stream.write(&block[..left.min(block.len())]) {
            Ok(written) => left -= written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    stream.shutdown(Shutdown::Write)
}

/// Looks at the connection until everything is acknowledged.
fn watch(stream: &TcpStream, bytes: ByteCount, began: Instant) -> anyhow::Result<Vec<Seen>> {
    let mut seen = Vec::new();
    loop {
        let info = TcpInfo::read(stream.as_fd())?;
        let acked = info.tcpi_bytes_acked().context("this kernel does not say what is acknowledged (Linux 4.1)")?;
        let out =
            info.tcpi_unacked().zip(info.tcpi_snd_mss()).map(|(segments, mss)| u64::from(segments) * u64::from(mss));
        let out = out.context("this kernel does not say what is under way")?;
        seen.push(Seen::new(began.elapsed(), ByteCount::new(acked), ByteCount::new(out)));
        if acked >= bytes.get() {
            return Ok(seen);
        }
        anyhow::ensure!(began.elapsed() < PATIENCE, "only {acked} of {bytes} were acknowledged in {PATIENCE:?}");
        thread::sleep(EVERY);
    }
}
