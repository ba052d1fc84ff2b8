//! A round whose leader is killed: what it measured is kept, nothing stays behind, and the rest is measured by the next one.

use model::round::Round;

use super::TESTS;
use super::network::Network;

/// Leads a round and kills it once three tests have ended. Returns how many its journal has.
fn killed(network: &mut Network) -> usize {
    network.plan(TESTS);
    network.world.run(
        "$L round $F/plan.toml --quiet --overtime 1h > /dev/null 2>&1 & leader=$!; \
         until [ \"$(cat $F/archive.db.rounds/*.round.jsonl 2>/dev/null | grep -c '\"slot\"')\" -ge 3 ]; do :; done; \
         kill -9 $leader; wait $leader 2>/dev/null || true",
    );
    network.is_left_empty();
    let count = network.world.run("cat $F/archive.db.rounds/*.round.jsonl | grep -c '\"slot\"'");
    count.trim().parse().unwrap()
}

#[test]
fn a_round_that_is_killed_goes_on_and_measures_nothing_twice() {
    let mut network = Network::new();
    let done = killed(&mut network);
    assert!((3..24).contains(&done), "{done}");
    let id = network.world.run("basename $F/archive.db.rounds/*.round.jsonl .round.jsonl");
    let round = network.round("--resume");
    assert_eq!((round.id.to_string(), round.tests.len()), (id.trim().to_owned(), 24));
    assert!(round.tests.iter().all(|tested| archive::rounds::has_result(&tested.finding)), "{round:?}");
    assert_eq!(network.world.run("ls $F/archive.db.rounds"), "", "nothing is left to go on with");
    let (said, code) = network.world.ends("$L round $F/plan.toml --resume");
    assert!(code == 9 && said.contains("was interrupted"), "{code}: {said}");
}

#[test]
fn a_round_that_is_killed_is_kept_by_the_next_one() {
    let mut network = Network::new();
    let done = killed(&mut network);
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
