//! The table of all requests: what the router, the check of rights and the OpenAPI document are made from.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::Nothing;
use super::join::{JoinReply, JoinRequest};
use super::people::{AgentList, Health};
use super::record::{Delivery, Receipt};
use super::work::{WorkReply, WorkRequest};

/// A request that the hub answers.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// What it does.
    pub action: Action,
    /// Method that it is asked by.
    pub method: Method,
    /// Path, compared as a whole: none has parameters.
    pub path: &'static str,
    /// Who may.
    pub right: Right,
    /// In a sentence, for the OpenAPI document.
    pub about: &'static str,
    /// The most bytes that its body may have.
    pub largest_body: usize,
    /// The schema of its body.
    pub request: Describe,
    /// The schema of its answer.
    pub reply: Describe,
}

/// Writes the schema of a type.
pub type Describe = fn(&mut SchemaGenerator) -> Schema;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// See [`ROUTES`].
    Health,
    /// See [`ROUTES`].
    Metrics,
    /// See [`ROUTES`].
    OpenApi,
    /// See [`ROUTES`].
    Join,
    /// See [`ROUTES`].
    Work,
    /// See [`ROUTES`].
    Deliver,
    /// See [`ROUTES`].
    Agents,
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Changes.
    Post,
}

/// Who may ask for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Everybody.
    Anyone,
    /// Who has a token to join with.
    Join,
    /// An agent, by its certificate.
    Agent,
    /// Who has a token to view or to operate.
    View,
    /// Who has a token to operate.
    Operate,
}

impl Method {
    /// As HTTP has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// What a request names.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its method, as HTTP writes it.
    pub method: &'a str,
    /// Its path, without what stands behind `?`.
    pub path: &'a str,
}

/// The route of a request.
#[must_use]
pub fn find(target: Target<'_>) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.method.name() == target.method && route.path == target.path)
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Every request.
pub const ROUTES: &[Route] = &[
    Route {
        action: Action::Health,
        method: Method::Get,
        path: "/health",
        right: Right::Anyone,
        about: "Whether the hub works and can write to its database",
        largest_body: 0,
        request: of::<Nothing>,
        reply: of::<Health>,
    },
    Route {
        action: Action::Metrics,
        method: Method::Get,
        path: "/metrics",
        right: Right::View,
        about: "Numbers for Prometheus, as text",
        largest_body: 0,
        request: of::<Nothing>,
        reply: of::<String>,
    },
    Route {
        action: Action::OpenApi,
        method: Method::Get,
        path: "/api/v1/openapi.json",
        right: Right::Anyone,
        about: "This document",
        largest_body: 0,
        request: of::<Nothing>,
        reply: of::<serde_json::Value>,
    },
    Route {
        action: Action::Join,
        method: Method::Post,
        path: "/api/v1/join",
        right: Right::Join,
        about: "An agent gets its certificate. The token counts once, for one key",
        largest_body: SMALL,
        request: of::<JoinRequest>,
        reply: of::<JoinReply>,
    },
    Route {
        action: Action::Work,
        method: Method::Post,
        path: "/api/v1/agent/work",
        right: Right::Agent,
        about: "An agent asks what to do; the answer waits for up to 20 s where there is nothing",
        largest_body: LARGE,
        request: of::<WorkRequest>,
        reply: of::<WorkReply>,
    },
    Route {
        action: Action::Deliver,
        method: Method::Post,
        path: "/api/v1/agent/records",
        right: Right::Agent,
        about: "An agent delivers results, changes and facts. Each is stored once, and is on disk when this answers",
        largest_body: LARGE,
        request: of::<Delivery>,
        reply: of::<Receipt>,
    },
    Route {
        action: Action::Agents,
        method: Method::Get,
        path: "/api/v1/agents",
        right: Right::View,
        about: "All agents, and when they were heard last",
        largest_body: 0,
        request: of::<Nothing>,
        reply: of::<AgentList>,
    },
];

/// Most bytes of a request that holds a few lines.
const SMALL: usize = 16 << 10;
/// Most bytes of a delivery: a test of an hour with all its samples.
pub const LARGE: usize = 32 << 20;
