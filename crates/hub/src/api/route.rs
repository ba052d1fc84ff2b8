//! What a request is: its method, its path, who may ask it.

/// A request that the hub answers.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// What it does.
    pub action: Action,
    /// Method that it is asked by.
    pub method: Method,
    /// Path, compared as a whole.
    pub path: &'static str,
    /// What may stand behind `?`: names, each with what it means.
    pub query: &'static [(&'static str, &'static str)],
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

/// A type that is read or written, as far as its schema goes. Only who writes the OpenAPI document needs that.
#[derive(Debug, Clone, Copy)]
pub struct Describe {
    /// Writes the schema.
    #[cfg(feature = "schema")]
    pub schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// See `ROUTES`, the table of requests.
    Health,
    /// See `ROUTES`, the table of requests.
    Metrics,
    /// See `ROUTES`, the table of requests.
    OpenApi,
    /// See `ROUTES`, the table of requests.
    Join,
    /// See `ROUTES`, the table of requests.
    Work,
    /// See `ROUTES`, the table of requests.
    Deliver,
    /// See `ROUTES`, the table of requests.
    Archive,
    /// See `ROUTES`, the table of requests.
    Agents,
    /// See `ROUTES`, the table of requests.
    Plan,
    /// See `ROUTES`, the table of requests.
    SetPlan,
    /// See `ROUTES`, the table of requests.
    CheckPlan,
    /// See `ROUTES`, the table of requests.
    AskRun,
    /// See `ROUTES`, the table of requests.
    Runs,
    /// See `ROUTES`, the table of requests.
    Pairs,
    /// See `ROUTES`, the table of requests.
    History,
    /// See `ROUTES`, the table of requests.
    Grid,
    /// See `ROUTES`, the table of requests.
    Hosts,
    /// See `ROUTES`, the table of requests.
    Host,
    /// See `ROUTES`, the table of requests.
    Changes,
    /// See `ROUTES`, the table of requests.
    Incidents,
    /// See `ROUTES`, the table of requests.
    Incident,
    /// See `ROUTES`, the table of requests.
    StepIncident,
    /// See `ROUTES`, the table of requests.
    Record,
    /// See `ROUTES`, the table of requests.
    Session,
    /// See `ROUTES`, the table of requests.
    SignIn,
    /// See `ROUTES`, the table of requests.
    SignOut,
    /// See `ROUTES`, the table of requests.
    Accounts,
    /// See `ROUTES`, the table of requests.
    SetAccount,
    /// See `ROUTES`, the table of requests.
    Actions,
    /// See `ROUTES`, the table of requests.
    Report,
    /// See `ROUTES`, the table of requests.
    SetReport,
    /// See `ROUTES`, the table of requests.
    Demonstration,
    /// See `ROUTES`, the table of requests.
    SetDemonstration,
    /// See `ROUTES`, the table of requests.
    Testing,
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
    /// An archiver of perfSONAR, by its token.
    Archive,
    /// An account, or who has a token to view or to operate.
    View,
    /// An account of an operator, or who has a token to operate.
    Operate,
    /// An account of an admin.
    Admin,
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
