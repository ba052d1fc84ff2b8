//! What pages of a hub take with a mesh of a thousand hosts: the grid of all pairs, and a year of one of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hub::api::order::LeaseName;
use hub::api::record::{Record, RecordKind, RunResult};
use hub::server::directory::Directory;
use hub::store::Store;
use hub::store::rows::{Arrival, Delivered, Judgement, Point, PointQuality};
use hub::store::sqlite::Sqlite;
use hub::store::turn::{Changes, TurnRequest};
use linux::clock;
use mesh::incident::{Metric, Series};
use model::played::Finding;
use model::run::{Run, RunId};
use model::series::packed;
use tempfile::TempDir;
use units::{DataRate, WallTime};

use super::hub::{Prepared, measured};
use super::idle::resident_mb;
use crate::actors::Actors;
use crate::browser::{Browser, Page, Visit};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let hosts = effort.choose(300, 1_000);
    let mesh = Mesh::make(actors, hosts)?;
    let pages = Pages::start(actors, &mesh)?;
    let times = effort.choose(3, 9);
    let often = |most_ms| Asked { times, most_ms };
    let mut rows = vec![Row::new(format!("{hosts} hosts: until pages are served"), pages.ready_s, "s")];
    rows.push(Row::new(format!("{hosts} hosts: until the grid of all pairs is there"), pages.until_read()?, "s"));
    let mut ask = |what: &str, path: &str, asked: Asked| -> anyhow::Result<()> {
        let Asked { times, most_ms } = asked;
        let answers = (0..times).map(|_| pages.get(path)).collect::<anyhow::Result<Vec<Answer>>>()?;
        let size = answers.iter().map(|answer| answer.bytes).max().unwrap_or_default();
        let time = Spread::of(answers.iter().map(|answer| answer.time_ms)).median;
        let row = Row::new(format!("{hosts} hosts: {what}"), time, "ms").target(Target::AtMost(most_ms));
        rows.push(row.note(format!("{:.0} kB as sent", size as f64 * 1e-3)));
        Ok(())
    };
    ask("overview as JSON", "/view/v1/overview", often(API_MS))?;
    ask("round as JSON", "/view/v1/round/latest", often(API_MS))?;
    ask("grid of all pairs as JSON", "/view/v1/round/latest/grid?metric=goodput", often(API_MS))?;
    ask("a year of a pair as JSON, a result each hour", "/view/v1/pair?from=host-0&to=host-1", often(YEAR_MS))?;
    mesh.add_one()?;
    let once = Asked { times: 1, most_ms: API_MS };
    ask("grid as JSON, the first time after a new result", "/view/v1/round/latest/grid?metric=goodput", once)?;
    rows.push(Row::new("resident memory of what serves them", resident_mb(pages.process.id())?, "MB"));
    rows.extend(in_a_browser(&pages, Measured { hosts, times })?);
    Ok(rows)
}

/// How often something is asked for, and how long it may take.
#[derive(Clone, Copy)]
struct Asked {
    times: usize,
    most_ms: f64,
}

/// How large the mesh is, and how often each page is asked for.
#[derive(Clone, Copy)]
struct Measured {
    hosts: usize,
    times: usize,
}

/// What a person sees.
fn in_a_browser(pages: &Pages, measured: Measured) -> anyhow::Result<Vec<Row>> {
    let Measured { hosts, times } = measured;
    let mut browser = Browser::start()?;
    let mut rows = Vec::new();
    let drawn = "document.documentElement.dataset.ready";
    for (what, path, is_complete, most_ms) in [
        ("grid", "/round/latest", "!document.body.innerText.includes('being worked out')", Some(PAINT_MS)),
        ("a year of a pair", "/pair?from=host-0&to=host-1", "document.querySelector('.u-wrap')", None),
        ("overview", "/", drawn, None),
        ("host", "/host?name=host-0", drawn, None),
        ("diagnosis", "/round/latest/why", drawn, None),
        ("network", "/round/latest/network", drawn, None),
        ("downloads", "/downloads", drawn, None),
        ("what if", "/what-if", drawn, None),
    ] {
        let page = Page { address: format!("http://{}{path}", pages.address), is_complete };
        let visits = (0..times).map(|_| browser.visit(&page)).collect::<anyhow::Result<Vec<_>>>()?;
        let shown = Spread::of(visits.iter().map(|visit| visit.shown_ms)).median;
        let row = Row::new(format!("{hosts} hosts: {what} drawn, first visit"), shown, "ms");
        rows.push(if let Some(most) = most_ms { row.target(Target::AtMost(most)) } else { row });
        let most = |bytes: fn(&Visit) -> f64| visits.iter().map(bytes).fold(0.0, f64::max) * 1e-3;
        let own =
            Row::new(format!("{hosts} hosts: {what}: page as sent, without data"), most(|visit| visit.own_bytes), "kB");
        rows.push(own.target(Target::AtMost(OWN_KB)));
        rows.push(Row::new(format!("{hosts} hosts: {what}: its data as sent"), most(|visit| visit.data_bytes), "kB"));
        let shift = visits.iter().map(|visit| visit.shift).fold(0.0, f64::max);
        rows.push(
            Row::new(format!("{hosts} hosts: {what}: cumulative layout shift"), shift, "").target(Target::AtMost(0.0)),
        );
    }
    Ok(rows)
}

const API_MS: f64 = 300.0;
const YEAR_MS: f64 = 200.0;
const PAINT_MS: f64 = 1_500.0;
const OWN_KB: f64 = 300.0;

/// A hub's directory with a mesh in it: a result of each pair, and one each hour of one of them.
struct Mesh {
    place: TempDir,
    hosts: usize,
    store: Arc<Sqlite>,
    now: WallTime,
}

impl Mesh {
    fn make(actors: &Actors, hosts: usize) -> anyhow::Result<Self> {
        let place = TempDir::new()?;
        let directory = place.path().join("hub");
        let mut init = Command::new(actors.linerate());
        init.args(["hub", "init"]).arg(&directory).args(["--name", "127.0.0.1", "--listen", "127.0.0.1:0"]);
        let made = init.output()?;
        ensure!(made.status.success(), "`linerate hub init` failed: {}", String::from_utf8_lossy(&made.stderr));
        let store = Arc::new(Sqlite::open(&Directory::at(&directory).database())?);
        let mesh = Self { place, hosts, store, now: clock::wall_now() };
        let changes = Changes { plan: Some(mesh.plan()), ..Changes::default() };
        mesh.store.turn(TurnRequest::default())?.1.commit(changes)?;
        let (run, samples) = measured(actors)?;
        mesh.add_year(&Prepared { run, samples })?;
        mesh.add_grid()?;
        Ok(mesh)
    }

    /// A test over TCP each day within groups of a hundred: a plan has 100,000 pairs at most, and what was measured between others
    /// under other plans is shown as well.
    fn plan(&self) -> String {
        let host = |host: usize| format!("[hosts.host-{host}]\naddress = \"10.{}.{}.1\"\n", host / 250, host % 250);
        let group = |first: usize| {
            let names = (first..(first + GROUP).min(self.hosts)).map(|host| format!("\"host-{host}\""));
            format!("[groups.from-{first}]\nmesh = [{}]\n", names.collect::<Vec<_>>().join(", "))
        };
        format!(
            "title = \"mesh of {} hosts\"\n[times]\nevery = \"24h\"\n{}{}[[tests]]\nkind = \"tcp\"\nlabel = \"{TEST}\"\ngroup = \"from-0\"\ntime = \"1s\"\n",
            self.hosts,
            (0..self.hosts).map(host).collect::<String>(),
            (0..self.hosts).step_by(GROUP).map(group).collect::<String>(),
        )
    }

    /// Points of a year, and of the latest of them the results that an agent delivered, with the samples of a real test: no page reads
    /// others.
    fn add_year(&self, prepared: &Prepared) -> anyhow::Result<()> {
        let samples = packed::pack(&prepared.samples);
        // The database numbers records from 1 on; those that nobody delivered have no number that one could have.
        let number = |hour: usize| match hour.checked_sub(YEAR_HOURS - DELIVERED) {
            Some(delivered) => delivered as u64 + 1,
            None => (2 * YEAR_HOURS + hour) as u64,
        };
        let mut points = Vec::new();
        for first in (0..YEAR_HOURS).step_by(TOGETHER) {
            let hours = first..(first + TOGETHER).min(YEAR_HOURS);
            let mut arrivals = Vec::new();
            for hour in hours {
                let at = self.before(YEAR_HOURS - hour);
                // Days differ from nights, and something became worse in the last month.
                let level = if hour > YEAR_HOURS - 700 { 5.2e8 } else { 9.3e8 };
                let bps = level
                    + 1e7 * (hour as f64 / 24.0 * std::f64::consts::TAU).sin()
                    + (hour * 7_919 % 1_000) as f64 * 1e4;
                points.push(self.point(Place { from: 0, to: 1, record: number(hour) }, at, bps.floor()));
                if hour < YEAR_HOURS - DELIVERED {
                    continue;
                }
                let content = RunResult { began: at, finding: Finding::Run(Box::new(again(&prepared.run, at, bps))) };
                let lease = LeaseName { run: format!("{TEST}@from-0/host-0/host-1/{hour}"), attempt: 1 };
                let kind = RecordKind::Result { lease };
                let record =
                    Record::pack(format!("result-{hour}"), kind, &serde_json::to_vec(&content)?, Some(&samples))?;
                let unpacked = record.unpack().map_err(|error| anyhow::anyhow!("a record is not readable: {error}"))?;
                arrivals.push(Arrival { record, unpacked });
            }
            let delivered = vec![Delivered { agent: "host-0".to_owned(), arrivals, at: self.now }];
            self.store.turn(TurnRequest::default())?.1.commit(Changes { delivered, ..Changes::default() })?;
        }
        self.store.judged(Judgement { points, ..Judgement::default() })?;
        Ok(())
    }

    fn add_grid(&self) -> anyhow::Result<()> {
        let all = (0..self.hosts).flat_map(|from| (0..self.hosts).map(move |to| (from, to)));
        let pairs: Vec<(usize, usize)> = all.filter(|(from, to)| from != to && (*from, *to) != (0, 1)).collect();
        for (part, pairs) in pairs.chunks(50_000).enumerate() {
            let number = |place: usize| (3 * YEAR_HOURS + part * 50_000 + place + 1) as u64;
            let point = |(place, (from, to)): (usize, &(usize, usize))| {
                let place = Place { from: *from, to: *to, record: number(place) };
                self.point(place, self.before(1), 1e9 * share(place))
            };
            let points = pairs.iter().enumerate().map(point).collect();
            self.store.judged(Judgement { points, ..Judgement::default() })?;
        }
        Ok(())
    }

    /// A result that is newer than all.
    fn add_one(&self) -> anyhow::Result<()> {
        let place = Place { from: 1, to: 0, record: (3 * YEAR_HOURS + self.hosts * self.hosts + 1) as u64 };
        let points = vec![self.point(place, self.now, 1e8)];
        self.store.judged(Judgement { points, ..Judgement::default() })?;
        Ok(())
    }

    fn before(&self, hours: usize) -> WallTime {
        WallTime::from_unix_nanos(self.now.unix_nanos() - hours as u64 * 3_600_000_000_000)
    }

    fn point(&self, place: Place, at: WallTime, value: f64) -> Point {
        let [from, to] = [place.from, place.to].map(|host| format!("host-{host}"));
        let series = Series { from, to, test: TEST.to_owned(), family: None, metric: Metric::Goodput };
        Point { series, at, value, settled: None, good: PointQuality::Good, record: place.record }
    }

    fn directory(&self) -> PathBuf {
        self.place.path().join("hub")
    }
}

/// The part of a Gbit/s that a pair has: most of it, less noise that no compression foresees, and one pair in two hundred a fraction.
fn share(Place { from, to, .. }: Place) -> f64 {
    let mixed = ((from * 1_000 + to) as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(31)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let noise = (0..4).map(|part| ((mixed >> (16 * part)) & 0xffff) as f64 / 65_536.0).sum::<f64>() / 4.0;
    if mixed.is_multiple_of(200) { noise } else { 0.85 + 0.2 * noise }
}

/// Whose result a point is.
#[derive(Clone, Copy)]
struct Place {
    from: usize,
    to: usize,
    record: u64,
}

/// A run as if it had been measured at another time, with another goodput.
fn again(run: &Run, at: WallTime, bps: f64) -> Run {
    let mut run = Run { id: RunId::new(at, 1), started: at, ..run.clone() };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of a few hundred Mbit/s")]
    let goodput = DataRate::from_bps(bps as u64);
    for total in run.measurement.iter_mut().flat_map(|found| &mut found.totals) {
        total.goodput = goodput;
    }
    run
}

/// `linerate view` over the hub's directory.
struct Pages {
    process: Child,
    address: String,
    began: Instant,
    /// From the start of the program until it listens.
    ready_s: f64,
}

impl Pages {
    fn start(actors: &Actors, mesh: &Mesh) -> anyhow::Result<Self> {
        let began = Instant::now();
        let mut command = Command::new(actors.linerate());
        command.arg("view").arg(mesh.directory()).args(["--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = process.stdout.take().context("`linerate view` has no output")?;
        let mut pages = Self { process, address: String::new(), began, ready_s: 0.0 };
        for line in BufReader::new(output).lines() {
            if let Some(rest) = line?.strip_prefix("http://") {
                pages.address = rest.split('/').next().unwrap_or_default().to_owned();
                pages.ready_s = began.elapsed().as_secs_f64();
                return Ok(pages);
            }
        }
        anyhow::bail!("`linerate view` has ended before it listened")
    }

    /// How long it takes from the start until what was measured is read.
    fn until_read(&self) -> anyhow::Result<f64> {
        loop {
            match self.get("/view/v1/round/latest") {
                Ok(_) => return Ok(self.began.elapsed().as_secs_f64()),
                // It is being read.
                Err(error) if error.to_string().contains("being read") && self.began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks as any program does, and reads the answer to its end.
    fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let began = Instant::now();
        let mut connection = TcpStream::connect(&self.address)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\n", self.address);
        write!(connection, "{head}Connection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer)?;
        let time_ms = began.elapsed().as_secs_f64() * 1e3;
        let text = String::from_utf8_lossy(&answer[..answer.len().min(2_000)]).into_owned();
        let refusal = || text.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
        ensure!(text.starts_with("HTTP/1.1 200"), "{path}: {}", refusal());
        Ok(Answer { time_ms, bytes: answer.len() })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // It fails only where it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What an answer took.
struct Answer {
    time_ms: f64,
    bytes: usize,
}

const TEST: &str = "daily";
const GROUP: usize = 100;
const YEAR_HOURS: usize = 8_760;
const DELIVERED: usize = 500;
/// Hours that are stored together.
const TOGETHER: usize = 500;
const PATIENCE: Duration = Duration::from_secs(60);
