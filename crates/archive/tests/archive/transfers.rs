//! Transfers that were watched are kept with their samples, listed, found by the beginnings of their names, and bounded.

use std::time::Duration;

use archive::Archive;
use archive::transfers::{MOST_TRANSFERS, TransferError, TransferFilter};
use model::host::HostIdentity;
use model::measurement::Heading;
use model::run::RunId;
use model::series::RunSamples;
use model::transfer::{ReceivedCount, Transfer, TransferEnd};
use tempfile::TempDir;
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::runs;

fn empty() -> (TempDir, Archive) {
    let directory = TempDir::new().unwrap();
    let archive = Archive::open(directory.path().join("archive.db")).unwrap();
    (directory, archive)
}

/// The transfer of this second, with so many bytes.
fn transfer(second: u64, bytes: u64) -> Transfer {
    let started = WallTime::from_unix_nanos((1_767_225_600 + second) * 1_000_000_000);
    Transfer {
        format: Transfer::FORMAT,
        id: RunId::new(started, u128::from(second)),
        host: HostIdentity { name: Some("dtn-1".to_owned()), ..HostIdentity::default() },
        namespace: None,
        local: "192.0.2.1:40000".parse().unwrap(),
        peer: format!("198.51.100.{}:5201", second % 2).parse().unwrap(),
        owner: None,
        heading: Heading::Outbound,
        sent: ByteCount::new(bytes),
        received: ByteCount::new(7),
        received_count: ReceivedCount::Exact,
        before_watch: ByteCount::ZERO,
        started,
        started_within: Some(Duration::from_secs(1)),
        active: Duration::from_secs(2),
        goodput: DataRate::from_bps(bytes * 4),
        end: TransferEnd::Closed,
        retransmits: PacketCount::new(3),
        mss: Some(1_448),
        congestion_control: Some("cubic".to_owned()),
        min_rtt: None,
        rtt: None,
        declared_line_rate: None,
        expected: None,
        limits: Vec::new(),
        loss_events: Vec::new(),
        retransmit_runs: Vec::new(),
        sample_every: Duration::from_millis(100),
    }
}

#[test]
fn what_was_kept_reads_back_with_its_samples() {
    let (_directory, mut archive) = empty();
    let kept = [(transfer(1, 1_000), runs::samples(5)), (transfer(2, 2_000), RunSamples::default())];
    archive.keep_transfers(&kept).unwrap();
    for (transfer, samples) in &kept {
        let (read, with) = archive.transfer(&transfer.id).unwrap();
        assert_eq!((&read, &with), (transfer, samples));
    }
    assert!(archive.check().unwrap().damaged.is_empty());
}

#[test]
fn lists_are_filtered_and_the_newest_first() {
    let (_directory, mut archive) = empty();
    let kept: Vec<_> = (1..=6).map(|second| (transfer(second, second * 1_000), RunSamples::default())).collect();
    archive.keep_transfers(&kept).unwrap();
    let listed = |filter: TransferFilter| -> Vec<u64> {
        archive.transfers(&filter).unwrap().iter().map(|transfer| transfer.sent.get()).collect()
    };
    assert_eq!(listed(TransferFilter::default()), [6_000, 5_000, 4_000, 3_000, 2_000, 1_000]);
    assert_eq!(listed(TransferFilter { limit: Some(2), ..TransferFilter::default() }), [6_000, 5_000]);
    let peer = Some("198.51.100.1".parse().unwrap());
    assert_eq!(listed(TransferFilter { peer, ..TransferFilter::default() }), [5_000, 3_000, 1_000]);
    let least = Some(ByteCount::new(5_000));
    assert_eq!(listed(TransferFilter { least, ..TransferFilter::default() }), [6_000, 5_000]);
    let since = Some(kept[4].0.started);
    assert_eq!(listed(TransferFilter { since, ..TransferFilter::default() }), [6_000, 5_000]);
}

#[test]
fn names_are_found_by_their_beginnings() {
    let (_directory, mut archive) = empty();
    assert!(matches!(archive.resolve_transfer("last"), Err(TransferError::Empty { .. })));
    let kept = [(transfer(1, 1), RunSamples::default()), (transfer(100_000, 1), RunSamples::default())];
    archive.keep_transfers(&kept).unwrap();
    let id = kept[1].0.id;
    assert_eq!(archive.resolve_transfer(&id.to_string().to_lowercase()).unwrap(), id);
    assert_eq!(archive.resolve_transfer("last").unwrap(), id);
    assert!(matches!(archive.resolve_transfer("01"), Err(TransferError::Ambiguous { .. })));
    for nonsense in ["", "zz", "*", "01'"] {
        assert!(matches!(archive.resolve_transfer(nonsense), Err(TransferError::Unknown { .. })), "{nonsense}");
    }
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let (_directory, mut archive) = empty();
    let most = u64::from(MOST_TRANSFERS);
    let kept: Vec<_> = (1..=most + 10).map(|second| (transfer(second, second), RunSamples::default())).collect();
    archive.keep_transfers(&kept).unwrap();
    let all = archive.transfers(&TransferFilter::default()).unwrap();
    assert_eq!(all.len() as u64, most);
    assert_eq!(all.last().unwrap().sent.get(), 11);
}
