//! The table of all requests: what the router, the check of rights and the OpenAPI document are made from.

use super::Nothing;
use super::accounts::{AccountList, AccountWish, ActionList, SessionInfo, SignIn};
use super::archive::ArchiveReceipt;
use super::demonstration::{DemonstrationInfo, DemonstrationWish};
use super::join::{JoinReply, JoinRequest};
use super::mesh::{
    AskedRuns, Changes, Grids, History, HostDetail, Hosts, IncidentDetail, IncidentList, IncidentStep, Pairs, PlanInfo,
    PlanText, RecordInfo, RunWish,
};
use super::people::{AgentList, Health};
use super::record::{Delivery, Receipt};
use super::report::{ReportInfo, ReportText};
use super::runs::Runs;
use super::testing::TestingInfo;
use super::work::{WorkReply, WorkRequest};

pub use super::route::{Action, Describe, Method, Right, Route, Target};

/// The route of a request.
#[must_use]
pub fn find(target: Target<'_>) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.method.name() == target.method && route.path == target.path)
}

#[cfg(feature = "schema")]
const fn of<T: schemars::JsonSchema>() -> Describe {
    Describe { schema: |generator| generator.subschema_for::<T>() }
}

#[cfg(not(feature = "schema"))]
#[expect(clippy::extra_unused_type_parameters, reason = "whoever writes the document needs the type")]
const fn of<T>() -> Describe {
    Describe {}
}

/// Every request.
pub const ROUTES: &[Route] = &[
    Route {
        action: Action::Health,
        method: Method::Get,
        path: "/health",
        query: &[],
        right: Right::Anyone,
        about: "Whether the hub works and can write to its database",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<Health>(),
    },
    Route {
        action: Action::Metrics,
        method: Method::Get,
        path: "/metrics",
        query: &[],
        right: Right::View,
        about: "Numbers for Prometheus, as text",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<String>(),
    },
    Route {
        action: Action::OpenApi,
        method: Method::Get,
        path: "/api/v1/openapi.json",
        query: &[],
        right: Right::Anyone,
        about: "This document",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<serde_json::Value>(),
    },
    Route {
        action: Action::Join,
        method: Method::Post,
        path: "/api/v1/join",
        query: &[],
        right: Right::Join,
        about: "An agent gets its certificate. The token counts once, for one key",
        largest_body: SMALL,
        request: of::<JoinRequest>(),
        reply: of::<JoinReply>(),
    },
    Route {
        action: Action::Work,
        method: Method::Post,
        path: "/api/v1/agent/work",
        query: &[],
        right: Right::Agent,
        about: "An agent asks what to do; the answer waits for up to 20 s where there is nothing",
        largest_body: LARGE,
        request: of::<WorkRequest>(),
        reply: of::<WorkReply>(),
    },
    Route {
        action: Action::Deliver,
        method: Method::Post,
        path: "/api/v1/agent/records",
        query: &[],
        right: Right::Agent,
        about: "An agent delivers results, changes and facts. Each is stored once, and is on disk when this answers",
        largest_body: LARGE,
        request: of::<Delivery>(),
        reply: of::<Receipt>(),
    },
    Route {
        action: Action::Archive,
        method: Method::Post,
        path: "/api/v1/perfsonar",
        query: &[],
        right: Right::Archive,
        about: "A pScheduler delivers a result by its HTTP archiver; it is stored once, as one of the test and pair of the plan that it fits",
        largest_body: ARCHIVED,
        request: of::<serde_json::Value>(),
        reply: of::<ArchiveReceipt>(),
    },
    Route {
        action: Action::Agents,
        method: Method::Get,
        path: "/api/v1/agents",
        query: &[],
        right: Right::View,
        about: "All agents, and when they were heard last",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<AgentList>(),
    },
    Route {
        action: Action::Plan,
        method: Method::Get,
        path: "/api/v1/plan",
        query: &[],
        right: Right::View,
        about: "The plan of the hub, and whether it fits",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<PlanInfo>(),
    },
    Route {
        action: Action::SetPlan,
        method: Method::Post,
        path: "/api/v1/plan",
        query: &[],
        right: Right::Operate,
        about: "Takes a plan; refused with reasons where it is wrong or does not fit",
        largest_body: PLAN,
        request: of::<PlanText>(),
        reply: of::<PlanInfo>(),
    },
    Route {
        action: Action::CheckPlan,
        method: Method::Post,
        path: "/api/v1/plan/check",
        query: &[],
        right: Right::View,
        about: "What the hub would say to a plan: what it needs, and a day of it, or why it is refused. Nothing changes",
        largest_body: PLAN,
        request: of::<PlanText>(),
        reply: of::<PlanInfo>(),
    },
    Route {
        action: Action::AskRun,
        method: Method::Post,
        path: "/api/v1/run",
        query: &[],
        right: Right::Operate,
        about: "Asks for a heavy run of the plan out of turn; it goes first",
        largest_body: SMALL,
        request: of::<RunWish>(),
        reply: of::<AskedRuns>(),
    },
    Route {
        action: Action::Runs,
        method: Method::Get,
        path: "/api/v1/runs",
        query: &[],
        right: Right::View,
        about: "Runs that are under way, and those that come next, 200 at most",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<Runs>(),
    },
    Route {
        action: Action::Pairs,
        method: Method::Get,
        path: "/api/v1/pairs",
        query: &[],
        right: Right::View,
        about: "All series: what is known of each, and its last result",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<Pairs>(),
    },
    Route {
        action: Action::History,
        method: Method::Get,
        path: "/api/v1/history",
        query: SERIES,
        right: Right::View,
        about: "The results of one series, in order of time",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<History>(),
    },
    Route {
        action: Action::Grid,
        method: Method::Get,
        path: "/api/v1/grid",
        query: &[],
        right: Right::View,
        about: "The latest results as grids, one for each test and metric",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<Grids>(),
    },
    Route {
        action: Action::Hosts,
        method: Method::Get,
        path: "/api/v1/hosts",
        query: &[],
        right: Right::View,
        about: "Hosts, whether they are heard, and what was changed on them",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<Hosts>(),
    },
    Route {
        action: Action::Host,
        method: Method::Get,
        path: "/api/v1/host",
        query: &[("name", "its name in the plan")],
        right: Right::View,
        about: "A host with all its facts and its change log",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<HostDetail>(),
    },
    Route {
        action: Action::Changes,
        method: Method::Get,
        path: "/api/v1/changes",
        query: &[("host", "of one host"), ("since_s", "of so many seconds; a day where it is absent")],
        right: Right::View,
        about: "The change logs of all hosts on one time line, newest first, 500 at most",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<Changes>(),
    },
    Route {
        action: Action::Incidents,
        method: Method::Get,
        path: "/api/v1/incidents",
        query: &[],
        right: Right::View,
        about: "All incidents, in the order of opening",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<IncidentList>(),
    },
    Route {
        action: Action::Incident,
        method: Method::Get,
        path: "/api/v1/incident",
        query: &[("id", "its name")],
        right: Right::View,
        about: "An incident with its time line, its text and its diagnosis",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<IncidentDetail>(),
    },
    Route {
        action: Action::StepIncident,
        method: Method::Post,
        path: "/api/v1/incident",
        query: &[],
        right: Right::Operate,
        about: "A person makes a step: acknowledges, explains, fixes, notes, silences, accepts, closes",
        largest_body: SMALL,
        request: of::<IncidentStep>(),
        reply: of::<IncidentDetail>(),
    },
    Route {
        action: Action::Record,
        method: Method::Get,
        path: "/api/v1/record",
        query: &[("key", "its place among all records, as results of series name it")],
        right: Right::View,
        about: "A record with its content: a run with its intervals and counters, without its samples",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<RecordInfo>(),
    },
    Route {
        action: Action::Session,
        method: Method::Get,
        path: "/api/v1/session",
        query: &[],
        right: Right::Anyone,
        about: "Who has signed in with this browser",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<SessionInfo>(),
    },
    Route {
        action: Action::SignIn,
        method: Method::Post,
        path: "/api/v1/session",
        query: &[],
        right: Right::Anyone,
        about: "Signs in: the answer sets a cookie that counts for 12 h",
        largest_body: SMALL,
        request: of::<SignIn>(),
        reply: of::<SessionInfo>(),
    },
    Route {
        action: Action::SignOut,
        method: Method::Post,
        path: "/api/v1/session/end",
        query: &[],
        right: Right::Anyone,
        about: "Signs out",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<SessionInfo>(),
    },
    Route {
        action: Action::Accounts,
        method: Method::Get,
        path: "/api/v1/accounts",
        query: &[],
        right: Right::Admin,
        about: "All accounts",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<AccountList>(),
    },
    Route {
        action: Action::SetAccount,
        method: Method::Post,
        path: "/api/v1/accounts",
        query: &[],
        right: Right::Admin,
        about: "Adds, changes or removes an account; its sessions end",
        largest_body: SMALL,
        request: of::<AccountWish>(),
        reply: of::<AccountList>(),
    },
    Route {
        action: Action::Actions,
        method: Method::Get,
        path: "/api/v1/actions",
        query: &[],
        right: Right::Admin,
        about: "Who did what: signing in, steps of incidents, plans, runs asked for, accounts",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<ActionList>(),
    },
    Route {
        action: Action::Report,
        method: Method::Get,
        path: "/api/v1/report",
        query: &[("id", "the incident by its name")],
        right: Right::View,
        about: "An incident as a post-mortem",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<ReportInfo>(),
    },
    Route {
        action: Action::SetReport,
        method: Method::Post,
        path: "/api/v1/report",
        query: &[],
        right: Right::Operate,
        about: "Keeps a post-mortem as somebody has edited it; what the record says later is added to it",
        largest_body: REPORT,
        request: of::<ReportText>(),
        reply: of::<ReportInfo>(),
    },
    Route {
        action: Action::Demonstration,
        method: Method::Get,
        path: "/api/v1/demonstration",
        query: &[],
        right: Right::View,
        about: "The demonstration that a hub without a plan offers, or shows in place of its own pages",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<DemonstrationInfo>(),
    },
    Route {
        action: Action::SetDemonstration,
        method: Method::Post,
        path: "/api/v1/demonstration",
        query: &[],
        right: Right::Operate,
        about: "Begins a demonstration, or ends it; refused where the hub has a plan",
        largest_body: SMALL,
        request: of::<DemonstrationWish>(),
        reply: of::<DemonstrationInfo>(),
    },
    Route {
        action: Action::Testing,
        method: Method::Get,
        path: "/api/v1/testing",
        query: &[("expect", "what the line should carry, such as 100Mbit/s: refused where it is no rate")],
        right: Right::View,
        about: "Whether a browser may test now (NDT7 at /ndt/v7/download and /ndt/v7/upload of this address), and what this account has measured so",
        largest_body: 0,
        request: of::<Nothing>(),
        reply: of::<TestingInfo>(),
    },
];

/// Most bytes of a request that holds a few lines.
const SMALL: usize = 16 << 10;
/// Most bytes of a delivery: a test of an hour with all its samples.
pub const LARGE: usize = 32 << 20;
/// Most bytes of a result of perfSONAR: ten minutes of latency with each packet.
const ARCHIVED: usize = 8 << 20;
/// Most bytes of a plan, quoted as JSON.
const PLAN: usize = 4 << 20;
/// Most bytes of a post-mortem, quoted as JSON.
const REPORT: usize = 1 << 20;
/// How a series is named.
const SERIES: &[(&str, &str)] = &[
    ("from", "the host that sends"),
    ("to", "the host that receives"),
    ("test", "the label of the test"),
    ("metric", "goodput, loss, rtt-min, rtt-loaded, retransmit-share, mtu or download-rate"),
    ("family", "ipv4 or ipv6, where the test has one"),
    ("since_s", "of so many seconds; 30 days where it is absent"),
];
