//! What a watch without testing costs: a walk over a thousand connections each second, the program that counts packets, reports
//! of switches.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use passive::int::collector::{Collector, FirstOfDatagram};
use passive::int::decode;
use passive::int::generate::TestReport;
use passive::int::report::IntHop;

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::contests::watcher::Watch;
use crate::outcome::{Row, Target};

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = connections(actors, effort)?;
    rows.extend(super::burst_program::rows(actors, effort)?);
    rows.push(reports(effort)?);
    Ok(rows)
}

/// 500 connections over loopback are 1,000 sockets.
fn connections(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut pairs = Vec::new();
    for _ in 0..500 {
        let client = TcpStream::connect(listener.local_addr()?)?;
        pairs.push((client, listener.accept()?.0));
    }
    let watch = Watch::start(actors, &["flows", "--json", "--no-archive"])?;
    // The first walk and the first interval are over.
    thread::sleep(Duration::from_secs(2));
    let length = Duration::from_secs(effort.choose(5, 20));
    let before = watch.cpu_time()?;
    thread::sleep(length);
    let share = (watch.cpu_time()? - before).as_secs_f64() / length.as_secs_f64();
    let busy = with_busiest(&watch, &mut pairs, length)?;
    Ok(vec![
        Row::new("CPU time, 1,000 connections once a second", share * 100.0, "% of a core").target(Target::AtMost(0.4)),
        Row::new("more, the busiest 20 ten times a second", (busy - share) * 100.0, "% of a core")
            .target(Target::AtMost(0.2)),
        Row::new("resident memory", super::idle::resident_mb(watch.id())?, "MB").target(Target::AtMost(20.0)),
    ])
}

/// The part of a core that the watch takes while 20 of the connections move a little all the time.
fn with_busiest(watch: &Watch, pairs: &mut [(TcpStream, TcpStream)], length: Duration) -> anyhow::Result<f64> {
    /// What makes a connection one whose readings are kept.
    const FIRST: usize = 2 << 20;
    let mut moved = vec![0; FIRST];
    let mut each = |size: usize| -> anyhow::Result<()> {
        for (client, server) in pairs.iter_mut().take(20) {
            // Less at once than the buffers of a connection hold.
            for part in moved[..size].chunks_mut(16 << 10) {
                client.write_all(part)?;
                server.read_exact(part)?;
            }
        }
        Ok(())
    };
    each(FIRST)?;
    // A walk finds them, and the next interval looks at them.
    let settled = Instant::now() + Duration::from_secs(2);
    while Instant::now() < settled {
        each(1 << 10)?;
        thread::sleep(Duration::from_millis(20));
    }
    let (before, begin) = (watch.cpu_time()?, Instant::now());
    while begin.elapsed() < length {
        each(1 << 10)?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok((watch.cpu_time()? - before).as_secs_f64() / begin.elapsed().as_secs_f64())
}

/// Reports decoded and added up on one core.
fn reports(effort: Effort) -> anyhow::Result<Row> {
    let hop = |node| IntHop { node: Some(node), queue: Some(1), occupancy: Some(99), ..IntHop::default() };
    let datagrams: Vec<Vec<u8>> = (0..1_000)
        .map(|sequence| {
            let (source, destination) = ("192.0.2.1:1".parse(), "192.0.2.2:2".parse());
            let (source, destination) = (source.context("an address")?, destination.context("an address")?);
            let hops = (1..=5).map(hop).collect();
            Ok(TestReport { node: 7, sequence, source, destination, hops }.version1())
        })
        .collect::<anyhow::Result<_>>()?;
    let mut collector = Collector::new();
    let rounds = effort.choose(200, 1_000);
    let begin = Instant::now();
    for _ in 0..rounds {
        for datagram in &datagrams {
            let taken = decode::datagram(datagram, |report| collector.report(&report, FirstOfDatagram::Yes));
            ensure!(taken.is_ok(), "a report is malformed");
        }
    }
    let rate = f64::from(rounds) * 1_000.0 / begin.elapsed().as_secs_f64();
    ensure!(collector.take_interval(None).reports == u64::try_from(rounds)? * 1_000, "reports are missing");
    Ok(Row::new("INT reports of five hops decoded and added up", rate, "reports/s").target(Target::AtLeast(500_000.0)))
}
