//! The catalogue of causes: what can be wrong with a path, how it shows, what mends it. The entries are data, in `causes/`.
//!
//! An entry says how often each state of a [sign](crate::signs) is seen where the cause is at work. States that it does not
//! name share what is left, in the proportion in which they are usual; signs that it does not name are as usual. A cause that
//! is at work in different ways has a manner for each, with the signs that are other than the first one's.

pub mod learn;
pub mod page;
mod read;
pub mod weights;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::signs::flow::FlowKind;
use crate::signs::{ALL, SignState};
use units::DataRate;

pub use read::CatalogueError;
use weights::Weights;

/// All causes.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    causes: Vec<Cause>,
    weights: Weights,
}

/// Something that can be wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// Its name; it does not change.
    pub id: String,
    /// What is wrong, in a few words.
    pub title: String,
    /// What happens, in two sentences.
    pub explanation: String,
    /// Where it is.
    pub place: PlaceKind,
    /// Where segments that have it are usually found.
    pub usually: Option<Usually>,
    /// Whether it is hardly met elsewhere.
    pub hardly_elsewhere: bool,
    /// How often it is met, compared with others.
    pub prior: f64,
    /// How many of the flows that pass its place suffer.
    pub spread: Spread,
    /// Whether it is found without a flow that suffers.
    pub alone: bool,
    /// Only flows of this kind suffer.
    pub carries: Option<FlowKind>,
    /// It shows where a flow itself sends much: echoes over an idle path do not suffer.
    pub by_load: bool,
    /// Those suffer whose acknowledgments pass its place.
    pub of_answers: bool,
    /// It is told of whole paths alone: where segments are known, their links and other flows tell of it.
    pub of_whole_paths: bool,
    /// Only flows in an overlay suffer.
    pub only_overlays: bool,
    /// Only flows that pause between what they send suffer: those of a rate of their own.
    pub only_idle: bool,
    /// It takes rate and nothing else: where no flow is slow, it is out.
    pub only_slows: bool,
    /// It is on a segment that packets take in one direction only.
    pub only_one_way: bool,
    /// Where both directions of a segment have it, it is one problem.
    pub often_both_ways: bool,
    /// It takes packets of both directions of a link: where those of one arrive, it is out.
    pub both_ways: bool,
    /// It is known by what the audit finds at its host: where no rule of it fires, others are likelier.
    pub by_rules: bool,
    /// At a host that may be either end it is named where the host sends one of the affected flows: where it receives all of them,
    /// another cause says it.
    pub of_sender: bool,
    /// It is a fault of a card, its bus or its cable: hardly at a host whose tests leave by a device of software alone.
    pub of_nic: bool,
    /// Causes that it brings about in a host, each in another role: a host that has them as sender and as receiver has this one.
    pub both_roles: Vec<String>,
    /// The speed of interfaces tells of it.
    pub by_speed: bool,
    /// The MTUs of interfaces tell of it.
    pub by_mtu: bool,
    /// How often each state is seen where it is at work, by state.
    pub shows: BTreeMap<SignState, f64>,
    /// The same cause at work in other ways, each with a title, a part of the prior and signs of its own: what shows
    /// together is weighed together.
    pub manners: Vec<Cause>,
    /// States of which one is seen where the cause is at work, the most telling sign first. Where that was looked at, and no flow
    /// that the cause would hit shows any of them, it is out.
    pub requires: Vec<SignState>,
    /// States of which one makes it more than another cause of the catalogue, as a pair that did better earlier. Where none of them is seen,
    /// looked at or not, the other cause says all that is known.
    pub needs: Vec<SignState>,
    /// The same of a path whose segments are not known, over which nothing but one flow may have gone.
    pub needs_on_whole_paths: Vec<SignState>,
    /// What the host is asked besides: a yes to one of these stands for a state that it needs.
    pub needs_of_host: Vec<String>,
    /// States that no flow shows which suffers from it. One that does excludes it.
    pub never: Vec<SignState>,
    /// The fastest link on which it exists. A flow that carried more past the place excludes it.
    pub fastest_link: Option<DataRate>,
    /// How often each rule of the host audit fires at its place; 1 where the cause is nothing else than what the rule finds.
    pub rules: BTreeMap<String, f64>,
    /// Rules, or questions to a host, that are each another way to see the cause outright. Where all are answered and none with yes,
    /// it is out.
    pub requires_of_host: Vec<String>,
    /// The test that tells it from its neighbours.
    pub test: String,
    /// That test as commands, the first to type first. `{test}` is the run's own command with its options, `{plain}` without them,
    /// `{datagrams}` the same by UDP, `{host}` its peer; `{rate}`, `{below}` and `{half}` are 100, 90 and 50 % of its goodput.
    pub commands: Vec<String>,
    /// Rules of the host audit whose fix mends it.
    pub fix: Vec<String>,
    /// What mends it where no rule does.
    pub remedy: String,
    /// How one sees that it is fixed.
    pub verify: String,
    /// Where it is described.
    pub references: Vec<String>,
}

/// What kind of place a cause is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// The host that sends.
    Sender,
    /// The host that receives.
    Receiver,
    /// A host, whichever way its data goes.
    Host,
    /// The host at whose door packets come in.
    Entry,
    /// A segment in one direction.
    Segment,
    /// A segment in both directions.
    Link,
    /// The host that was asked for a service.
    Service,
    /// A storage gateway.
    Gateway,
    /// What deals requests to storage gateways.
    Balancer,
}

/// Where a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Usually {
    /// Where hosts are attached.
    Edge,
    /// Between routers.
    Core,
}

/// How many of the flows that pass its place a cause hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// All.
    Every,
    /// Those that ask for enough.
    Most,
    /// Some, as chance has it.
    Some,
    /// One of several, as chance has it.
    Few,
    /// Those of a time.
    Times,
}

impl Spread {
    /// How often a flow that passes the place does well all the same.
    #[must_use]
    pub const fn spared(self) -> f64 {
        match self {
            Self::Every => 0.04,
            Self::Most => 0.15,
            Self::Some => 0.45,
            Self::Few => 0.72,
            Self::Times => 0.5,
        }
    }
}

impl Catalogue {
    /// The causes that this program knows.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
            let weights = Weights::read(WEIGHTS);
            let broken = weights.as_ref().err();
            assert!(broken.is_none(), "causes/weights.toml, with which this program was built: {broken:?}");
            let learnt = Catalogue::by_hand().with_learnt(LEARNT);
            let broken = learnt.as_ref().err();
            assert!(broken.is_none(), "causes/learnt.toml, with which this program was built: {broken:?}");
            learnt.unwrap_or_default().with_weights(weights.unwrap_or_default())
        });
        &BUILT_IN
    }

    /// The same as its authors set it, before anything was learnt: the prior of [`learn`].
    #[must_use]
    pub fn by_hand() -> Self {
        let read = Self::read(BUILT_IN_FILES);
        let broken = read.as_ref().err();
        assert!(broken.is_none(), "the catalogue with which this program was built: {broken:?}");
        read.unwrap_or_default()
    }

    /// The same, for evidence that nothing was learnt of.
    #[must_use]
    pub fn of_mechanisms() -> &'static Self {
        static OF_MECHANISMS: LazyLock<Catalogue> = LazyLock::new(Catalogue::by_hand);
        &OF_MECHANISMS
    }

    /// The same with other weights of evidence.
    #[must_use]
    pub fn with_weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// How much each kind of evidence counts.
    #[must_use]
    pub const fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Reads a catalogue from files: name and text.
    ///
    /// # Errors
    /// See [`CatalogueError`].
    pub fn read(files: &[(&str, &str)]) -> Result<Self, CatalogueError> {
        read::catalogue(files).map(|causes| Self { causes, weights: Weights::default() })
    }

    /// All causes, in the order of the files.
    #[must_use]
    pub fn all(&self) -> &[Cause] {
        &self.causes
    }

    /// The cause of a name.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Cause> {
        self.causes.iter().find(|cause| cause.id == id)
    }
}

impl Cause {
    /// All ways in which it is at work: its own first.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.manners)
    }

    /// Whether it says of every state of a sign how often it is seen, as what was learnt does.
    pub(crate) fn names_all_of(&self, sign: usize) -> bool {
        (0..ALL[sign].states.len()).all(|state| self.shows.contains_key(&SignState { sign, state }))
    }

    /// How often a state is seen where the cause is at work, beside what is usual by the table of signs.
    #[must_use]
    pub fn likelihood(&self, seen: SignState) -> f64 {
        self.likelihood_among(seen, |seen| seen.state().usual)
    }

    /// The same where affected flows at large are as `usual` says: states that the cause does not name share what is left as they are
    /// usual there, so that a sign which it does not name at all speaks neither for nor against it.
    pub(crate) fn likelihood_among(&self, seen: SignState, usual: impl Fn(SignState) -> f64) -> f64 {
        let states = (0..seen.sign().states.len()).map(|state| SignState { sign: seen.sign, state });
        if let Some(named) = self.shows.get(&seen) {
            return *named;
        }
        let named = states.filter_map(|state| Some((self.shows.get(&state)?, usual(state))));
        let (told, usual_told) = named.fold((0.0, 0.0), |(told, sum), (part, usual)| (told + part, sum + usual));
        if usual_told <= 0.0 {
            return seen.without_cause(usual);
        }
        ((1.0 - told) * usual(seen) / (1.0 - usual_told)).max(LEAST)
    }
}

/// Nothing is impossible: somebody may have measured wrong.
const LEAST: f64 = 0.003;

const BUILT_IN_FILES: &[(&str, &str)] = &[
    ("hosts.toml", include_str!("../../causes/hosts.toml")),
    ("path.toml", include_str!("../../causes/path.toml")),
    ("services.toml", include_str!("../../causes/services.toml")),
    ("gateways.toml", include_str!("../../causes/gateways.toml")),
];

/// What incidents with a known cause taught: likelihoods of signs, and weights of evidence.
const LEARNT: &str = include_str!("../../causes/learnt.toml");
const WEIGHTS: &str = include_str!("../../causes/weights.toml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_is_read() {
        let learnt = Catalogue::by_hand().with_learnt(LEARNT).unwrap_or_else(|error| panic!("{error}"));
        let weights = Weights::read(WEIGHTS).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Catalogue::built_in().all(), learnt.all());
        assert_eq!(*Catalogue::built_in().weights(), weights);
    }

    #[test]
    fn the_built_in_files_are_read() {
        let catalogue = Catalogue::read(BUILT_IN_FILES).unwrap_or_else(|error| panic!("{error}"));
        assert!(catalogue.all().len() >= 45, "{}", catalogue.all().len());
        assert_eq!(Catalogue::by_hand().all(), catalogue.all());
    }

    #[test]
    fn what_a_cause_shows_adds_up() {
        for cause in Catalogue::built_in().all().iter().flat_map(Cause::ways) {
            for (sign, known) in crate::signs::ALL.iter().enumerate() {
                let sum: f64 = (0..known.states.len()).map(|state| cause.likelihood(SignState { sign, state })).sum();
                assert!((0.95..1.05).contains(&sum), "{}: {} adds up to {sum}", cause.id, known.name);
            }
        }
    }

    #[test]
    fn a_cause_of_hosts_speaks_of_its_own_end_as_of_a_senders() {
        let of_either_end = |cause: &&Cause| cause.place == PlaceKind::Host;
        for cause in Catalogue::by_hand().all().iter().filter(of_either_end) {
            let of_other = ["cpu=receiver", "contention=receiver", "limit=receiving-program"];
            for (seen, part) in &cause.shows {
                let name = format!("{}={}", seen.sign().name, seen.state().name);
                assert!(*part < 0.2 || !of_other.contains(&name.as_str()), "{}: {name} is of the other end", cause.id);
            }
        }
    }

    #[test]
    fn rules_that_causes_name_exist() {
        let rules = audit::Rules::built_in();
        for cause in Catalogue::built_in().all() {
            for rule in cause.rules.keys().chain(&cause.fix) {
                let is_own = crate::diagnosis::own::asks(rule).is_some();
                assert!(is_own || rules.get(rule).is_some(), "{}: there is no rule {rule}", cause.id);
            }
        }
    }
}
