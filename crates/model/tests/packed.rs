//! The packed form of samples gives back what it was given, and survives whatever it is given.

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::packed::{pack, three_digits, unpack};
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
        prop_assert_eq!(unpack(&pack(&samples)).unwrap(), samples);
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
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut packed = b"LRSP\x01".to_vec();
        packed.extend(zstd::bulk::compress(&bytes, 1).unwrap());
        let _ = unpack(&packed);
        let _ = unpack(&bytes);
    }
}
