//! Searches from a question to an answer, simulated by one thread.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::collections::{BTreeMap, BTreeSet};

use sweep::report::Setting;
use tune::candidate::Candidate;
use tune::fixes::Places;
use tune::ledger::Ledger;
use tune::{Answer, Halt, Question, Runner, Score, Trial, TunedSettings, Verdict, Wanted};

/// Simulates one trial after the other, the last first, and stops where it was told to.
#[derive(Default)]
struct Machine {
    done: u64,
    last: Option<u64>,
    seen: Vec<Trial>,
}

impl Runner for Machine {
    fn run(&mut self, question: &Question, trials: &[Trial]) -> Result<Vec<Score>, Halt> {
        self.done += trials.len() as u64;
        if self.last.is_some_and(|last| self.done > last) {
            return Err(Halt::Stopped);
        }
        self.seen.extend(trials.iter().cloned());
        let mut scores: Vec<Score> = trials.iter().rev().map(|trial| trial.run(question).unwrap()).collect();
        scores.reverse();
        Ok(scores)
    }
}

/// 6 MB over 100 Mbit/s and 40 ms, which take 0.67 s. A full path has 500 kB in flight: the sender needs as much buffer, and
/// the receiver twice that, of which half is the window. The NIC is no faster than the path, so that no queue stands on it.
const PATH: &str = r#"
name = "small"
seed = 7
[set]
rate = "100Mbit/s"
rtt = "40ms"
queue = "4MB"
nic-rate = "100Mbit/s"
bytes = "6MB"
rmem = "16MiB"
rmem-default = "256KiB"
initial-window = 20
receiver-initial-window = 20
patience = "20s"
"#;

fn ask(more: &str, budget: u64, machine: &mut Machine) -> (Question, TunedSettings, Answer) {
    let question = Question::read(&format!("{PATH}{more}"), &Wanted::default()).unwrap();
    let found = tune::tune(&question, budget, machine).unwrap();
    let places = Places { route: "default".to_owned(), device: None };
    let answer = Answer::new(&question, &found, "test", &places);
    (question, found, answer)
}

fn asked(more: &str, budget: u64) -> Answer {
    ask(more, budget, &mut Machine::default()).2
}

const BUFFERS: &str = r#"
wmem = "128KiB"
deadline = "800ms"
burst-rate = "20Mbit/s"
burst-length = { from = "10ms", to = "60ms" }
burst-start = { from = "0s", to = "500ms" }
[vary]
wmem = ["128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB"]
"#;

#[test]
fn the_first_send_buffer_that_holds_the_path_is_found_and_a_larger_one_is_no_better() {
    let answer = asked(BUFFERS, 240);
    assert_eq!(answer.verdict, Verdict::Helps, "{answer:?}");
    assert_eq!((answer.present.missed, answer.best.missed), (answer.present.draws, 0));
    // The first of them of which two thirds are more than the product: a program that polls uses no more.
    let first = BTreeMap::from([("wmem_bytes".to_owned(), Setting::Number(1_048_576.0))]);
    assert_eq!(answer.best.set, first);
    let larger: Vec<_> = answer.others.iter().map(|other| (&other.set["wmem_bytes"], other.missed)).collect();
    assert!(larger.iter().any(|(size, missed)| **size == Setting::Number(2_097_152.0) && *missed == 0), "{larger:?}");
    assert!(answer.fresh && answer.whole && answer.p < 1e-6);
}

#[test]
fn the_same_question_has_the_same_answer_and_all_settings_see_the_same_draws() {
    let (question, _, one) = ask(BUFFERS, 240, &mut Machine::default());
    assert_eq!(one, asked(BUFFERS, 240));
    assert_ne!(one.by, asked(&BUFFERS.replace("60ms", "61ms"), 240).by);
    let present = Candidate::present(&question);
    for draw in [0, 5] {
        let [now, other] = [&present, &present.with(0, 3)].map(|candidate| question.settings(candidate, draw));
        assert_ne!(now.get("wmem"), other.get("wmem"));
        assert_eq!(
            ["burst-length", "burst-start"].map(|name| now.get(name)),
            ["burst-length", "burst-start"].map(|name| other.get(name))
        );
    }
    assert_ne!(question.settings(&present, 1).get("burst-length"), question.settings(&present, 2).get("burst-length"));
}

#[test]
fn the_answer_is_of_draws_that_the_search_has_not_seen_and_the_budget_is_kept() {
    let mut machine = Machine::default();
    let (_, found, answer) = ask(BUFFERS, 240, &mut machine);
    assert_eq!((found.simulated, answer.flows), (machine.done, found.spent));
    // Rounds are not cut in two.
    assert!((160..=300).contains(&found.spent), "{}", found.spent);
    assert!(machine.done <= found.spent, "{} of {}", machine.done, found.spent);
    let (search, fresh): (Vec<&Trial>, Vec<&Trial>) = machine.seen.iter().partition(|trial| trial.draw < 1 << 32);
    assert!(!search.is_empty() && !fresh.is_empty(), "{} and {}", search.len(), fresh.len());
    let shown = [&found.present, &found.best].into_iter().chain(&found.others).chain(&found.fewer);
    let shown: BTreeSet<&Candidate> = shown.chain(found.without.iter().map(|(_, candidate)| candidate)).collect();
    let books = std::iter::once(&found.book).chain(found.own_queue.iter().map(|(_, book)| book));
    let drawn: usize = books.map(|book| shown.iter().map(|of| book.scores(of).len()).sum::<usize>()).sum();
    assert!(drawn >= 240 * 3 / 10, "{drawn}");
    // Each draw of the best was simulated, with its buffers or with larger ones.
    let draws: BTreeSet<u64> = fresh.iter().map(|trial| trial.draw).collect();
    assert!(draws.len() >= answer.best.draws as usize, "{} of {}", draws.len(), answer.best.draws);
}

#[test]
fn transfers_that_differ_by_buffers_that_never_limit_are_simulated_once_and_are_what_each_would_have_been() {
    let more = r#"
wmem = "128KiB"
loss = [0.0, 0.0005]
deadline = "800ms"
[vary]
congestion = ["cubic", "bbr"]
wmem = ["128KiB", "1MiB", "2MiB", "8MiB", "64MiB"]
rmem = ["256KiB", "1MiB", "8MiB", "64MiB"]
streams = [1, 3]
"#;
    let path = PATH.replace("rmem = \"16MiB\"\n", "rmem = \"256KiB\"\n");
    let question = Question::read(&format!("{path}{more}"), &Wanted::default()).unwrap();
    let mut all = vec![Candidate::present(&question)];
    for (dial, of) in question.dials.iter().enumerate() {
        all = all.iter().flat_map(|one| (0..of.values.len()).map(move |place| one.with(dial, place))).collect();
    }
    const DRAWS: usize = 6;
    let mut machine = Machine::default();
    let mut ledger = Ledger::new(&question, &mut machine, 0);
    ledger.extend(&all, DRAWS).unwrap();
    let (spent, simulated) = (ledger.spent, ledger.simulated);
    assert_eq!(spent, (2 * 5 * 4 * 2 * DRAWS) as u64);
    assert!(simulated < spent * 2 / 3, "{simulated} of {spent}");
    for candidate in &all {
        for (draw, known) in (0_u64..).zip(ledger.book.scores(candidate)) {
            let score = Trial { candidate: candidate.clone(), draw }.run(&question).unwrap();
            assert_eq!((score.took, score.missed), (known.took, known.missed), "{candidate:?} {draw}");
        }
    }
}

#[test]
fn a_search_that_is_stopped_has_the_best_so_far_and_says_that_it_is_not_whole() {
    let mut machine = Machine { last: Some(60), ..Machine::default() };
    let (_, found, answer) = ask(BUFFERS, 240, &mut machine);
    assert!(!found.is_whole && !answer.whole && !answer.fresh);
    assert_eq!(answer.present.draws, answer.best.draws);
    assert!(answer.best.draws > 0 && answer.best.missed < answer.present.missed, "{answer:?}");
    let question = Question::read(&format!("{PATH}{BUFFERS}"), &Wanted::default()).unwrap();
    let mut nothing = Machine { last: Some(0), ..Machine::default() };
    assert_eq!(tune::tune(&question, 240, &mut nothing).err(), Some(Halt::Stopped));
}

#[test]
fn where_the_path_itself_is_too_slow_no_setting_helps() {
    // 6 MB need 480 ms of the link.
    let answer = asked(&BUFFERS.replace("800ms", "400ms"), 200);
    assert_eq!(answer.verdict, Verdict::NothingHelps);
    assert!(answer.best.set.is_empty() && answer.sender.steps.is_empty(), "{answer:?}");
    assert_eq!(answer.present.missed, answer.present.draws);
}

#[test]
fn where_nothing_is_missed_nothing_is_changed() {
    let answer = asked(&BUFFERS.replace("800ms", "15s"), 200);
    assert_eq!((answer.verdict, answer.present.missed), (Verdict::NothingMissed, 0));
    assert!(answer.best.set.is_empty());
}

#[test]
fn what_does_not_matter_stays_as_it_is_and_each_change_is_weighed() {
    let two = BUFFERS.replace("wmem = \"128KiB\"\n", "wmem = \"128KiB\"\nrmem = \"512KiB\"\n").replace(
        "[vary]",
        "[vary]\nrmem = [\"512KiB\", \"1MiB\", \"4MiB\"]\nwriter = [\"polls\", \"blocks\"]\necn = [false, true]",
    );
    let question = PATH.replace("rmem = \"16MiB\"\n", "");
    let question = Question::read(&format!("{question}{two}"), &Wanted::default()).unwrap();
    let found = tune::tune(&question, 400, &mut Machine::default()).unwrap();
    let answer = Answer::new(&question, &found, "test", &Places { route: "default".to_owned(), device: None });
    assert_eq!(answer.verdict, Verdict::Helps);
    let changed: Vec<&str> = answer.best.set.keys().map(String::as_str).collect();
    assert_eq!(changed, ["rmem_bytes", "wmem_bytes"], "{answer:?}");
    for without in &answer.without {
        assert!(without.tried.missed > without.best_missed, "{without:?}");
    }
    assert_eq!(answer.without.len(), 2);
    assert_eq!(answer.sender.steps.len(), 1);
    assert_eq!(answer.receiver.steps.len(), 1);
}

#[test]
fn a_queue_of_their_own_takes_the_harm_out_of_bursts() {
    let bursts = r#"
wmem = "1MiB"
deadline = "1200ms"
queue = "100kB"
burst-rate = "200Mbit/s"
burst-length = ["100ms", "200ms"]
burst-start = { from = "50ms", to = "250ms" }
[vary]
initial-window = [15, 20]
"#;
    let question = PATH.replace("queue = \"4MB\"\n", "");
    let question = Question::read(&format!("{question}{bursts}"), &Wanted::default()).unwrap();
    let found = tune::tune(&question, 200, &mut Machine::default()).unwrap();
    let answer = Answer::new(&question, &found, "test", &Places::default());
    let own = answer.own_queue.unwrap();
    assert_eq!(own.present.draws, answer.present.draws);
    assert!(own.present.missed < answer.present.missed / 2, "{} and {}", own.present.missed, answer.present.missed);
    let lengths = answer.by.iter().find(|split| split.parameter == "burst-length").unwrap();
    let drawn: u32 = lengths.parts.iter().map(|part| part.present.draws).sum();
    assert_eq!((lengths.parts.len(), drawn), (2, answer.present.draws));
    let starts = answer.by.iter().find(|split| split.parameter == "burst-start").unwrap();
    assert_eq!(starts.parts.iter().map(|part| part.present.draws).sum::<u32>(), answer.present.draws);
}
