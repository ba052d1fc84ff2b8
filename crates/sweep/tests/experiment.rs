//! Experiments from their file to their table.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use sweep::merge::{MergeError, merge};
use sweep::summary::Variants;
use sweep::table::{Table, TableError, column_names};
use sweep::{Measure, Report, Row, Share, Sweep};

const SMALL: &str = r#"
name = "small"
repetitions = 2
[set]
rate = "100Mbit/s"
rtt = ["10ms", "20ms"]
bytes = "1MB"
wmem = "16MiB"
rmem = "32MiB"
burst-rate = "100Mbit/s"
burst-start = "30ms"
burst-jitter = "10ms"
burst-length = ["none", "50ms"]
deadline = "210ms"
"#;

fn table(text: &str, share: &str) -> Table {
    let sweep = Sweep::read(text).unwrap();
    let share: Share = share.parse().unwrap();
    let mine = (0..sweep.experiment.len()).filter(|index| share.has(*index));
    let rows = mine.map(|index| sweep.experiment.case(index).unwrap().run().unwrap()).collect();
    Table { sweep, share, program: "test".to_owned(), rows }
}

fn bytes(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: Vec<u8>) -> Result<Table, TableError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, bytes).unwrap();
    Table::read(std::fs::File::open(path).unwrap())
}

#[test]
fn every_combination_is_one_transfer_for_each_repetition() {
    let sweep = Sweep::read(SMALL).unwrap();
    assert_eq!((sweep.experiment.cells.len(), sweep.experiment.len()), (4, 8));
    assert!(sweep.experiment.case(8).is_none());
    let [one, other] = [0, 2].map(|index| sweep.experiment.case(index).unwrap());
    assert_ne!(one.settings, other.settings);
    assert_eq!(one.seed, other.seed, "the same repetition has the same chance everywhere");
    assert_ne!(one.seed, sweep.experiment.case(1).unwrap().seed);
    let varied: Vec<&str> = sweep.experiment.varied().iter().map(|(parameter, _)| parameter.name).collect();
    assert_eq!(varied, ["rtt", "burst-length"]);
}

#[test]
fn what_came_of_it_is_the_same_each_time_and_a_burst_costs() {
    let (one, two) = (table(SMALL, "1/1"), table(SMALL, "1/1"));
    assert_eq!(one.rows, two.rows);
    let took = |index: usize| one.rows[index].get(Measure::Took);
    for (quiet, struck) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
        assert!(took(struck) > took(quiet), "{} after {}", took(struck), took(quiet));
        assert_eq!(one.rows[quiet].get(Measure::BurstBegan), 0.0);
        assert!((20_000.0..=40_000.0).contains(&one.rows[struck].get(Measure::BurstBegan)));
    }
}

#[test]
fn a_burst_before_the_connection_is_cut_and_the_clock_of_the_command_runs_earlier() {
    let of = |more: &str| {
        let text = format!(
            "name = \"x\"\n[set]\nrate = \"100Mbit/s\"\nrtt = \"10ms\"\nbytes = \"1MB\"\nburst-rate = \"100Mbit/s\"\nburst-start = \"20ms\"\nburst-length = \"40ms\"\n{more}"
        );
        table(&text, "1/1").rows[0].clone()
    };
    let after = of("start-up = \"10ms\"");
    let all_before = of("start-up = \"30ms\"\nstart-up-round-trips = 3");
    let half_before = of("start-up = \"30ms\"");
    let command = of("start-up = \"30ms\"\nclock = \"command\"");
    assert_eq!([&after, &half_before].map(|row| row.get(Measure::BurstBegan)), [10_000.0, 0.0]);
    assert!(all_before.get(Measure::Took) < half_before.get(Measure::Took), "nothing of it is left");
    assert_eq!(command.get(Measure::Took), half_before.get(Measure::Took) + 30_000.0);
    assert_eq!(command.get(Measure::Transfer), half_before.get(Measure::Transfer));
}

#[test]
fn a_burst_in_its_own_queue_costs_less() {
    let of = |queue: &str| {
        let text = format!(
            "name = \"x\"\n[set]\nrate = \"100Mbit/s\"\nrtt = \"10ms\"\nbytes = \"5MB\"\nwmem = \"16MiB\"\nrmem = \"32MiB\"\nburst-rate = \"200Mbit/s\"\nburst-start = \"50ms\"\nburst-length = \"500ms\"\nburst-queue = \"{queue}\""
        );
        table(&text, "1/1").rows[0].get(Measure::Took)
    };
    assert!(of("own") < 0.8 * of("shared"), "{} and {}", of("own"), of("shared"));
}

#[test]
fn a_transfer_over_several_connections_has_the_buffers_of_all_and_ends_with_the_last() {
    let of = |streams: u32| {
        // One buffer of 4 MiB is a third of what is under way here.
        let text = format!(
            "name = \"x\"\n[set]\nrate = \"1Gbit/s\"\nrtt = \"50ms\"\nbytes = \"50000001B\"\nstreams = {streams}"
        );
        table(&text, "1/1").rows[0].clone()
    };
    let (one, four) = (of(1), of(4));
    assert!(four.get(Measure::Took) < 0.75 * one.get(Measure::Took), "{four:?} {one:?}");
    assert_eq!(four.get(Measure::Finished), 1.0);
    let segments = |streams: f64| (50_000_001.0 / streams / 1_448.0_f64).ceil() * streams;
    assert_eq!((one.get(Measure::Sent), four.get(Measure::Sent)), (segments(1.0), segments(4.0)));
}

#[test]
fn the_share_of_a_bursts_own_queue_is_what_the_transfer_loses() {
    let of = |share: f64| {
        let text = format!(
            "name = \"x\"\n[set]\nrate = \"100Mbit/s\"\nrtt = \"10ms\"\nbytes = \"5MB\"\nwmem = \"16MiB\"\nrmem = \"32MiB\"\nburst-rate = \"200Mbit/s\"\nburst-start = \"0s\"\nburst-length = \"5s\"\nburst-queue = \"own\"\nburst-share = {share}"
        );
        table(&text, "1/1").rows[0].get(Measure::Took)
    };
    let ratio = of(0.5) / of(0.1);
    // Nine tenths of the link against five; start-up takes as long in both.
    assert!((1.4..=1.9).contains(&ratio), "{ratio}");
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let written = table(SMALL, "1/1");
    let read = read(bytes(&written)).unwrap();
    assert_eq!(read.rows, written.rows);
    assert_eq!((read.share, read.program.as_str(), read.sweep.text.as_str()), (Share::WHOLE, "test", SMALL));
    assert!(read.is_whole());
    assert_eq!(column_names().len(), 4 + sweep::parameter::ALL.len() + Measure::ALL.len());
}

#[test]
fn what_is_no_table_of_a_sweep_is_refused() {
    let whole = bytes(&table(SMALL, "1/1"));
    assert!(matches!(read(Vec::new()), Err(TableError::Parquet(_))));
    assert!(matches!(read(whole[..whole.len() / 2].to_vec()), Err(TableError::Parquet(_))));
    let mut twice = table(SMALL, "1/1");
    twice.rows[3].index = 2;
    assert!(matches!(read(bytes(&twice)), Err(TableError::Rows(_))));
    let mut strange = table(SMALL, "1/2");
    strange.rows[0].index = 1;
    assert!(matches!(read(bytes(&strange)), Err(TableError::Rows(_))));
}

#[test]
fn the_shares_together_are_the_whole() {
    let parts = ["3/3", "1/3", "2/3"].map(|share| (share.to_owned(), table(SMALL, share)));
    let merged = merge(parts.to_vec()).unwrap();
    assert_eq!(bytes(&merged), bytes(&table(SMALL, "1/1")));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let part = |share: &str| (format!("part {share}"), table(SMALL, share));
    assert_eq!(merge(Vec::new()).unwrap_err(), MergeError::Nothing);
    assert_eq!(merge(vec![part("1/4"), part("3/4")]).unwrap_err(), MergeError::Missing { missing: vec![2, 4], of: 4 });
    assert!(matches!(merge(vec![part("1/2"), part("1/2")]), Err(MergeError::Twice { .. })));
    assert!(matches!(merge(vec![part("1/2"), part("2/3")]), Err(MergeError::Cut { .. })));
    let mut cut = part("2/2");
    cut.1.rows.pop();
    assert!(matches!(merge(vec![part("1/2"), cut]), Err(MergeError::Incomplete { has: 3, of: 4, .. })));
    let mut newer = part("2/2");
    newer.1.program = "another".to_owned();
    assert!(matches!(merge(vec![part("1/2"), newer]), Err(MergeError::Program { .. })));
    let seeded = ("seeded".to_owned(), table(&format!("seed = 2\n{SMALL}"), "2/2"));
    assert!(matches!(merge(vec![part("1/2"), seeded]), Err(MergeError::Changed { .. })));
    let named = ("named".to_owned(), table(&SMALL.replace("small", "large"), "2/2"));
    assert!(matches!(merge(vec![part("1/2"), named]), Err(MergeError::Other { .. })));
}

#[test]
fn what_is_drawn_or_expected_makes_no_other_experiment() {
    let digest = |text: &str| Sweep::read(text).unwrap().experiment.digest();
    let plain = digest(SMALL);
    let expecting = format!("{SMALL}\n[[expect]]\nname = \"x\"\nsays = \"y\"\nat-least = \"1s\"\n");
    assert_eq!(plain, digest(&expecting));
    assert_eq!(plain, digest(&SMALL.replace("\"20ms\"", "\"0.02s\"")), "the same, written otherwise");
    for (from, to) in
        [("\"20ms\"", "\"21ms\""), ("repetitions = 2", "repetitions = 3"), ("small\"", "small\"\nseed = 7")]
    {
        assert_ne!(plain, digest(&SMALL.replace(from, to)), "{to}");
    }
}

#[test]
fn a_report_has_a_line_for_each_value_that_is_told_apart() {
    let table = table(SMALL, "1/1");
    let by: Vec<_> = table.sweep.experiment.varied().into_iter().map(|(parameter, _)| parameter).collect();
    let report = Report::new(&table, &by, Variants::Apart);
    assert_eq!(report.groups.iter().map(|group| group.flows).collect::<Vec<_>>(), [2; 4]);
    let pooled = Report::new(&table, &by[..1], Variants::Apart);
    assert_eq!(pooled.groups.iter().map(|group| group.flows).collect::<Vec<_>>(), [4; 2]);
    assert!(
        report.groups.iter().any(|group| group.missed == 1.0) && report.groups.iter().any(|group| group.missed == 0.0)
    );
}

#[test]
fn files_that_are_no_experiment_say_what_is_wrong() {
    let base = "name = \"x\"\n[set]\nrate = \"1Gbit/s\"\nrtt = \"10ms\"\n";
    for (text, part) in [
        ("name = 3", "expected a string"),
        ("name = \"x\"\n[set]\nrtt = \"1ms\"\n", "`rate` is given nowhere"),
        (&format!("{base}streams = 0"), "there are 1 to 128"),
        (&format!("{base}burst-share = 1"), "both queues need a part"),
        (&format!("{base}windows = 3"), "docs/formats/sweep.md"),
        (&format!("{base}initial = 3"), "there is `initial-window`"),
        (&format!("{base}queue = 20"), "write a text such as \"20MB\""),
        (&format!("{base}congestion = \"vegas\""), "vegas"),
        (&format!("{base}writer = \"sometimes\""), "polls or blocks"),
        (&format!("{base}mtu = \"20B\""), "MTU"),
        (&format!("{base}receiver-initial-window = 0"), "one segment is the least"),
        (&format!("repetitions = 0\n{base}"), "once is the least"),
        (
            &format!(
                "{base}initial-window = {{ from = 1, to = 90000, step = 1 }}\nwmem = {{ from = \"1MB\", to = \"90MB\", step = \"1MB\" }}"
            ),
            "a million combinations",
        ),
        (
            &format!("{base}[[variant]]\nname = \"a\"\nset = {{}}\n[[variant]]\nname = \"a\"\nset = {{}}"),
            "two variants",
        ),
        (&format!("{base}[[expect]]\nname = \"e\"\nsays = \"\""), "it expects nothing"),
        (
            &format!("{base}[[expect]]\nname = \"e\"\nsays = \"\"\nwhat = \"speed\"\nat-least = 1"),
            "no result of a transfer",
        ),
        (&format!("{base}[[expect]]\nname = \"e\"\nsays = \"\"\nat-least = 1"), "write a text such as \"209ms\""),
        (
            &format!("{base}[[expect]]\nname = \"e\"\nsays = \"\"\nat-least = \"1s\"\nwhere = {{ rtt = \"11ms\" }}"),
            "all that `where` asks for",
        ),
        (&format!("{base}[[figure]]\nname = \"../x\"\ntitle = \"\"\nacross = \"rtt\""), "letters, digits and hyphens"),
        (&format!("{base}[[figure]]\nname = \"x\"\ntitle = \"\"\nacross = \"congestion\""), "no quantity"),
    ] {
        let error = Sweep::read(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}\n{error}");
    }
}

#[test]
fn a_row_of_another_experiment_does_no_harm() {
    let table = table(SMALL, "1/1");
    let stray = [Row { index: 1_000, numbers: table.rows[0].numbers }];
    assert!(
        sweep::selection::Rows::new(&table.sweep.experiment, &stray)
            .pooled(&Default::default(), Measure::Took)
            .values()
            .is_empty()
    );
}
