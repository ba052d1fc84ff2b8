//! Who a process is, asked at once: the most interesting ones end soon.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A process, as far as it could be seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeenProcess {
    /// Process id in the PID namespace of the reader.
    pub pid: u32,
    /// The file of its program.
    pub program: Option<String>,
    /// The name that the kernel has for it: the first fifteen letters of its program, or what it calls itself.
    pub name: Option<String>,
    /// Its arguments, the program first.
    pub command_line: Vec<String>,
    /// The user whose rights it has.
    pub user: Option<u32>,
    /// The user who had logged in (`/proc/PID/loginuid`); none for what no login started.
    pub login: Option<u32>,
}

/// Looks at a process. [`None`] where it has ended.
#[must_use]
pub fn seen_process(pid: u32) -> Option<SeenProcess> {
    let place = format!("/proc/{pid}");
    // In the order in which they vanish: an ending process gives up its memory first.
    let command_line = fs::read(format!("{place}/cmdline")).map(|bytes| arguments(&bytes)).unwrap_or_default();
    let program = fs::read_link(format!("{place}/exe")).ok().map(|path| path.to_string_lossy().into_owned());
    let name = fs::read_to_string(format!("{place}/comm")).ok().map(|name| name.trim_end().to_owned());
    let user = fs::metadata(&place).ok().map(|metadata| metadata.uid());
    let login = fs::read_to_string(format!("{place}/loginuid")).ok().and_then(|text| text.trim().parse().ok());
    name.is_some().then(|| SeenProcess {
        pid,
        program,
        name,
        command_line,
        user,
        login: login.filter(|&login| login != NO_LOGIN),
    })
}

/// The process that has the netlink socket with this port, in the namespace `netns` (its inode). By custom a port is the
/// number of the process, with a count of its sockets above bit 22; that is taken as true only where the process holds
/// the very socket. Takes the right to look into the process.
#[must_use]
pub fn netlink_process(port: u32, netns: u64) -> Option<SeenProcess> {
    // A port that the kernel chose because the first was taken, which says nothing (net/netlink/af_netlink.c).
    if port.cast_signed() < 0 {
        return None;
    }
    let pid = port & PID_BITS;
    let place = format!("/proc/{pid}");
    if fs::metadata(format!("{place}/ns/net")).ok()?.ino() != netns {
        return None;
    }
    let table = fs::read_to_string(format!("{place}/net/netlink")).ok()?;
    let sockets: Vec<String> = table.lines().skip(1).filter_map(|line| socket_with(line, port)).collect();
    let holds = fs::read_dir(format!("{place}/fd")).ok()?.filter_map(Result::ok).any(|entry| {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        sockets.iter().any(|socket| target.as_os_str() == socket.as_str())
    });
    if holds { seen_process(pid) } else { None }
}

/// Lets this process hold as many files open as its hard limit allows: each directory that is watched is one.
pub fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // Where it fails the old limit holds, and fewer directories can be watched.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// `socket:[INODE]` of a line of /proc/net/netlink that is of NETLINK_ROUTE and this port.
fn socket_with(line: &str, port: u32) -> Option<String> {
    let mut words = line.split_whitespace();
    let (family, number) = (words.nth(1)?, words.next()?);
    let inode = words.next_back()?;
    (family == NETLINK_ROUTE && number.parse() == Ok(port)).then(|| format!("socket:[{inode}]"))
}

fn arguments(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_COMMAND_LINE)]);
    let mut arguments: Vec<String> = text.split('\0').map(str::to_owned).collect();
    while arguments.last().is_some_and(String::is_empty) {
        arguments.pop();
    }
    arguments
}

/// `AUDIT_UID_UNSET`, include/linux/audit.h.
const NO_LOGIN: u32 = u32::MAX;

/// Process numbers have at most 22 bits (`PID_MAX_LIMIT`, include/linux/threads.h); libnl counts sockets above them.
const PID_BITS: u32 = (1 << 22) - 1;

/// `NETLINK_ROUTE` as /proc/net/netlink has it.
const NETLINK_ROUTE: &str = "0";

/// As much of a command line as is kept.
const MAX_COMMAND_LINE: usize = 4_096;
