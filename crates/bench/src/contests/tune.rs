//! Whether the search for settings finds what trying all of them finds: 20 questions with a grid of 432 settings each.
//!
//! The grid is raced: all settings see 16 draws, the best 64 of them 96, the best 12 of those 400. The search does not see
//! these draws. Settings that differ by buffers that never limit a transfer share it, in the grid as in the search. The
//! answer and that of the grid are then held against 400 draws that neither was chosen by.

use std::num::NonZeroUsize;
use std::time::Instant;

use anyhow::{Context, ensure};
use linux::clock;
use tune::candidate::Candidate;
use tune::ledger::Ledger;
use tune::{Halt, Question, Runner, Score, Trial, Wanted};

use super::effort::{Cases, Effort};
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(effort: Effort, cases: &Cases) -> anyhow::Result<Vec<Row>> {
    let all = questions().into_iter().filter(|(name, _)| cases.have(name));
    let mut rows = Vec::new();
    let (mut within, mut judged, mut seconds) = (0_u32, 0_u32, Vec::new());
    for (name, text) in all.take(effort.choose(4, 20)) {
        let question = Question::read(&text, &Wanted::default()).with_context(|| name.clone())?;
        let duel = Duel::of(&question)?;
        judged += 1;
        within += u32::from(duel.loses() <= MARGIN);
        seconds.push(duel.seconds);
        let note = format!(
            "the grid's best {:.1} %, as it is {:.1} %, {:.0} s, {:.0} s of CPU; simulated {} and {} transfers",
            duel.grid * 100.0,
            duel.present * 100.0,
            duel.seconds,
            duel.cpu_s,
            duel.simulated[0],
            duel.simulated[1]
        );
        // Half an hour without a word is too long, and what is known should outlive an interruption.
        eprintln!("  {name}: missed {:.1} % with the answer; {note}", duel.search * 100.0);
        rows.push(Row::new(format!("{name}: missed with the answer"), duel.search * 100.0, "%").note(note));
    }
    ensure!(judged > 0, "no question is called like that");
    let wanted = f64::from(judged) * 0.9;
    rows.push(
        Row::new(format!("of {judged} questions answered within 1 % of the grid"), f64::from(within), "")
            .target(Target::AtLeast(wanted.floor())),
    );
    rows.push(Row::new("time of a search", Spread::of(seconds).median, "s").target(Target::AtMost(30.0)));
    Ok(rows)
}

/// Misses may be so much more often than with the best of the grid.
const MARGIN: f64 = 0.01;
/// Transfers of a search: what `simulate tune` has where nothing is said.
const BUDGET: u64 = 3_000;
/// Where the draws begin that judge: far from those of the search and of its own confirmation.
const JUDGING: u64 = 1 << 40;
const RACING: u64 = 1 << 41;

/// Deadline misses of the same 400 draws, as shares.
struct Duel {
    present: f64,
    search: f64,
    grid: f64,
    /// Time of the search.
    seconds: f64,
    /// CPU time of all its threads, which other programs do not lengthen.
    cpu_s: f64,
    /// Transfers that search and grid simulated.
    simulated: [u64; 2],
}

impl Duel {
    fn of(question: &Question) -> anyhow::Result<Self> {
        const DRAWS: usize = 400;
        let mut machine = Machine::new();
        let (began, before) = (Instant::now(), clock::process_cpu_times()?.total());
        let found = tune::tune(question, BUDGET, &mut machine)?;
        let seconds = began.elapsed().as_secs_f64();
        let cpu_s = clock::process_cpu_times()?.total().saturating_sub(before).as_secs_f64();
        let (best, in_grid) = raced(question, &mut machine)?;
        let mut judge = Ledger::new(question, &mut machine, JUDGING);
        judge.extend([&found.present, &found.best, &best], DRAWS)?;
        let missed = |of: &Candidate| judge.book.standing(of, DRAWS).missed.share().unwrap_or(1.0);
        let [present, search, grid] = [&found.present, &found.best, &best].map(missed);
        Ok(Self { present, search, grid, seconds, cpu_s, simulated: [found.simulated, in_grid] })
    }

    fn loses(&self) -> f64 {
        self.search - self.grid
    }
}

/// The best of all settings there are, and how many transfers were simulated to know it.
fn raced(question: &Question, machine: &mut Machine) -> Result<(Candidate, u64), Halt> {
    let mut left = vec![Candidate::present(question)];
    for (dial, of) in question.dials.iter().enumerate() {
        left = left.iter().flat_map(|one| (0..of.values.len()).map(move |place| one.with(dial, place))).collect();
    }
    let mut race = Ledger::new(question, machine, RACING);
    for (draws, kept) in [(16, 64), (96, 12), (400, 1)] {
        race.extend(&left, draws)?;
        left = race.book.ranked(question, draws);
        left.truncate(kept);
    }
    Ok((left.remove(0), race.simulated))
}

/// As many threads as there are CPUs.
struct Machine {
    threads: usize,
}

impl Machine {
    fn new() -> Self {
        Self { threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get) }
    }
}

impl Runner for Machine {
    fn run(&mut self, question: &Question, trials: &[Trial]) -> Result<Vec<Score>, Halt> {
        let piece = trials.len().div_ceil(self.threads).max(1);
        let simulate = |trials: &[Trial]| trials.iter().map(|trial| trial.run(question)).collect::<Result<Vec<_>, _>>();
        let parts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = trials.chunks(piece).map(|trials| scope.spawn(move || simulate(trials))).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut scores = Vec::with_capacity(trials.len());
        for part in parts {
            scores.extend(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(scores)
    }
}

/// Rates, round trips, losses and bursts as sites have them; the deadline is what a tuned host needs, and a little.
fn questions() -> Vec<(String, String)> {
    let paths = [("100Mbit/s", 0.1), ("1Gbit/s", 1.0)];
    let rtts = [10_u32, 30, 60, 100, 180];
    let disturbed = ["bursts", "losses"];
    let mut all = Vec::new();
    for (rate, gbit) in paths {
        for rtt in rtts {
            for kind in disturbed {
                all.push((format!("{rate} {rtt} ms {kind}"), question(rate, gbit, rtt, kind)));
            }
        }
    }
    all
}

/// Four seconds at the full rate, within five and 25 RTTs.
fn question(rate: &str, gbit: f64, rtt: u32, kind: &str) -> String {
    let bytes = gbit * 1e9 / 8.0 * 4.0;
    let deadline = 5_000 + 25 * rtt;
    let disturbance = match kind {
        "losses" => "loss = [0.0, 0.00001, 0.0001]\n".to_owned(),
        _ => format!(
            "burst-rate = \"{rate}\"\nburst-length = [\"10ms\", \"50ms\", \"200ms\"]\n\
             burst-start = {{ from = \"0s\", to = \"4s\" }}\n"
        ),
    };
    format!(
        "name = \"{kind}\"\nseed = 11\n[set]\nrate = \"{rate}\"\nrtt = \"{rtt}ms\"\nbytes = \"{bytes:.0}B\"\n\
         deadline = \"{deadline}ms\"\npatience = \"1min\"\n{disturbance}[vary]\n\
         congestion = [\"cubic\", \"htcp\", \"bbr\"]\nwmem = [\"4MiB\", \"16MiB\", \"64MiB\", \"256MiB\"]\n\
         rmem = [\"6MiB\", \"32MiB\", \"128MiB\", \"512MiB\"]\nstreams = [1, 2, 4]\ninitial-window = [10, 30, 100]\n"
    )
}
