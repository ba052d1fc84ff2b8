//! The incidents that can be told.

use std::time::Duration;

use lab::play::Order;
use lab::scenario::{Overlay, Scenario, ScenarioError, Test, TestKind};
use model::spec::Limit;

/// An incident.
pub struct Story {
    pub name: &'static str,
    pub title: &'static str,
    /// The scenarios of its chapters.
    pub chapters: &'static [&'static str],
}

/// All of them.
pub const STORIES: [Story; 5] = [
    Story {
        name: "nrao",
        title: "an archive's downloads stall for 5 months: 1 NIC of 4 merges packets of the overlay",
        chapters: &["nrao-overlay-offload"],
    },
    Story {
        name: "lhn",
        title: "from Chile to Illinois: a host with the kernel's defaults, a circuit that loses, a router that was replaced",
        chapters: &["lhn-untuned-host", "lhn-backup-circuit", "lhn-router-replaced"],
    },
    Story {
        name: "dc24",
        title: "a data challenge: congestion notification, then buffers, then rings",
        chapters: &["dc24-ecn", "dc24-small-buffers", "dc24-small-rings"],
    },
    Story {
        name: "amlight",
        title: "a telescope's images are late: bursts of 0.5 s meet streams that are still ramping up",
        chapters: &["amlight-burst-repeated"],
    },
    Story {
        name: "potpourri",
        title: "a firewall too slow for one direction; a reserved circuit, and a sender that has never heard of it",
        chapters: &["firewall-inbound", "circuit-unshaped"],
    },
];

/// The scenarios of an incident; a scenario of the library is a story of one chapter.
pub fn chapters(name: &str) -> Result<Vec<Scenario>, ScenarioError> {
    match STORIES.iter().find(|story| story.name == name) {
        Some(story) => story.chapters.iter().map(|chapter| lab::scenario::load(chapter)).collect(),
        None => lab::scenario::load(name).map(|scenario| vec![scenario]),
    }
}

/// What only a person can know: the step that fixes a host where no rule of its own audit proposes one.
pub struct ByHand {
    scenario: &'static str,
    pub host: &'static str,
    /// The link by whose device it is done.
    pub link: &'static str,
    /// The operation, as in a plan for `linerate host fix`.
    pub operation: &'static str,
    /// Why no rule proposes it.
    pub because: &'static str,
}

const BY_HAND: [ByHand; 2] = [
    ByHand {
        scenario: "dc24-small-rings",
        host: "gateway-1",
        link: "rack-1",
        operation: "{ rings = { rx = \"8192\" } }",
        because: "The NIC's counters are recorded and stand still, so that the audit sees no missed packet.",
    },
    ByHand {
        scenario: "circuit-unshaped",
        host: "wisconsin",
        link: "access",
        operation: "{ qdisc = { parent = \"root\", kind = \"tbf\", options = \"rate 205mbit burst 32kb limit 8mb\" } }",
        because: "The audit's own answer paces with fq, which not every kernel has; a token bucket shapes as well.",
    },
];

/// The step of this scenario that a person has to know, if there is one.
pub fn by_hand(scenario: &Scenario) -> Option<&'static ByHand> {
    BY_HAND.iter().find(|step| step.scenario == scenario.name)
}

/// Has a round of a scenario's overlay test each of its hosts with each other, as the first of its tests does, and side by
/// side where hosts and links allow it. Tests outside of the overlay stay: they say whether it is the overlay.
pub fn mesh(scenario: &mut Scenario) -> Order {
    let Some(model) = scenario.tests.iter().find(|test| test.is_in_an_overlay()).cloned() else { return Order::InTurn };
    let Some(overlay) = model.from.overlay.and_then(|number| scenario.overlays.get(number)) else {
        return Order::InTurn;
    };
    let pairs = pairs(scenario, overlay, &shortened(model));
    scenario.tests.retain(|test| !test.is_in_an_overlay());
    scenario.tests.splice(0..0, pairs);
    Order::SideBySide
}

/// 30 pairs are tested twice while somebody watches, so each gets 1 s: at least 100 RTTs in a network of one building.
fn shortened(mut test: Test) -> Test {
    if let TestKind::Tcp(flow) = &mut test.kind {
        flow.spec.limit = Limit::Time(Duration::from_secs(1));
        flow.spec.sample_every = flow.spec.sample_every.min(Duration::from_millis(100));
    }
    test
}

fn pairs(scenario: &Scenario, overlay: &Overlay, model: &Test) -> Vec<Test> {
    let name = |host: usize| &scenario.hosts[host].name;
    let with = |from: usize, to: usize| Test {
        label: format!("{} to {}", name(from), name(to)),
        from: lab::scenario::Point { host: from, ..model.from },
        to: lab::scenario::Point { host: to, ..model.to },
        ..model.clone()
    };
    let hosts = &overlay.hosts;
    hosts.iter().flat_map(|from| hosts.iter().filter(move |to| *to != from).map(move |to| with(*from, *to))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chapter_is_in_the_library_and_each_step_by_hand_in_its_scenario() {
        for story in &STORIES {
            assert_eq!(chapters(story.name).unwrap().len(), story.chapters.len(), "{}", story.name);
        }
        for step in &BY_HAND {
            let scenario = lab::scenario::load(step.scenario).unwrap();
            assert!(scenario.hosts.iter().any(|host| host.name == step.host), "{}", step.host);
            assert!(scenario.links.iter().any(|link| link.name == step.link), "{}", step.link);
        }
        assert!(chapters("policer").is_ok() && chapters("polcier").is_err());
    }

    #[test]
    fn the_overlay_is_tested_from_each_host_to_each_other() {
        let mut scenario = lab::scenario::load("nrao-overlay-offload").unwrap();
        assert_eq!(mesh(&mut scenario), Order::SideBySide);
        assert_eq!(scenario.tests.iter().filter(|test| test.is_in_an_overlay()).count(), 30);
        assert_eq!(scenario.tests.len(), 32, "the two outside of it stay");
        let mut other = lab::scenario::load("lhn-untuned-host").unwrap();
        let tests = other.tests.len();
        assert_eq!((mesh(&mut other), other.tests.len()), (Order::InTurn, tests));
    }
}
