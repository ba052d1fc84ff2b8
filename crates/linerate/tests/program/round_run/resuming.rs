//! A round whose leader is killed: what it measured is kept, nothing stays behind, and the rest is measured by the next one.

use std::collections::BTreeSet;

use model::round::{Round, Tested};

use super::TESTS;
use crate::actors::network::Network;

/// Leads a round and kills it in the moment in which it says of so many tests how they ended: the shell reads along, letter by letter.
/// Returns what it said of them. None is repeated, since a better result would take the place of what was said.
fn killed(network: &mut Network, options: &str, after: usize) -> Vec<String> {
    network.plan(TESTS);
    let said = network.world.run(&format!(
        "rm -f $F/says; mkfifo $F/says; : > $F/heard; \
         $L round $F/plan.toml --overtime 1h --patience 5min --repeats 0s {options} > /dev/null 2> $F/says & leader=$!; \
         exec 8< $F/says; ended=0; \
         while [ $ended -lt {after} ] && IFS= read -r line <&8; do \
             case $line in *' > '*) ended=$((ended + 1)); [ $ended -lt {after} ] || kill -9 $leader;; esac; \
             printf '%s\\n' \"$line\" >> $F/heard; \
         done; cat <&8 >> $F/heard; exec 8<&-; wait $leader 2>/dev/null || true; cat $F/heard"
    ));
    network.is_left_empty();
    let ended: Vec<String> = said.lines().filter(|line| line.contains(" > ")).map(str::to_owned).collect();
    assert!((after..24).contains(&ended.len()), "{said}");
    ended
}

/// How many tests are on disk of a round that nobody leads.
fn on_disk(network: &mut Network) -> usize {
    let lines = network.world.run("cat $F/archive.db.rounds/*.round.jsonl");
    let slots = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["slot"].as_u64());
    slots.collect::<BTreeSet<_>>().len()
}

#[test]
fn a_round_that_is_killed_again_and_again_has_all_that_it_said_and_measures_nothing_twice() {
    let mut network = Network::new();
    // A round that goes on says again what it has.
    let mut said: BTreeSet<String> = killed(&mut network, "", 1).into_iter().collect();
    let id = network.world.run("basename $F/archive.db.rounds/*.round.jsonl .round.jsonl");
    for after in [2, 4, 5, 11, 17] {
        assert!(on_disk(&mut network) >= said.len(), "{said:?}");
        said.extend(killed(&mut network, "--resume", after));
    }
    let round = network.round("--repeats 0s --resume");
    assert_eq!((round.id.to_string(), round.tests.len()), (id.trim().to_owned(), 24));
    assert!(round.tests.iter().all(|tested| archive::rounds::has_result(&tested.finding)), "{round:?}");
    // A test that was run once more would have begun at another time.
    let begun = |tested: &Tested| {
        let from_to = format!("{} > {}", tested.from, tested.to);
        format!("{:6.1} s  {from_to:<28} {:<12} ", tested.began.as_secs_f64(), tested.label)
    };
    let kept: Vec<String> = round.tests.iter().map(begun).collect();
    for line in &said {
        assert!(kept.iter().any(|begun| line.starts_with(begun)), "`{line}` is lost, or was run again: {kept:#?}");
    }
    assert_eq!(network.world.run("ls $F/archive.db.rounds"), "", "nothing is left to go on with");
    let (said, code) = network.world.ends("$L round $F/plan.toml --resume");
    assert!(code == 9 && said.contains("was interrupted"), "{code}: {said}");
}

#[test]
fn a_round_that_is_killed_is_kept_by_the_next_one() {
    let mut network = Network::new();
    killed(&mut network, "", 3);
    let done = on_disk(&mut network);
    let id = network.world.run("basename $F/archive.db.rounds/*.round.jsonl .round.jsonl");
    let next = network.round("");
    assert_ne!(next.id.to_string(), id.trim());
    let kept: Round = network.world.document(&format!("round show {} --json", id.trim()));
    assert_eq!(kept.tests.len(), done);
}

#[test]
fn a_round_without_any_result_ends_with_a_code_of_its_own() {
    let mut network = Network::new();
    network.plan_of(
        "[hosts.b]\naddress = \"192.0.2.2\"\nnetns = \"h2\"\nprogram = \"/none\"",
        "[groups.two]\nmesh = [\"a\", \"b\"]\n[[tests]]\nkind = \"ping\"\ncount = 1\n",
    );
    let (said, code) = network.world.ends("$L round $F/plan.toml --quiet");
    assert_eq!(code, 12, "{said}");
}
