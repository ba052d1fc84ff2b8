//! What is asked of a hub that runs: its plan, pairs, incidents, a test now.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use hub::agent::connection::{Call, CallError, Connection};
use hub::agent::url::HubUrl;
use hub::api::Nothing;
use hub::api::mesh::{AskedRuns, IncidentDetail, IncidentList, IncidentStep, Pairs, PlanInfo, PlanText, RunWish, Step};
use hub::server::directory::Directory;
use hub::trust::pin;
use hub::trust::token::{Purpose, Token};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::{complain, new_token};
use crate::cli::Common;
use crate::cli::hub::{AskArgs, ConnectArgs, IncidentsArgs, PlanArgs, StepArgs};
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::hub::Listed;

pub(super) fn plan(common: &Common, args: &PlanArgs) -> anyhow::Result<Exit> {
    let info: PlanInfo = match &args.file {
        Some(file) => {
            let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
            let text = fs::read_to_string(file).with_context(unreadable)?;
            connect(&args.connect, Purpose::Operate)?.post("/api/v1/plan", &PlanText { text })?
        }
        None => connect(&args.connect, Purpose::View)?.get("/api/v1/plan")?,
    };
    match (&args.file, common.json) {
        (_, true) => print(&show::json::document(&info)?),
        (None, false) => print(info.text.as_bytes()),
        (Some(_), false) => print(show::hub::plan(&info).as_bytes()),
    }
}

pub(super) fn incidents(common: &Common, args: &IncidentsArgs) -> anyhow::Result<Exit> {
    let Some(id) = &args.incident else {
        let list: IncidentList = connect(&args.connect, Purpose::View)?.get("/api/v1/incidents")?;
        if common.json {
            return print(&show::json::document(&list)?);
        }
        let listed = if args.all { Listed::All } else { Listed::Open };
        return print(show::hub::incidents(&list, listed, linux::clock::wall_now()).as_bytes());
    };
    let detail: IncidentDetail = match step(&args.step) {
        Some((step, text, seconds)) => {
            let by = args.by.clone().or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| "somebody".to_owned());
            let step = IncidentStep { id: id.clone(), by, step, text, seconds };
            connect(&args.connect, Purpose::Operate)?.post("/api/v1/incident", &step)?
        }
        None => {
            let path = format!("/api/v1/incident?id={}", quoted(id));
            connect(&args.connect, Purpose::View)?.get(&path)?
        }
    };
    if common.json { print(&show::json::document(&detail)?) } else { print(show::hub::incident(&detail).as_bytes()) }
}

pub(super) fn pairs(common: &Common, args: &ConnectArgs) -> anyhow::Result<Exit> {
    let pairs: Pairs = connect(args, Purpose::View)?.get("/api/v1/pairs")?;
    if common.json {
        return print(&show::json::document(&pairs)?);
    }
    print(show::hub::pairs(&pairs).as_bytes())
}

pub(super) fn test(common: &Common, args: &AskArgs) -> anyhow::Result<Exit> {
    let wish = RunWish { test: args.test.clone(), from: args.from.clone(), to: args.to.clone() };
    let asked: AskedRuns = connect(&args.connect, Purpose::Operate)?.post("/api/v1/run", &wish)?;
    if common.json {
        return print(&show::json::document(&asked)?);
    }
    if !common.quiet {
        eprintln!(
            "it runs before all others; its result stands among those of `linerate hub pairs {}`",
            args.connect.hub
        );
    }
    print(asked.runs.iter().map(|run| format!("{run}\n")).collect::<String>().as_bytes())
}

fn step(args: &StepArgs) -> Option<(Step, String, Option<u64>)> {
    let with = |step: Step, text: &Option<String>| text.clone().map(|text| (step, text, None));
    if args.acknowledge {
        return Some((Step::Acknowledge, String::new(), None));
    }
    let silence = args.silence.map(|time| (Step::Silence, String::new(), Some(time.as_secs().max(1))));
    with(Step::Explain, &args.explain)
        .or_else(|| with(Step::Fix, &args.fix))
        .or_else(|| with(Step::Note, &args.note))
        .or_else(|| with(Step::Accept, &args.accept))
        .or_else(|| with(Step::Close, &args.close))
        .or(silence)
}

/// A hub that runs, and the right to ask it.
pub(crate) struct Hub(Connection);

impl Hub {
    pub(crate) fn get<T: DeserializeOwned>(&mut self, path: &str) -> anyhow::Result<T> {
        let call = Call { method: "GET", path, patience: PATIENCE };
        self.0.call(&call, &Nothing {}).map_err(refused)
    }

    fn post<T: DeserializeOwned>(&mut self, path: &str, body: &impl Serialize) -> anyhow::Result<T> {
        let call = Call { method: "POST", path, patience: PATIENCE };
        self.0.call(&call, body).map_err(refused)
    }
}

/// Who may read a hub's directory may do what its tokens open: a token of a minute is made for it.
pub(super) fn connect(args: &ConnectArgs, purpose: Purpose) -> anyhow::Result<Hub> {
    if args.is_address() {
        let url: HubUrl = args.hub.parse().context(Complaint::new(Exit::Usage, "the address is not one of a hub"))?;
        let file = args.token.as_ref().ok_or_else(|| {
            Complaint::new(Exit::Usage, "a hub that is named by its address needs --token")
                .hint("`linerate hub token DIR --for view > FILE` makes one on the host of the hub")
        })?;
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
        let text = fs::read_to_string(file).with_context(unreadable)?;
        let token: Token = text.trim().parse().context(Complaint::new(Exit::Usage, "the token is not one"))?;
        return by_token(url, &token);
    }
    of_directory(Path::new(&args.hub), purpose)
}

/// The hub of a directory of this host, while it runs.
pub(crate) fn of_directory(directory: &Path, purpose: Purpose) -> anyhow::Result<Hub> {
    let files = Directory::at(directory);
    let settings = files.settings().map_err(|error| complain(error, directory))?;
    let name = settings.names.first().context("the hub has no name")?;
    let listens = settings.listen;
    // Its certificate is for its names; where it listens on one address, it may be one of these.
    let own = listens.ip().to_string();
    let host = if listens.ip().is_unspecified() || !settings.names.contains(&own) { name.clone() } else { own };
    let host = if host.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6()) { format!("[{host}]") } else { host };
    let url: HubUrl = format!("https://{host}:{}", listens.port()).parse().context("the hub's name is no address")?;
    let token = new_token(&files, purpose, Duration::from_secs(60))?;
    by_token(url, &token)
}

fn by_token(url: HubUrl, token: &Token) -> anyhow::Result<Hub> {
    let tls = pin::bearer(token.authority).context("TLS cannot be set up")?;
    Ok(Hub(Connection::new(url, tls).with_token(token.reveal())))
}

fn refused(error: CallError) -> anyhow::Error {
    let complaint = match &error {
        // What TLS says of a certificate is text by the time it is here.
        CallError::Unreachable { source, .. } if source.to_string().contains("certificate") => {
            Complaint::new(Exit::Unreachable, "something else answers there")
                .hint("its certificate is not of this hub's authority: another hub, or a proxy, has the address")
        }
        CallError::Unreachable { .. } => Complaint::new(Exit::Unreachable, "the hub does not answer")
            .hint("`linerate hub run DIR` runs it; only a hub that runs knows what its mesh does"),
        CallError::Refused { status: 404, .. } => Complaint::new(Exit::NotFound, "the hub does not have that"),
        CallError::Refused { .. } => Complaint::new(Exit::Refused, "the hub does not do that"),
        CallError::Foreign(_) => Complaint::new(Exit::Protocol, "this is no hub of linerate"),
    };
    anyhow::Error::new(error).context(complaint)
}

/// What may stand behind `?` as it is (RFC 3986, 2.3); the rest by percent signs.
pub(super) fn quoted(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

const PATIENCE: Duration = Duration::from_secs(60);
