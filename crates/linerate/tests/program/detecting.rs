//! `linerate detect` on files, as a user types it.

use std::fmt::Write;

use crate::actors::linerate::linerate;

/// Hourly rates of a path that loses 30 % at row 61.
fn file(folder: &tempfile::TempDir) -> String {
    let mut text = "time,goodput_bps\n".to_owned();
    for hour in 0..120_u32 {
        let noise = f64::from(hour * 7919 % 101) / 101.0 - 0.5;
        let level = if hour < 60 { 9.4e9 } else { 6.6e9 };
        writeln!(text, "{},{:.0}", 1_795_219_200 + hour * 3600, level * (1.0 + 0.05 * noise)).unwrap();
    }
    let path = folder.path().join("rates.csv");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_drop_is_named_with_its_moment_size_and_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (file, plot) = (file(&folder), folder.path().join("rates.svg"));
    let ended = linerate(&["detect", &file, "--json", "--plot", plot.to_str().unwrap()]);
    assert_eq!((ended.code, &*ended.stderr), (Some(10), ""));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let changes = found["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{found}");
    assert_eq!((changes[0]["change"].as_str(), changes[0]["row"].as_u64()), (Some("step"), Some(61)));
    assert_eq!(changes[0]["at_unix_s"].as_i64(), Some(1_795_219_200 + 60 * 3600));
    let picture = std::fs::read_to_string(plot).unwrap();
    assert!(picture.contains("second level") || picture.contains("change"), "{picture}");
    let ended = linerate(&["detect", &file]);
    assert!(ended.stdout.contains("step") && ended.stdout.contains("Gbit/s"), "{}", ended.stdout);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    let ended = linerate(&["detect", &file, "--value", "rate"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("no column `rate`; the header has time, goodput_bps"), "{}", ended.stderr);
    assert_eq!(linerate(&["detect", "/nonexistent.csv"]).code, Some(9));
}
