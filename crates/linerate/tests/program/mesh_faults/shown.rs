//! What a terminal shows of a mesh, and of a hub that is gone.

use std::collections::BTreeMap;

use super::world::{HUB, World};

#[test]
fn top_shows_the_grid_and_runs_of_a_hub_and_says_when_it_does_not_answer() {
    let mut world = World::start();
    world.wait_for_results(&BTreeMap::new());
    let shown = world.run("$L top $F/hub/made --once");
    for part in ["goodput of test udp", "no open incident", "udp from ", "q quit"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    world.kill(HUB);
    let shown = world.run("$L top $F/hub/made --once 2>&1; test $? = 3");
    assert!(shown.contains("the hub does not answer"), "{shown}");
}
