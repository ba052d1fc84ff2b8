//! `kill -9` at each step of a run.

use super::world::{AGENTS, HUB, OnDisk, World};

/// Waits until an agent has something new on disk, and says which agent.
fn comes(world: &World, kind: OnDisk) -> &'static str {
    let before = AGENTS.map(|agent| world.files(agent, kind));
    let newer = |world: &World| {
        let mut both = AGENTS.iter().zip(&before);
        both.find(|(agent, before)| world.files(agent, kind).difference(before).next().is_some())
            .map(|(agent, _)| *agent)
    };
    world.wait(&format!("{kind:?}"), |world| newer(world).is_some());
    // What came may have gone since: then it is the one whose turn is over, which is as good.
    newer(world).unwrap_or(AGENTS[0])
}

#[test]
fn an_agent_that_is_killed_at_any_step_loses_no_run_and_runs_none_twice() {
    let mut world = World::start();
    for kind in [OnDisk::Lease, OnDisk::Record, OnDisk::Lease] {
        let agent = comes(&world, kind);
        world.kill(agent);
        world.start_process(agent);
    }
    let known = world.results().len();
    world.wait("results after the kills", |world| world.results().len() > known + 1);
    let rows = world.settle();
    assert!(rows.len() >= 3, "{rows:#?}");
}

#[test]
fn what_agents_measure_while_the_hub_is_dead_is_delivered_after_its_return() {
    let mut world = World::start();
    for _ in 0..2 {
        comes(&world, OnDisk::Lease);
        world.kill(HUB);
        // The run goes on, and its result waits.
        world.wait("a result on disk", |world| {
            AGENTS.iter().any(|agent| !world.files(agent, OnDisk::Record).is_empty())
        });
        let known = world.results().len();
        world.start_process(HUB);
        world.wait("that it is delivered", |world| world.results().len() > known);
    }
    // Where it dies while it stores, the agent delivers once more.
    comes(&world, OnDisk::Record);
    world.kill(HUB);
    world.start_process(HUB);
    let rows = world.settle();
    assert!(rows.len() >= 3, "{rows:#?}");
}
