//! What hub and agents say to each other and to people.
//!
//! * [`version`]: which versions understand each other
//! * [`join`]: how an agent gets its certificate
//! * [`order`]: what an agent is to do
//! * [`work`]: how an agent asks for that, and says how it goes
//! * [`record`]: what an agent delivers
//! * [`mesh`]: what the mesh shows: pairs, grid, hosts, incidents
//! * [`archive`]: what perfSONAR delivers
//! * [`runs`]: what is under way, and what comes next
//! * [`testing`]: tests from browsers
//! * [`people`]: what people and scripts ask for
//! * [`accounts`]: how people sign in, and who did what
//! * [`demonstration`]: what a hub without a plan can show
//! * [`report`]: an incident as a post-mortem
//! * [`route`]: what a request is
//! * [`routes`]: the table of all requests
//! * `openapi`: writes the same as an OpenAPI document, for [`OPENAPI`]
//!
//! Pure: types and their JSON. Every path starts with `/api/v1`; a change that an older peer would misread gets another
//! number there.

pub mod accounts;
pub mod archive;
pub mod demonstration;
pub mod join;
pub mod mesh;
#[cfg(feature = "schema")]
pub mod openapi;
pub mod order;
pub mod people;
pub mod record;
pub mod report;
pub mod route;
pub mod routes;
pub mod runs;
pub mod testing;
pub mod version;
pub mod work;

use serde::{Deserialize, Serialize};

/// The table of requests as an OpenAPI document, as `openapi` writes it.
pub const OPENAPI: &str = include_str!("openapi.json");

/// An answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// What is wrong, in a sentence.
    pub error: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A request without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nothing {}
