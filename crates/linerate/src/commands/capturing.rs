//! `linerate test --capture FILE`: headers of a test's packets, kept as they pass at this host.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use capture::write::{packet, raw_file_header};
use linux::packet_ring::PacketRing;
use linux::readiness::{Bell, Patience, Readiness};

use crate::exit::{Complaint, Exit};

/// A capture that runs.
pub struct Capturing {
    is_over: Arc<AtomicBool>,
    bell: Bell,
    thread: JoinHandle<anyhow::Result<Captured>>,
}

/// What came of it.
#[derive(Debug)]
pub struct Captured {
    pub path: PathBuf,
    pub packets: u64,
    /// Packets that came faster than they were kept.
    pub missed: u64,
}

/// Longer than the kernel keeps a block that is not full.
const ROUND: Duration = Duration::from_millis(50);

/// Begins to keep what passes from or to a port, in a network namespace where one is named.
pub fn start(path: &Path, port: u16, netns: Option<&str>) -> anyhow::Result<Capturing> {
    let ring = match netns {
        Some(name) => linux::netns::with_netns(&linux::netns::NetnsRef::parse(name)?, || PacketRing::open(port))?,
        None => PacketRing::open(port),
    };
    let ring = ring.context(
        Complaint::new(Exit::Local, "packets cannot be captured here")
            .hint("it takes CAP_NET_RAW: run it as root, or `setcap cap_net_raw+ep` the program"),
    )?;
    let file =
        File::create(path).with_context(|| Complaint::new(Exit::Local, format!("cannot write {}", path.display())))?;
    let readiness = Readiness::new()?;
    readiness.add(&ring, 0)?;
    let (is_over, bell) = (Arc::new(AtomicBool::new(false)), readiness.bell());
    let keeper =
        Keeper { ring, readiness, file: BufWriter::new(file), is_over: Arc::clone(&is_over), path: path.to_owned() };
    let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(move || keeper.run())?;
    Ok(Capturing { is_over, bell, thread })
}

impl Capturing {
    /// Keeps what has passed until now, and ends.
    pub fn end(self) -> anyhow::Result<Captured> {
        self.is_over.store(true, Ordering::Release);
        self.bell.ring();
        self.thread.join().map_err(|_| anyhow::anyhow!("the thread that keeps packets has panicked"))?
    }
}

struct Keeper {
    ring: PacketRing,
    readiness: Readiness,
    file: BufWriter<File>,
    is_over: Arc<AtomicBool>,
    path: PathBuf,
}

impl Keeper {
    fn run(mut self) -> anyhow::Result<Captured> {
        let failed = |path: &Path| Complaint::new(Exit::Local, format!("cannot write {}", path.display()));
        let mut text = Vec::new();
        raw_file_header(&mut text);
        let mut packets = 0;
        loop {
            // What passed before the end was asked for is in blocks that are closed a round later.
            let was_over = self.is_over.load(Ordering::Acquire);
            self.readiness.wait(Patience::For(ROUND), |_| ())?;
            self.ring.drain(|one| {
                packet(one.time_ns, one.wire_bytes, one.bytes, &mut text);
                packets += 1;
            });
            self.file.write_all(&text).with_context(|| failed(&self.path))?;
            text.clear();
            if was_over {
                break;
            }
        }
        self.file.flush().with_context(|| failed(&self.path))?;
        Ok(Captured { path: self.path, packets, missed: self.ring.missed()? })
    }
}
