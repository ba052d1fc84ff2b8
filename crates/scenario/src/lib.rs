//! The file that describes a network, its faults, its tests and the truth.
//!
//! docs/formats/scenario.md has the format. A file is read in one go: what is wrong with it is said with line, key and
//! hint, all of it at once, before anything is made.
//!
//! | file | what it has |
//! |---|---|
//! | `read` | from text to [`Scenario`] |
//! | `scenario` | what all of it is, and the ways of packets in it |
//! | `host`, `facts`, `settings`, `link`, `route`, `overlay`, `service`, `fault`, `condition`, `test`, `truth` | the parts, as written and as read |
//! | `causes` | the causes that can be planted |
//! | `asked` | tests that a diagnosis asks for besides |
//! | `needs` | what the machine must be able to do |
//! | `library` | the scenarios that come with the program |
//! | `layout`, `blueprint` | addresses, routes, devices: from [`Scenario`] to [`blueprint::Blueprint`] |
//! | `diagnostics`, `error` | what is known while a file is read, and complaints |

mod asked;
pub mod blueprint;
pub mod causes;
mod condition;
mod diagnostics;
mod error;
mod facts;
mod fault;
mod host;
mod layout;
pub mod library;
mod link;
mod needs;
mod overlay;
mod read;
mod route;
mod scenario;
mod service;
mod settings;
mod test;
mod truth;

pub use condition::FaultCondition;
pub use document::FilePosition;
pub use error::{Complaint, Problem, ScenarioError};
pub use fault::{Fault, FaultKind, Position};
pub use host::{DeviceSettings, Host};
pub use library::library;
pub use link::Link;
pub use needs::{Limits, Need};
pub use overlay::{Overlay, OverlayKind};
pub use read::LONGEST_FILE;
pub use route::Route;
pub use scenario::Scenario;
pub use service::{Proxy, Service, ServiceKind};
pub use settings::Settings;
pub use test::{Flow, Http, Ping, Point, Test, TestKind};
pub use truth::{Cause, Truth, Where};
