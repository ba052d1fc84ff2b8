//! Captures that lack something: one direction, options behind the snap length, the start, the IP ID.

use crate::support::{MS, MSS, Written, read};
use capture::Owner;
use capture::report::TransferReport;
use capture::verdict::Cause;

const RTT: u64 = 20 * MS;
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
/// Ethernet, IPv4 and TCP without options.
const HEADERS: usize = 54;

/// The records of a file.
fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut at = FILE_HEADER;
    while at < file.len() {
        let stored = u32::from_le_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
        records.push(file[at..at + RECORD_HEADER + stored].to_vec());
        at += RECORD_HEADER + stored;
    }
    records
}

/// A file of these.
fn file(of: &Written, records: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    of.bytes[..FILE_HEADER].iter().copied().chain(records.into_iter().flatten()).collect()
}

/// 60 windows of 16 segments in frames of four, for a receiver that offers far more.
fn windows() -> Written {
    let mut written = Written::new(1_000, RTT, 0xffff);
    for round in 0..60_u32 {
        let (first, start) = (round * 16, u64::from(round + 2) * (RTT + MS));
        for frame in 0..4 {
            let sent = first + 4 * frame;
            written.super_packet(start + u64::from(frame) * MS / 4, sent, sent + 4);
        }
        (1..=4).for_each(|frame| written.ack(start + RTT + u64::from(frame) * MS / 4, first + 4 * frame, &[]));
    }
    written
}

fn only(bytes: &[u8]) -> TransferReport {
    read(bytes).connections.remove(0).transfers.remove(0)
}

fn share(transfer: &TransferReport, owner: Owner) -> f64 {
    let time_ns = |share: &capture::report::BudgetShare| share.time_ns as f64;
    let total: f64 = transfer.budget.iter().map(time_ns).sum();
    transfer.budget.iter().filter(|share| share.owner == owner).map(time_ns).sum::<f64>() / total
}

#[test]
fn of_one_direction_neither_losses_nor_owners_are_known() {
    let mut written = windows();
    written.data(70 * RTT, 3);
    let is_data = |record: &Vec<u8>| record[RECORD_HEADER + 29] == 1;
    let transfer = only(&file(&written, records(&written.bytes).into_iter().filter(is_data).skip(2)));
    assert!(share(&transfer, Owner::Unknown) > 0.99, "{:?}", transfer.budget);
    let causes: Vec<Cause> = transfer.verdicts.iter().map(|verdict| verdict.cause).collect();
    assert_eq!(causes, [Cause::CaptureLoss]);
}

/// With the options of the SYN the window scale is cut off, and the time stamps that the MSS may be less for.
#[test]
fn a_window_scale_that_is_cut_off_is_not_taken_for_none() {
    let written = windows();
    let cut = |mut record: Vec<u8>| {
        record.truncate(RECORD_HEADER + HEADERS);
        let stored = u32::try_from(record.len() - RECORD_HEADER).unwrap();
        record[8..12].copy_from_slice(&stored.to_le_bytes());
        record
    };
    let transfer = only(&file(&written, records(&written.bytes).into_iter().map(cut)));
    assert_eq!(transfer.window.scale, None);
    assert!(transfer.verdicts.iter().all(|verdict| verdict.cause != Cause::ReceiverWindow), "{:?}", transfer.verdicts);
}

/// Frames of four segments are no ends of what an application wrote.
#[test]
fn from_the_middle_on_a_window_is_no_application_for_lack_of_an_mss() {
    let whole = share(&windows().transfer(), Owner::Application);
    let mut written = windows();
    // One segment alone, as every sender has them now and then.
    written.data(62 * (RTT + MS), 60 * 16);
    written.ack(63 * (RTT + MS), 60 * 16 + 1, &[]);
    let middle = only(&file(&written, records(&written.bytes).into_iter().skip(3)));
    assert!((share(&middle, Owner::Application) - whole).abs() < 0.05, "{whole}: {:?}", middle.budget);
    assert_eq!(middle.counts.mss_bytes, MSS);
}

#[test]
fn copies_without_an_ip_id_are_known_by_their_time() {
    let written = windows();
    let unnamed = |mut record: Vec<u8>| {
        record[RECORD_HEADER + 18..RECORD_HEADER + 20].fill(0);
        record
    };
    let later = |record: &[u8], by_ns: u32| {
        let mut copy = record.to_vec();
        let ns = u32::from_le_bytes(copy[4..8].try_into().unwrap());
        copy[4..8].copy_from_slice(&(ns + by_ns).to_le_bytes());
        copy
    };
    let all: Vec<Vec<u8>> = records(&written.bytes).into_iter().map(unnamed).collect();
    let copied = |by_ns: u32| file(&written, all.iter().flat_map(|record| [record.clone(), later(record, by_ns)]));
    let report = read(&copied(8_000));
    assert_eq!(report.connections[0].duplicates, all.len() as u64);
    assert_eq!(report.connections[0].transfers[0].counts.retransmits, 0);
    // So late a sender may have retransmitted it.
    assert_eq!(read(&copied(80_000)).connections[0].duplicates, 0);
}
