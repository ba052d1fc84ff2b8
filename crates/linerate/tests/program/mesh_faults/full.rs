//! Disks that are full for a while: what cannot be written waits, and everything goes on when there is room.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::world::{AGENTS, OnDisk, World};

/// A disk of its own for each of the three.
const MOUNT: &str = "for disk in hub a b; do mount -t tmpfs -o size=24m tmpfs $F/$disk; done";

/// A run of these agents, with the delivery of its result, takes no longer beside other tests.
const LONGEST_RUN: Duration = Duration::from_secs(20);

/// Runs that are tried: half of them can be over before the disk is full.
const TRIES: usize = 12;

/// Takes all room of a disk, also what the end of a block has.
fn fill(world: &mut World, disk: &str) {
    for size in ["64k", "4k", "512"] {
        world.run(&format!("dd if=/dev/zero of=$F/{disk}/rest-{size} bs={size} 2>/dev/null || true"));
    }
}

fn free(world: &mut World, disk: &str) {
    world.run(&format!("rm $F/{disk}/rest-*"));
}

#[test]
fn an_agent_whose_disk_was_full_goes_on_by_itself() {
    let mut world = World::on(MOUNT);
    world.wait_for_results(&BTreeMap::new());
    fill(&mut world, "a");
    world.wait("a complaint", |world| world.log("a").contains("No space left on device"));
    free(&mut world, "a");
    let known = world.series();
    world.wait_for_results(&known);
}

#[test]
fn a_hub_whose_disk_was_full_loses_nothing_that_agents_have() {
    let mut world = World::on(MOUNT);
    world.wait_for_results(&BTreeMap::new());
    let known = world.series();
    fill_with_a_result_out(&mut world);
    free(&mut world, "hub");
    world.wait_for_results(&known);
    world.wait("all deliveries", |world| AGENTS.iter().any(|agent| world.files(agent, OnDisk::Record).is_empty()));
}

/// Fills the hub's disk so that a result has to wait. A hub that cannot write gives no work, so a run has to be under way
/// before; if its result arrived while there was still room, or the disk was full before an agent that had the work could say that it
/// begins, the next run is tried.
fn fill_with_a_result_out(world: &mut World) {
    let has = |world: &World, kind| AGENTS.iter().any(|agent| !world.files(agent, kind).is_empty());
    let waits = |world: &World| {
        let is_told = |agent| world.log(agent).contains("delivery waits");
        AGENTS.iter().any(|agent| is_told(agent) && !world.files(agent, OnDisk::Record).is_empty())
    };
    for _ in 0..TRIES {
        world.wait("a run", |world| has(world, OnDisk::Lease));
        fill(world, "hub");
        let begun = Instant::now();
        world.wait("what becomes of the run", |world| {
            let is_over = !(has(world, OnDisk::Lease) || has(world, OnDisk::Record));
            // allow(timed assertion): a wait that is given up, and no claim.
            waits(world) || is_over || begun.elapsed() > LONGEST_RUN
        });
        if waits(world) {
            return;
        }
        free(world, "hub");
    }
    panic!("{TRIES} runs were over before the disk was full");
}
