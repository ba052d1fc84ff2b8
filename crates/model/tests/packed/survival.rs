//! The packed form of samples gives back what it was given, and survives whatever it is given.

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::packed::{Limits, UnpackError, pack, pack_for_transfer, read, three_digits, unpack};
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples};
use proptest::prelude::*;

/// Values as counters and gauges make them, and as nothing does.
fn values(rows: usize) -> impl Strategy<Value = Vec<u64>> {
    let counter = (any::<u64>(), prop::collection::vec(0_u64..3000, rows)).prop_map(|(start, steps)| {
        let add = |sum: &mut u64, step: u64| {
            *sum = sum.wrapping_add(step);
            Some(*sum)
        };
        steps.into_iter().scan(start, add).collect()
    });
    prop_oneof![
        any::<u64>().prop_map(move |value| vec![value; rows]),
        prop::collection::vec(any::<u64>(), rows),
        prop::collection::vec(0_u64..2000, rows),
        counter,
    ]
}

fn stream() -> impl Strategy<Value = StreamSamples> {
    (0_usize..40)
        .prop_flat_map(|rows| {
            let fields = prop::sample::subsequence(Field::ALL.to_vec(), 0..Field::ALL.len()).prop_shuffle();
            let columns = fields.prop_flat_map(move |fields| {
                let columns: Vec<_> = fields
                    .into_iter()
                    .map(|field| values(rows).prop_map(move |values| stored(field, values)))
                    .collect();
                columns
            });
            let ends = (any::<bool>(), any::<bool>(), any::<bool>());
            (any::<u32>(), ends, prop::collection::vec(any::<i64>(), rows), columns)
        })
        .prop_map(|(stream, (outbound, sender, local), at_us, columns)| StreamSamples {
            stream,
            heading: if outbound { Heading::Outbound } else { Heading::Inbound },
            end: if sender { End::Sender } else { End::Receiver },
            whose: if local { Whose::Local } else { Whose::Peer },
            at_us,
            columns,
        })
}

/// A column as it is stored: rates have three significant digits.
fn stored(field: Field, values: Vec<u64>) -> Column {
    let rounds = matches!(field, Field::PacingRate | Field::DeliveryRate);
    Column { field, values: if rounds { values.into_iter().map(three_digits).collect() } else { values } }
}

fn probes() -> impl Strategy<Value = ProbeSamples> {
    prop::collection::vec(any::<(i64, Option<u32>, Option<i32>)>(), 0..40).prop_map(|rows| ProbeSamples {
        sent_us: rows.iter().map(|row| row.0).collect(),
        rtt_us: rows.iter().map(|row| row.1).collect(),
        there_us: rows.iter().map(|row| row.2).collect(),
    })
}

fn samples() -> impl Strategy<Value = RunSamples> {
    (prop::collection::vec(stream(), 0..4), probes()).prop_map(|(streams, probes)| RunSamples { streams, probes })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_packed_comes_back(samples in samples()) {
        prop_assert_eq!(&unpack(&pack(&samples)).unwrap(), &samples);
        prop_assert_eq!(unpack(&pack_for_transfer(&samples)).unwrap(), samples);
    }

    #[test]
    fn a_changed_byte_is_noticed(samples in samples(), at in any::<prop::sample::Index>(), with in 1_u8..) {
        let mut packed = pack(&samples);
        let at = at.index(packed.len());
        packed[at] ^= with;
        // Some bits of a frame's header mean nothing, so an equal answer is right as well.
        if let Ok(read) = unpack(&packed) {
            prop_assert_eq!(read, samples, "byte {} changed by {:#x}", at, with);
        }
    }

    #[test]
    fn a_missing_end_is_noticed(samples in samples(), at in any::<prop::sample::Index>()) {
        let packed = pack(&samples);
        prop_assert!(unpack(&packed[..at.index(packed.len())]).is_err());
    }

    #[test]
    fn a_changed_body_does_not_panic(
        samples in samples(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut body = zstd::decode_all(&pack(&samples)[5..]).unwrap();
        for (at, with) in changes {
            let at = at.index(body.len());
            body[at] = with;
        }
        let mut packed = b"LRSP\x01".to_vec();
        packed.extend(zstd::bulk::compress(&body, 1).unwrap());
        if let Ok(read) = unpack(&packed) {
            for stream in read.streams {
                prop_assert!(stream.columns.iter().all(|column| column.values.len() == stream.at_us.len()));
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut packed = b"LRSP\x01".to_vec();
        packed.extend(zstd::bulk::compress(&bytes, 1).unwrap());
        let _ = unpack(&packed);
        let _ = unpack(&bytes);
    }
}

#[test]
fn more_than_a_window_comes_back() {
    let rows = 200_000_u32;
    let noise = |row: u32| u64::from(row).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let samples = RunSamples {
        streams: vec![StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Sender,
            whose: Whose::Local,
            at_us: (0..rows).map(|row| i64::from(row) * 1000).collect(),
            columns: vec![Column { field: Field::Rtt, values: (0..rows).map(noise).collect() }],
        }],
        probes: ProbeSamples::default(),
    };
    assert_eq!(unpack(&pack(&samples)).unwrap(), samples);
}

#[test]
fn a_column_of_another_length_than_its_times_is_left_out() {
    let whole = body(&[table(&[(0xffff, 1)], 2), vec![2, 4]]);
    let mut samples = unpack(&whole).unwrap();
    samples.streams[0].columns.push(Column { field: Field::Rtt, values: vec![1] });
    assert_eq!(unpack(&pack(&samples)).unwrap(), unpack(&whole).unwrap());
}

#[test]
fn a_limit_is_kept_before_anything_is_read() {
    let time_and_rtt = [(0xffff, 1), (29, 0)];
    let limits = Limits { values: 1999, ..Limits::RECEIVED };
    let error = read(&body(&[table(&time_and_rtt, 1000)]), &limits).unwrap_err();
    assert!(
        matches!(error, UnpackError::TooMany { what: "values", found: 2000, limit: 1999, offset: 12 }),
        "{error:?}"
    );
    let error = read(&body(&[table(&time_and_rtt, 1)]), &Limits { columns: 1, ..limits }).unwrap_err();
    assert!(matches!(error, UnpackError::TooMany { what: "columns", .. }), "{error:?}");
    let error = read(&body(&[]), &Limits { streams: 0, ..limits });
    assert!(error.is_ok(), "no streams are within any limit");
}

#[test]
fn rows_without_times_are_refused() {
    let error = unpack(&body(&[table(&[(0xffff, 0)], 1_000_000)])).unwrap_err();
    assert!(matches!(error, UnpackError::Invalid { expected: "a plane of times", .. }), "{error:?}");
    let error = unpack(&body(&[table(&[(29, 1)], 3), vec![0; 3]])).unwrap_err();
    assert!(matches!(error, UnpackError::Invalid { expected: "the column of times", .. }), "{error:?}");
    // Promised rows that do not come.
    let error = unpack(&body(&[table(&[(0xffff, 1)], 1_000_000), vec![0; 10]])).unwrap_err();
    assert!(matches!(error, UnpackError::Damaged { .. }), "{error:?}");
}

#[test]
fn columns_predicted_from_each_other_are_refused() {
    let mut headers = table(&[(0xffff, 1)], 1);
    // Two columns more.
    let columns = headers.len() - 5 - 2;
    headers[columns..columns + 2].copy_from_slice(&3_u16.to_le_bytes());
    for (id, from) in [(29_u16, 30_u16), (30, 29)] {
        headers.extend(id.to_le_bytes());
        headers.extend([0, 0, 1]);
        headers.extend(1_i32.to_le_bytes());
        headers.push(1);
        headers.extend(from.to_le_bytes());
        headers.extend(0xfffd_u16.to_le_bytes());
    }
    let error = unpack(&body(&[headers, vec![0]])).unwrap_err();
    assert!(
        matches!(error, UnpackError::Invalid { found: 29, expected: "a prediction from columns that are known", .. }),
        "{error:?}"
    );
}

#[test]
fn fields_of_a_newer_version_are_left_out_and_counted() {
    let unpacked =
        read(&body(&[table(&[(0xffff, 1), (5000, 1), (29, 1)], 2), vec![2, 4, 6, 6, 8, 8]]), &Limits::RECEIVED)
            .unwrap();
    assert_eq!(unpacked.unknown_columns, 1);
    let stream = &unpacked.samples.streams[0];
    assert_eq!(stream.at_us, [1, 2]);
    assert_eq!(stream.columns, [Column { field: Field::Rtt, values: vec![4, 4] }]);
}

#[test]
fn other_bytes_are_refused_with_what_they_are() {
    assert!(matches!(unpack(b""), Err(UnpackError::NotPacked)));
    assert!(matches!(unpack(b"{\"streams\":[]}"), Err(UnpackError::NotPacked)));
    let mut newer = pack(&RunSamples::default());
    newer[4] = 2;
    assert!(matches!(unpack(&newer), Err(UnpackError::Version { found: 2 })));
    let mut longer = pack(&RunSamples::default());
    longer.push(0);
    assert!(matches!(unpack(&longer), Err(UnpackError::Invalid { expected: "the end", .. })));
}

#[test]
fn a_wrong_checksum_is_noticed() {
    let mut packed = pack(&RunSamples::default());
    *packed.last_mut().unwrap() ^= 1;
    assert!(matches!(unpack(&packed), Err(UnpackError::Damaged { .. })));
}

/// A packed form by hand: of one table, or, without parts, of none.
fn body(parts: &[Vec<u8>]) -> Vec<u8> {
    let tables = u32::from(!parts.is_empty());
    let mut bytes = tables.to_le_bytes().to_vec();
    bytes.extend(parts.concat());
    let mut packed = b"LRSP\x01".to_vec();
    packed.extend(zstd::bulk::compress(&bytes, 1).unwrap());
    packed
}

/// The headers of a stream with columns of (id, planes), neither differenced nor predicted.
fn table(columns: &[(u16, u8)], rows: u32) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0, 0, 0, 0, 0];
    bytes.extend(rows.to_le_bytes());
    bytes.extend(u16::try_from(columns.len()).unwrap().to_le_bytes());
    for (id, planes) in columns {
        bytes.extend(id.to_le_bytes());
        bytes.extend([0, *planes, 0]);
    }
    bytes
}
