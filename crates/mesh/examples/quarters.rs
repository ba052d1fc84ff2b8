//! What a hub reports in a quarter: `cargo run --release -p mesh --example quarters -- SEED COUNT [HOSTS]`, 20 hosts without.

#![allow(clippy::print_stdout, reason = "an example is there to print")]

use baseline::mesh::Element;
use mesh::judged::{Failing, Judged, Quarter};
use path::Seed;
use stats::proportion::Proportion;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let (seed, count, hosts) = match arguments[..] {
        [seed, count] => (seed, count, 20),
        [seed, count, hosts] => (seed, count, usize::try_from(hosts)?),
        _ => return Err("give a seed and a number of quarters".into()),
    };
    let quarter = |part: u64, fault| Quarter { hosts, days: 90, seed: Seed(seed).part(part), fault }.judge();
    let quiet: Vec<usize> = (0..count).map(|part| quarter(part, None).false_incidents).collect();
    println!(
        "{count} quiet quarters: {} false incidents, most in one: {}",
        quiet.iter().sum::<usize>(),
        quiet.iter().max().unwrap_or(&0)
    );
    for (kind, make) in [
        ("both directions", Element::Host as fn(usize) -> Element),
        ("sending", Element::From),
        ("receiving", Element::To),
    ] {
        let of = |part: u64| {
            let host = usize::try_from(part).unwrap_or(0) * 7 % hosts;
            quarter(10_000 + part, Some(Failing { element: make(host), from_day: 50, drop: 0.3 }))
        };
        let judged: Vec<Judged> = (0..count).map(of).collect();
        let share = |is: fn(&Judged) -> bool| {
            let some = u32::try_from(judged.iter().filter(|one| is(one)).count()).unwrap_or(0);
            let proportion = Proportion { some, of: u32::try_from(judged.len()).unwrap_or(0) };
            let (low, high) = proportion.interval();
            format!("{some} of {} ({:.0} to {:.0} %)", judged.len(), 100.0 * low, 100.0 * high)
        };
        println!(
            "30 % less, {kind}: the same day {}, at all {}, open 40 days later {}, other incidents {}",
            share(|one| one.same_day),
            share(|one| one.named),
            share(|one| one.open_at_the_end),
            judged.iter().map(|one| one.false_incidents).sum::<usize>()
        );
    }
    Ok(())
}
