//! The side that answers: a test partner for linerate and for iperf3.
//!
//! One test runs at a time, and nobody can disturb it: who comes meanwhile waits in a queue (a linerate) or is sent
//! away (an iperf3, which knows of no queue). Every number of peers, bytes and seconds has a limit.
//!
//! * `clients`: clients that each get a thread, of NDT7, OWAMP and TWAMP
//! * [`listener`]: accepts connections, sorts them, answers latency probes
//! * `log`: where what happens is said
//! * [`queue`]: whose turn it is
//! * [`policy`]: what is allowed
//! * `session`: one client, from its parameters to its goodbye
//! * `sessions`: how many are heard at once, and how many of one address
//! * [`partner`]: all of these together
//! * [`probes`]: sessions of OWAMP and TWAMP, beside the tests
//! * `ndt7`: tests of NDT7, which take their turn with the others (feature `ndt7`)

mod clients;
pub mod listener;
mod log;
#[cfg(feature = "ndt7")]
pub mod ndt7;
mod output;
pub mod partner;
pub mod policy;
pub mod probes;
pub mod queue;
mod session;
mod sessions;

pub use partner::{ServeError, serve};

use std::net::{IpAddr, SocketAddr};

use model::measurement::Measurement;
use model::run::{Outcome, Peer};
use model::series::RunSamples;
use model::spec::TestSpec;

use policy::Policy;
use queue::Queue;

use wire::limits::Patience;

/// What a test partner is told at its start.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Local address; all where absent.
    pub bind: Option<IpAddr>,
    /// Port.
    pub port: u16,
    /// Processors for the streams, dealt out in turn.
    pub cpus: Vec<u16>,
    /// What is allowed.
    pub policy: Policy,
    /// Whether to end after one test.
    pub once: Once,
    /// What becomes of the results of a test.
    pub results: ServedResults,
    /// How long clients may take.
    pub patience: Patience,
    /// Whose turn it is, where another server of this host takes turns with this one; its own where absent.
    pub queue: Option<Queue>,
}

/// Whether a test partner ends after one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Once {
    /// It goes on.
    #[default]
    No,
    /// It ends after the first test that was let in.
    Yes,
}

/// What becomes of the results of a test, besides what its client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServedResults {
    /// Somebody reads them.
    #[default]
    Kept,
    /// Nobody does: a test that is over has no measurement and no samples, and they cost nothing.
    Dropped,
}

/// What happens at a test partner, for its log.
#[derive(Debug)]
pub enum Event {
    /// It listens.
    Listening {
        /// Where.
        address: SocketAddr,
    },
    /// A test waits for its turn.
    Queued {
        /// Who wants it.
        peer: SocketAddr,
        /// Tests before it.
        ahead: u32,
    },
    /// A test was let in.
    Started {
        /// Who wants it.
        peer: SocketAddr,
        /// What it does.
        spec: Box<TestSpec>,
    },
    /// A test was not let in.
    Refused {
        /// Who wanted it.
        peer: SocketAddr,
        /// Why not.
        reason: String,
    },
    /// A test is over.
    Finished(Box<ServedTest>),
    /// Something odd about a connection that is no test.
    Nuisance {
        /// Who.
        peer: SocketAddr,
        /// What.
        what: String,
    },
    /// It listens for sessions of test packets.
    ServesSessions {
        /// By which protocol.
        protocol: owamp::control::Protocol,
        /// Where.
        address: SocketAddr,
    },
    /// It listens for tests of NDT7.
    #[cfg(feature = "ndt7")]
    ServesNdt7 {
        /// Where.
        address: SocketAddr,
        /// Whether it speaks `ws` or `wss`.
        security: crate::ndt7::url::Security,
    },
    /// A session of test packets is over.
    SessionOver {
        /// Whose.
        peer: SocketAddr,
        /// What was sent, received or reflected.
        summary: String,
    },
    /// More of the last kind came than are worth a line each.
    Suppressed {
        /// How many.
        count: u64,
    },
}

/// Everything about a test that a partner took part in, but for its name and command.
#[derive(Debug)]
pub struct ServedTest {
    /// What was asked for.
    pub spec: TestSpec,
    /// Who asked.
    pub peer: Peer,
    /// The local address that was reached.
    pub local: SocketAddr,
    /// When it was let in.
    pub started: units::WallTime,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What was found; none where it is dropped.
    pub measurement: Option<Measurement>,
    /// Samples of streams and probes; none where no data flowed, or they are dropped.
    pub samples: RunSamples,
}
