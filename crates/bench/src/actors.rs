//! linerate and iperf3 as programs: their arguments, and what they print.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::program::{Ended, Program, Seat};

/// The two programs.
#[derive(Debug)]
pub(crate) struct Actors {
    linerate: PathBuf,
    /// `linerate 0.1.0`
    pub(crate) linerate_version: String,
    /// `iperf 3.12`
    pub(crate) iperf3_version: String,
}

/// Who plays one end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Linerate,
    Iperf3,
}

/// A test to be run between two programs.
#[derive(Debug, Clone)]
pub(crate) struct Match<'a> {
    /// The client, who sends.
    pub(crate) client: Who,
    /// The server, who receives.
    pub(crate) server: Who,
    /// Arguments of the client besides host, port, and form of output.
    pub(crate) arguments: &'a [String],
    /// Whether each end has a processor to itself.
    pub(crate) seats: (Seat, Seat),
    /// Where the server is: its address, and the process whose namespaces it shares if they are not ours.
    pub(crate) place: Place,
}

/// Where the server is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// Here, on the loopback device.
    Here,
    /// In the namespaces of a process, at an address.
    Inside(u32, &'static str),
}

/// What a test between two programs brought.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played {
    /// Goodput as the client reports it, in bit/s.
    pub(crate) goodput_bps: f64,
    /// Payload sent and received, in bytes.
    pub(crate) sent_bytes: f64,
    pub(crate) received_bytes: f64,
    /// Datagrams sent.
    pub(crate) datagrams: f64,
    /// How long the test took, in seconds.
    pub(crate) seconds: f64,
    /// Processor time of client and server, in seconds.
    pub(crate) client_cpu_s: f64,
    pub(crate) server_cpu_s: f64,
    /// What client and server say of their own processor use: processors busy on average.
    pub(crate) client_says: f64,
    pub(crate) server_says: f64,
}

impl Actors {
    /// Finds both programs; builds this workspace's linerate where none is named.
    pub(crate) fn find(named: Option<PathBuf>) -> anyhow::Result<Self> {
        let iperf3_version = version(Path::new("iperf3")).context(
            "iperf3 is missing, and without it there is nothing to compare with (`make setup` or `apt install iperf3`)",
        )?;
        let linerate = match named {
            Some(file) => file,
            None => built()?,
        };
        let linerate_version = version(&linerate)?;
        Ok(Self { linerate, linerate_version, iperf3_version })
    }

    /// The program that is measured.
    pub(crate) fn linerate(&self) -> &Path {
        &self.linerate
    }

    /// A `linerate serve`, or an `iperf3 -s`, for one test.
    pub(crate) fn server(&self, who: Who, port: u16, seat: Seat, place: Place) -> anyhow::Result<Program> {
        let port_text = port.to_string();
        let (program, arguments): (&Path, Vec<&str>) = match who {
            Who::Linerate => (&self.linerate, vec!["serve", "--once", "--quiet", "--no-archive", "--port", &port_text]),
            Who::Iperf3 => (Path::new("iperf3"), vec!["-s", "-1", "-p", &port_text]),
        };
        let mut command = inside(program, place);
        command.args(arguments);
        let mut server = Program::start(command, seat)?;
        server.await_listening(port)?;
        Ok(server)
    }

    /// A client, started.
    pub(crate) fn client(
        &self,
        who: Who,
        host: &str,
        port: u16,
        more: &[String],
        seat: Seat,
    ) -> anyhow::Result<Program> {
        let mut command = match who {
            Who::Linerate => {
                let mut command = Command::new(&self.linerate);
                command.args(["test", host, "--json", "--no-archive", "--port", &port.to_string()]);
                command
            }
            Who::Iperf3 => {
                let mut command = Command::new("iperf3");
                command.args(["-c", host, "-J", "-p", &port.to_string()]);
                command
            }
        };
        command.args(more);
        Program::start(command, seat)
    }

    /// Runs one test between two programs.
    pub(crate) fn play(&self, played: &Match<'_>) -> anyhow::Result<Played> {
        let port = fresh_port();
        let host = match played.place {
            Place::Here => "127.0.0.1",
            Place::Inside(_, address) => address,
        };
        let server = self.server(played.server, port, played.seats.1, played.place)?;
        let client = self.client(played.client, host, port, played.arguments, played.seats.0)?;
        let client = client.ended()?;
        let server = server.ended()?;
        read(played.client, &client, &server)
    }
}

/// Arguments as the command line takes them.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// A port that no earlier test of this process has used.
pub(crate) fn fresh_port() -> u16 {
    /// Below the range from which the kernel takes ports of clients.
    static NEXT: AtomicU16 = AtomicU16::new(23_000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A command that runs at a place.
fn inside(program: &Path, place: Place) -> Command {
    let Place::Inside(pid, _) = place else { return Command::new(program) };
    let mut command = Command::new("nsenter");
    command.args(["--target", &pid.to_string(), "--user", "--net", "--preserve-credentials"]).arg(program);
    command
}

fn version(program: &Path) -> anyhow::Result<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("`{}` cannot be started", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default();
    // iperf 3 goes on with the libraries it was built with.
    Ok(first.split(" (").next().unwrap_or_default().to_owned())
}

/// The features of a program that is built for people: a contest of pages needs a hub.
const WITH: &str = "hub,ndt7,web";

/// Builds linerate with the cargo that runs the bench, and says where it is.
fn built() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--package", "linerate", "--features", WITH])
        .status()
        .context("cargo cannot be started; --linerate names a program that is built already")?;
    ensure!(status.success(), "linerate does not build; --linerate names a program that is built already");
    let ours = std::env::current_exe().context("this program does not know where it is")?;
    let linerate = ours.with_file_name("linerate");
    if !linerate.exists() {
        bail!("{} is missing; --linerate names the program", linerate.display());
    }
    Ok(linerate)
}

fn read(who: Who, client: &Ended, server: &Ended) -> anyhow::Result<Played> {
    let printed: Value = serde_json::from_slice(&client.stdout).context("the client prints no JSON")?;
    let found = |pointer: &str| printed.pointer(pointer).and_then(Value::as_f64);
    let needed = |pointer: &str| {
        let why = || {
            let failure = printed.pointer("/outcome/detail").or(printed.pointer("/error"));
            format!(
                "the client reports no {pointer} ({})",
                failure.and_then(Value::as_str).unwrap_or("no reason given")
            )
        };
        found(pointer).with_context(why)
    };
    let (client_cpu_s, server_cpu_s) = (client.cpu_s, server.cpu_s);
    match who {
        Who::Linerate => Ok(Played {
            goodput_bps: needed("/measurement/totals/0/goodput_bps")?,
            sent_bytes: needed("/measurement/totals/0/sent_bytes")?,
            received_bytes: needed("/measurement/totals/0/received_bytes")?,
            datagrams: found("/measurement/totals/0/datagrams/sent").unwrap_or_default(),
            seconds: needed("/measurement/totals/0/elapsed_us")? / 1e6,
            client_cpu_s,
            server_cpu_s,
            client_says: needed("/measurement/local_cpu/user")? + needed("/measurement/local_cpu/system")?,
            server_says: needed("/measurement/peer_cpu/user")? + needed("/measurement/peer_cpu/system")?,
        }),
        Who::Iperf3 => Ok(Played {
            goodput_bps: needed("/end/sum_received/bits_per_second")?,
            sent_bytes: needed("/end/sum_sent/bytes")?,
            received_bytes: needed("/end/sum_received/bytes")?,
            datagrams: found("/end/sum_sent/packets").unwrap_or_default(),
            seconds: needed("/end/sum_sent/seconds")?,
            client_cpu_s,
            server_cpu_s,
            client_says: needed("/end/cpu_utilization_percent/host_total")? / 100.0,
            server_says: needed("/end/cpu_utilization_percent/remote_total")? / 100.0,
        }),
    }
}
