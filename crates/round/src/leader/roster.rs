//! How the hosts of a plan are reached.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use linux::netns::NetnsRef;
use plan::Plan;
use plan::plan::{Host, Reach};

use crate::carrier::{Carrier, Here, Ssh, Within};
use crate::task::{Partner, Site};

/// How the hosts of a plan are reached, in its order.
#[derive(Debug)]
pub struct Roster(Vec<Reached>);

#[derive(Debug)]
struct Reached {
    way: Way,
    program: OsString,
}

#[derive(Debug)]
enum Way {
    Carried(Box<dyn Carrier>),
    /// It only answers.
    OnlyAnswers,
    /// There is a way in the plan that leads nowhere.
    Lost(String),
}

/// Finds the hosts of labs that are running, by the name in the plan.
pub type FindInLab<'a> = &'a dyn Fn(&str) -> Result<Box<dyn Carrier>, String>;

impl Roster {
    /// The ways to all hosts. `program` is this program, which hosts of this machine run as well.
    #[must_use]
    pub fn new(plan: &Plan, program: &Path, find_in_lab: FindInLab<'_>) -> Self {
        Self(plan.hosts.iter().map(|host| reached(host, program, find_in_lab)).collect())
    }

    /// A host as tests see it.
    #[must_use]
    pub fn site<'a>(&'a self, plan: &'a Plan, host: usize) -> Site<'a> {
        let reached = &self.0[host];
        let known = &plan.hosts[host];
        let carrier = match &reached.way {
            Way::Carried(carrier) => Some(carrier.as_ref()),
            Way::OnlyAnswers | Way::Lost(_) => None,
        };
        let stands = known.serves || matches!(reached.way, Way::OnlyAnswers);
        Site {
            name: &known.name,
            carrier,
            program: &reached.program,
            partner: if stands { Partner::Standing } else { Partner::Started },
            port: known.port.unwrap_or(measure::DEFAULT_PORT),
            http_port: known.http_port.unwrap_or(HTTP_PORT),
        }
    }

    /// Why the way to a host leads nowhere.
    #[must_use]
    pub fn lost(&self, host: usize) -> Option<&str> {
        match &self.0[host].way {
            Way::Lost(why) => Some(why),
            Way::Carried(_) | Way::OnlyAnswers => None,
        }
    }
}

fn reached(host: &Host, program: &Path, find_in_lab: FindInLab<'_>) -> Reached {
    let way = match &host.reach {
        None => Way::OnlyAnswers,
        Some(Reach::Here) => Way::Carried(Box::new(Here)),
        Some(Reach::Ssh(target)) => Way::Carried(Box::new(Ssh::new(target.clone()))),
        Some(Reach::Netns(netns)) => match NetnsRef::parse(netns) {
            Ok(netns) => Way::Carried(Box::new(Within::new(netns))),
            Err(error) => Way::Lost(format!("{}: {error}", host.name)),
        },
        Some(Reach::Lab(name)) => match find_in_lab(name) {
            Ok(carrier) => Way::Carried(carrier),
            Err(why) => Way::Lost(format!("{}: {why}", host.name)),
        },
    };
    let usual = match &host.reach {
        // Nobody knows where it is there, but the shell.
        Some(Reach::Ssh(_)) => OsStr::new("linerate"),
        _ => program.as_os_str(),
    };
    Reached { way, program: host.program.as_ref().map_or_else(|| usual.to_owned(), OsString::from) }
}

/// RFC 9110 section 4.2.1.
const HTTP_PORT: u16 = 80;
