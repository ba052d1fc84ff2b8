//! Loads an archive of sosreport into memory: only the files that are read, within limits, and nothing on disk.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use model::host::snapshot::Anomaly;
use tar::{Archive, Entry, EntryType};

use super::{SavedError, anomaly, naming};
use crate::files::{FilesInMemory, MAX_FILE};

/// Most bytes that an archive unpacks to.
pub const MAX_UNPACKED: u64 = 2 << 30;

/// Most bytes of files that are kept of an archive or a directory.
pub const MAX_HELD: usize = 128 << 20;

/// Most entries of an archive or a directory.
pub const MAX_ENTRIES: usize = 1 << 20;

/// Where the header of an entry says that it is one (POSIX.1-1988 and GNU).
const TAR_MAGIC: usize = 257;

pub(super) fn load(reader: impl Read, shown: &str, anomalies: &mut Vec<Anomaly>) -> Result<FilesInMemory, SavedError> {
    let path = shown.to_owned();
    let mut reader = BufReader::new(reader);
    let magic = reader.fill_buf().map_err(|source| SavedError::Unreadable { path: path.clone(), source })?;
    let unpacked: Box<dyn Read + '_> = match magic {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(reader)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Box::new(XzReader::new_mem_limit(reader, true, XZ_MEMORY_KIB)),
        [b'B', b'Z', b'h', ..] => return Err(SavedError::Compression { path, by: "bzip2" }),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Err(SavedError::Compression { path, by: "zstd" }),
        bytes if bytes.get(TAR_MAGIC..).is_none_or(|rest| !rest.starts_with(b"ustar")) => {
            return Err(SavedError::Foreign { path });
        }
        _ => Box::new(reader),
    };
    let limited = Limited { inner: unpacked, left: MAX_UNPACKED };
    let malformed = |error: &io::Error| SavedError::Malformed { path: path.clone(), message: error.to_string() };
    let mut loading = Loading { held: FilesInMemory::default(), bytes: 0, long_name: None, anomalies };
    let mut archive = Archive::new(limited);
    let mut entries = 0;
    // Raw, for the tar crate reads a name of any length into memory.
    for entry in archive.entries().map_err(|error| malformed(&error))?.raw(true) {
        entries += 1;
        if entries > MAX_ENTRIES {
            return Err(malformed(&io::Error::other(format!("more than {MAX_ENTRIES} entries"))));
        }
        match entry.and_then(|mut entry| loading.take(&mut entry)) {
            Ok(()) => {}
            // What came before is sound, if anything came.
            Err(error) if loading.held.files.is_empty() => return Err(malformed(&error)),
            Err(error) => {
                loading.anomalies.push(anomaly(shown, None, format!("the archive ends here: {error}")));
                break;
            }
        }
    }
    Ok(loading.held)
}

struct Loading<'a> {
    held: FilesInMemory,
    bytes: usize,
    /// The name of the next entry, where it is too long for its header.
    long_name: Option<String>,
    anomalies: &'a mut Vec<Anomaly>,
}

impl Loading<'_> {
    fn take(&mut self, entry: &mut Entry<'_, impl Read>) -> io::Result<()> {
        let kind = entry.header().entry_type();
        if kind == EntryType::GNULongName || kind == EntryType::XHeader {
            let mut value = Vec::new();
            entry.take(MAX_NAME).read_to_end(&mut value)?;
            self.long_name = if kind == EntryType::GNULongName { gnu_name(&value) } else { pax_name(&value) };
            return Ok(());
        }
        let name = match self.long_name.take() {
            Some(name) => name,
            None => String::from_utf8_lossy(&entry.header().path_bytes()).into_owned(),
        };
        if !kind.is_file() && kind != EntryType::Symlink {
            return Ok(());
        }
        let Some(path) = inner_path(&name) else {
            self.anomalies.push(anomaly(&name, None, "a path that leads out of the archive is refused"));
            return Ok(());
        };
        if kind == EntryType::Symlink {
            let target = entry.header().link_name_bytes().map(|target| String::from_utf8_lossy(&target).into_owned());
            self.held.links.extend(target.filter(|_| self.held.links.len() < MAX_LINKS).map(|target| (path, target)));
            return Ok(());
        }
        if is_wanted(&path) { self.keep(path, entry) } else { Ok(()) }
    }

    fn keep(&mut self, path: String, entry: &mut Entry<'_, impl Read>) -> io::Result<()> {
        let limit = u64::try_from(MAX_FILE).unwrap_or(u64::MAX);
        if entry.header().size()? > limit {
            self.anomalies.push(anomaly(&path, None, format!("longer than {MAX_FILE} bytes")));
            return Ok(());
        }
        let mut content = Vec::new();
        entry.take(limit).read_to_end(&mut content)?;
        self.bytes += content.len();
        if self.bytes > MAX_HELD {
            return Err(io::Error::other(format!("more than {MAX_HELD} bytes of outputs")));
        }
        self.held.files.insert(path, content);
        Ok(())
    }
}

/// The path on the host: without the directory of the archive, which is named after the host and the day.
fn inner_path(name: &str) -> Option<String> {
    let mut components = Path::new(name).components().filter(|component| *component != Component::CurDir);
    let parts: Option<Vec<&str>> = components.try_fold(Vec::new(), |mut parts, component| match component {
        Component::Normal(part) => {
            parts.push(part.to_str()?);
            Some(parts)
        }
        _ => None,
    });
    let parts = parts?;
    let within = parts.get(1..).filter(|within| !within.is_empty())?;
    Some(format!("/{}", within.join("/")))
}

fn gnu_name(value: &[u8]) -> Option<String> {
    let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
    Some(String::from_utf8_lossy(&value[..end]).into_owned())
}

/// Records `LENGTH path=NAME\n` (POSIX, pax).
fn pax_name(value: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(value);
    text.lines().find_map(|line| Some(line.split_once(" path=")?.1.to_owned()))
}

/// Whether a file is read.
pub(super) fn is_wanted(path: &str) -> bool {
    naming::of(path).is_some()
        || FILES.contains(&path)
        || DIRECTORIES.iter().any(|directory| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')))
}

/// A stream that fails where it gets too long, so that a small archive does not unpack for ever.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(u64::try_from(length).unwrap_or(u64::MAX))
            .ok_or_else(|| io::Error::other(format!("more than {MAX_UNPACKED} bytes unpacked")))?;
        Ok(length)
    }
}

/// Files of the system that say who the host is, and what it is set to at boot.
const FILES: [&str; 11] = [
    "/hostname",
    "/uname",
    "/sos_commands/host/hostname",
    "/sos_commands/kernel/uname_-a",
    "/etc/hostname",
    "/etc/os-release",
    "/etc/sysctl.conf",
    "/proc/cmdline",
    "/proc/cpuinfo",
    "/proc/sys/kernel/random/boot_id",
    "/usr/lib/os-release",
];
const DIRECTORIES: [&str; 15] = [
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
    "/etc/tuned",
    "/usr/lib/tuned",
    "/etc/modprobe.d",
    "/run/modprobe.d",
    "/usr/local/lib/modprobe.d",
    "/usr/lib/modprobe.d",
    "/lib/modprobe.d",
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
    "/usr/lib/NetworkManager/system-connections",
];

/// Longest name of an entry (PATH_MAX, include/uapi/linux/limits.h).
const MAX_NAME: u64 = 4_096;

/// Most links that are remembered.
const MAX_LINKS: usize = 65_536;

/// What xz may take: the highest preset takes 65 MiB (xz(1)).
const XZ_MEMORY_KIB: u32 = 96 << 10;
