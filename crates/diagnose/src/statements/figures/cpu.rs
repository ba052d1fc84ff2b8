//! CPUs that a text says are used up.

use import::figures::{CpuWork, Figure, FigureValue};

use crate::statements::statement::{Statement, percent};

/// The busiest of each kind.
pub(super) fn of(all: &[&Figure]) -> Vec<Statement> {
    let most = |work: CpuWork, least: u32| {
        let of = all.iter().filter_map(|one| match one.value {
            FigureValue::Cpu(kind, part) if kind == work => Some((part, one.line)),
            _ => None,
        });
        let (part, line) = of.max_by_key(|(part, _)| *part).filter(|(part, _)| *part >= least)?;
        Some((percent(f64::from(part) / 10_000.0), line))
    };
    let mut found = Vec::new();
    if let Some((part, line)) = most(CpuWork::Stolen, STOLEN) {
        found.push(Statement::fault(format!(
            "line {line} has {part} of a CPU's time stolen by other guests: a virtual machine that does not get its CPU is late with all it sends and \
             receives"
        )));
    }
    if let Some((part, line)) = most(CpuWork::Packets, FULL) {
        found.push(Statement::fault(format!(
            "line {line} has a CPU that is {part} busy with packets (softirq): all of a NIC's queue, or of one flow, goes through one CPU; more queues \
             (RSS), RPS, fewer and larger packets (offloads, jumbo frames) or a faster CPU"
        )));
    }
    if let Some((part, line)) = most(CpuWork::Any, FULL) {
        found.push(Statement::fault(format!(
            "line {line} has a CPU that is used up ({part}): what runs on it (encryption, copying, one thread of a program) is no faster, whatever the \
             network carries"
        )));
    }
    found
}

/// In hundredths of a percent.
const FULL: u32 = 9_300;
const STOLEN: u32 = 1_000;
