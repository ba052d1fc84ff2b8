//! CPUs that a text says are used up.

use import::figures::{CpuWork, Figure, FigureValue};

use crate::statements::statement::{Statement, percent};

/// The busiest of each kind.
pub(super) fn of(all: &[&Figure]) -> Vec<Statement> {
    let most = |work: CpuWork| {
        let of = all.iter().filter_map(|one| match one.value {
            FigureValue::Cpu(kind, part) if kind == work => Some((part, one.line)),
            _ => None,
        });
        of.max_by_key(|(part, _)| *part)
    };
    let mut found = Vec::new();
    if let Some((part, line)) = most(CpuWork::Stolen).filter(|(part, _)| *part >= STOLEN) {
        found.push(Statement::fault(format!(
            "line {line} has {} of a CPU's time stolen by other guests: a virtual machine that does not get its CPU is late with all it sends and \
             receives",
            percent(f64::from(part) / 10_000.0)
        )));
    }
    if let Some((part, line)) = most(CpuWork::Packets).filter(|(part, _)| *part >= FULL) {
        found.push(Statement::fault(format!(
            "line {line} has a CPU that is {} busy with packets (softirq): all of a NIC's queue, or of one flow, goes through one CPU; more queues \
             (RSS), RPS, fewer and larger packets (offloads, jumbo frames) or a faster CPU",
            percent(f64::from(part) / 10_000.0)
        )));
    }
    if let Some((part, line)) = most(CpuWork::Any).filter(|(part, _)| *part >= FULL) {
        found.push(Statement::fault(format!(
            "line {line} has a CPU that is used up ({}): what runs on it (encryption, copying, one thread of a program) is no faster, whatever the \
             network carries",
            percent(f64::from(part) / 10_000.0)
        )));
    }
    found
}

/// In hundredths of a percent.
const FULL: u32 = 9_300;
const STOLEN: u32 = 1_000;
