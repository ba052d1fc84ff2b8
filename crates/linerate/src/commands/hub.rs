//! `linerate hub`.

mod mesh;

use std::path::Path;

use anyhow::Context;
use hub::api::openapi;
use hub::server::directory::{ConnectionLimits, Directory, DirectoryError, IncidentSettings, Settings};
use hub::server::log::Log;
use hub::server::state::Hub;
use hub::store::Store;
use hub::store::rows::TokenRow;
use hub::store::sqlite::Sqlite;
use hub::trust::secret;
use hub::trust::token::{Purpose, Secret, Token};
use linux::clock;
use tokio::sync::watch;
use units::{WallTime, duration};

use super::attempt::stop_on_signals;
use super::print;
use crate::cli::Common;
use crate::cli::hub::{DirArgs, HubAction, InitArgs, RemoveArgs, TokenArgs};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, action: &HubAction) -> anyhow::Result<Exit> {
    match action {
        HubAction::Init(args) => init(common, args),
        HubAction::Token(args) => token(args),
        HubAction::Run(args) => serve(common, args),
        HubAction::Agents(args) => agents(common, args),
        HubAction::Remove(args) => remove(args),
        HubAction::Plan(args) => mesh::plan(common, args),
        HubAction::Incidents(args) => mesh::incidents(common, args),
        HubAction::Pairs(args) => mesh::pairs(common, args),
        HubAction::Test(args) => mesh::test(common, args),
        HubAction::Openapi => print(&show::json::document(&openapi::document())?),
    }
}

fn init(common: &Common, args: &InitArgs) -> anyhow::Result<Exit> {
    let settings = Settings {
        listen: args.listen,
        names: args.name.clone(),
        plan: None,
        limits: ConnectionLimits::default(),
        incidents: IncidentSettings::default(),
        notify: Vec::new(),
    };
    let directory = Directory::at(&args.directory);
    directory.init(&settings).map_err(|error| complain(error, &args.directory))?;
    Sqlite::open(&directory.database()).context(no_database(&directory))?;
    let authority = directory.authority().map_err(|error| complain(error, &args.directory))?.fingerprint();
    if common.json {
        return print(&show::json::document(&serde_json::json!({ "authority": authority }))?);
    }
    let shown = args.directory.display();
    print(
        format!(
            "hub made in {shown}\nauthority {authority}\n\nnext: linerate hub run {shown}\n      \
             linerate hub token {shown}   for each agent\n"
        )
        .as_bytes(),
    )
}

fn token(args: &TokenArgs) -> anyhow::Result<Exit> {
    let token = new_token(&Directory::at(&args.directory), args.purpose, args.valid)?;
    let counts = match args.purpose {
        Purpose::Join => "counts once, ",
        Purpose::View | Purpose::Operate => "",
    };
    eprintln!("a token to {}: {counts}until {} from now", args.purpose.name(), duration::show(args.valid));
    print(format!("{}\n", token.reveal()).as_bytes())
}

/// A token that counts from now on.
fn new_token(directory: &Directory, purpose: Purpose, valid: std::time::Duration) -> anyhow::Result<Token> {
    let authority = directory.authority().map_err(|error| complain(error, &directory.file("")))?.fingerprint();
    let secret = Secret::new(secret::random().context("no random bytes")?);
    let until = clock::wall_now().unix_nanos().saturating_add(duration::nanos(valid));
    let row = TokenRow { hash: secret.hash(), purpose, expires: WallTime::from_unix_nanos(until) };
    open(directory)?.add_token(row).context(no_database(directory))?;
    Ok(Token { purpose, secret, authority })
}

fn serve(common: &Common, args: &DirArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    let opened = directory.open().map_err(|error| complain(error, &args.directory))?;
    let settings = opened.settings.clone();
    let log = Log::to(|line| eprintln!("linerate hub: {line}"));
    let (hub, identity) = Hub::new(opened, Box::new(open(&directory)?), log).context(no_database(&directory))?;
    if let Some(plan) = &settings.plan {
        let file = directory.file("").join(plan);
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read the plan {}", file.display()));
        let text = std::fs::read_to_string(&file).with_context(unreadable)?;
        hub.set_plan(text).with_context(|| Complaint::new(Exit::Usage, format!("{} is no plan", file.display())))?;
    }
    let (stop, stopped) = watch::channel(false);
    let signalled = stop_on_signals()?;
    let is_quiet = common.quiet;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !signalled.is_stopped() {
            std::thread::sleep(GLANCE);
        }
        // The hub has ended by itself where nobody listens.
        let _ = stop.send(true);
    })?;
    hub::server::serve(&hub, identity, &settings, stopped, |address| {
        if !is_quiet {
            eprintln!("linerate hub: listening on {address}");
        }
    })
    .with_context(|| Complaint::new(Exit::Local, format!("cannot listen on {}", settings.listen)))?;
    Ok(Exit::Success)
}

fn agents(common: &Common, args: &DirArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    let agents = open(&directory)?.agents().context(no_database(&directory))?;
    let list = hub::api::people::AgentList::of(agents);
    if common.json {
        return print(&show::json::document(&list)?);
    }
    print(show::hub::agents(&list, clock::wall_now()).as_bytes())
}

fn remove(args: &RemoveArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    if !open(&directory)?.remove_agent(&args.agent).context(no_database(&directory))? {
        let none = Complaint::new(Exit::NotFound, format!("there is no agent {}", args.agent));
        return Err(none.hint(format!("`linerate hub agents {}` lists them", args.directory.display())).into());
    }
    Ok(Exit::Success)
}

fn open(directory: &Directory) -> anyhow::Result<Sqlite> {
    directory.settings().map_err(|error| complain(error, &directory.file("")))?;
    Sqlite::open(&directory.database()).context(no_database(directory))
}

fn no_database(directory: &Directory) -> Complaint {
    Complaint::new(Exit::Local, format!("the hub's database {} cannot be used", directory.database().display()))
}

fn complain(error: DirectoryError, directory: &Path) -> anyhow::Error {
    let shown = directory.display();
    let complaint = match &error {
        DirectoryError::Taken(_) => {
            Complaint::new(Exit::Usage, "a hub is not made twice").hint(format!("`linerate hub run {shown}` runs it"))
        }
        DirectoryError::File(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            Complaint::new(Exit::NotFound, format!("there is no hub in {shown}"))
                .hint(format!("`linerate hub init {shown} --name HOST` makes one"))
        }
        _ => Complaint::new(Exit::Local, format!("the hub in {shown} cannot be used")),
    };
    anyhow::Error::new(error).context(complaint)
}

/// How soon a signal is heeded.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(100);
