//! Disks that are full for a while: what cannot be written waits, and everything goes on when there is room.

use std::collections::BTreeMap;

use super::world::{AGENTS, OnDisk, World};

/// A disk of its own for each of the three.
const MOUNT: &str = "for disk in hub a b; do mount -t tmpfs -o size=24m tmpfs $F/$disk; done";

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
    fill(&mut world, "hub");
    let waits = |world: &World, agent| {
        !world.files(agent, OnDisk::Record).is_empty() && world.log(agent).contains("delivery waits")
    };
    world.wait("a result that waits", |world| AGENTS.iter().any(|agent| waits(world, agent)));
    free(&mut world, "hub");
    world.wait_for_results(&known);
    world.wait("all deliveries", |world| AGENTS.iter().any(|agent| world.files(agent, OnDisk::Record).is_empty()));
}
