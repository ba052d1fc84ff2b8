//! Which processors serve the queues of a device.

use std::fs;
use std::path::Path;

use model::host::fact::{Fact, Source};
use model::host::interface::link::Link;
use model::host::interface::queues::{Queues, ReceiveQueue, TransmitQueue};

use super::file;
use super::sysfs::Sysfs;

pub(super) fn read(sysfs: &Sysfs, name: &str, link: &Link) -> Fact<Queues> {
    let source = Source::file(format!("/sys/class/net/{name}/queues"));
    let directory = match sysfs.directory(name, link) {
        Ok(directory) => directory.join("queues"),
        Err(missing) => return Fact::missing(missing, source),
    };
    let names = match names(&directory) {
        Ok(names) => names,
        Err(error) => return Fact::missing(file::missing(&error), source),
    };
    let numbers = |kind: &str| {
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(kind)?.strip_prefix('-')?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.truncate(MAX_QUEUES);
        numbers
    };
    let rx = |number: u32| {
        let of = |file: &str| file::optional(directory.join(format!("rx-{number}")).join(file));
        ReceiveQueue { rps_cpus: of("rps_cpus"), rps_flows: of("rps_flow_cnt").and_then(|count| count.parse().ok()) }
    };
    let tx = |number: u32| {
        let of = |file: &str| file::optional(directory.join(format!("tx-{number}")).join(file));
        let bql_limit = of("byte_queue_limits/limit").and_then(|limit| limit.parse().ok());
        TransmitQueue { xps_cpus: of("xps_cpus"), bql_limit }
    };
    Fact::known(
        Queues { rx: numbers("rx").into_iter().map(rx).collect(), tx: numbers("tx").into_iter().map(tx).collect() },
        source,
    )
}

fn names(directory: &Path) -> std::io::Result<Vec<String>> {
    let entries = fs::read_dir(directory)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

/// Most queues of one device.
const MAX_QUEUES: usize = 1_024;
