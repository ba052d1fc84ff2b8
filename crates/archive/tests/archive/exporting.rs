//! What is exported says what was stored, and JSON comes back.

use archive::export::json::{ImportError, MAX_EXPORT_BYTES};
use archive::export::{Export, csv, read_export, write_export};
use model::measurement::{Heading, Interval};
use model::run::Run;
use model::series::field::Field;
use model::series::{Column, ProbeSamples};
use proptest::prelude::*;
use units::{ByteCount, DataRate, PacketCount};

use crate::runs;

fn written(export: &Export) -> Vec<u8> {
    let mut json = Vec::new();
    write_export(export, &mut json).unwrap();
    json
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #[test]
    fn an_exported_run_comes_back(run in runs::any_run(), samples in runs::any_samples()) {
        let export = Export { run, samples };
        prop_assert_eq!(read_export(written(&export).as_slice(), MAX_EXPORT_BYTES).unwrap(), export);
    }

    #[test]
    fn no_input_panics(input in ".*") {
        prop_assert!(read_export(input.as_bytes(), MAX_EXPORT_BYTES).is_err());
    }
}

#[test]
fn a_file_longer_than_allowed_is_refused() {
    let json = written(&Export { run: runs::at(1), samples: runs::samples(1) });
    let length = json.len() as u64;
    assert!(read_export(json.as_slice(), length).is_ok());
    let error = read_export(json.as_slice(), length - 1).unwrap_err();
    assert!(matches!(error, ImportError::TooLong { limit } if limit == length - 1), "{error:?}");
}

#[test]
fn a_run_of_a_newer_format_is_refused() {
    let export = Export { run: Run { format: Run::FORMAT + 1, ..runs::at(1) }, samples: runs::samples(1) };
    let error = read_export(written(&export).as_slice(), MAX_EXPORT_BYTES).unwrap_err();
    assert!(matches!(error, ImportError::Newer { .. }), "{error:?}");
}

#[test]
fn a_column_that_does_not_fit_its_times_is_named() {
    let mut samples = runs::samples(1);
    samples.streams[0].columns[0].values.pop();
    let error = read_export(written(&Export { run: runs::at(1), samples }).as_slice(), MAX_EXPORT_BYTES).unwrap_err();
    assert_eq!(error.to_string(), "samples of stream 1: column `rtt_us` has 199 values for 200 times");
    let mut samples = runs::samples(1);
    samples.probes.sent_us.push(1);
    let error = read_export(written(&Export { run: runs::at(1), samples }).as_slice(), MAX_EXPORT_BYTES).unwrap_err();
    assert!(matches!(error, ImportError::Ragged { stream: 0, column: "rtt_us", .. }), "{error:?}");
}

#[test]
fn intervals_become_lines() {
    let mut run = runs::at(1);
    run.measurement.as_mut().unwrap().intervals.push(Interval {
        start: std::time::Duration::ZERO,
        end: std::time::Duration::from_secs(1),
        heading: Heading::Outbound,
        bytes: ByteCount::new(1_176_250_000),
        rate: DataRate::from_bps(9_410_000_000),
        retransmits: Some(PacketCount::new(3)),
        rtt: Some(std::time::Duration::from_micros(50_123)),
        cwnd: None,
        lost: None,
        datagrams: None,
    });
    let id = run.id;
    assert_eq!(
        text(|out| csv::intervals(&run, out)),
        format!(
            "run,start_us,end_us,heading,bytes,rate_bps,retransmits,rtt_us,cwnd_bytes,lost,datagrams\n\
             {id},0,1000000,outbound,1176250000,9410000000,3,50123,,,\n"
        )
    );
}

#[test]
fn samples_become_lines_with_gaps_where_a_stream_lacks_a_field() {
    let mut samples = runs::samples(1);
    let stream = &mut samples.streams[0];
    stream.at_us.truncate(1);
    stream.columns = vec![Column { field: Field::Rtt, values: vec![7] }];
    let mut other = samples.streams[0].clone();
    other.stream = 2;
    other.columns = vec![Column { field: Field::AppBytes, values: vec![9] }];
    samples.streams.push(other);
    let id = runs::at(1).id;
    assert_eq!(
        text(|out| csv::samples(id, &samples, out)),
        format!(
            "run,stream,heading,end,whose,at_us,app_bytes,rtt_us\n\
             {id},1,outbound,sender,local,0,,7\n\
             {id},2,outbound,sender,local,0,9,\n"
        )
    );
}

#[test]
fn probes_become_lines() {
    let mut samples = runs::samples(1);
    samples.probes =
        ProbeSamples { sent_us: vec![-5, 10], rtt_us: vec![Some(50_000), None], there_us: vec![Some(-3), None] };
    let id = runs::at(1).id;
    assert_eq!(
        text(|out| csv::probes(id, &samples, out)),
        format!("run,sent_us,rtt_us,there_us\n{id},-5,50000,-3\n{id},10,,\n")
    );
}
