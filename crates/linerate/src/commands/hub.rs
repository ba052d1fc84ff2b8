//! `linerate hub`.

pub mod check;
mod demo;
mod demonstrator;
mod files;
mod mesh;
pub mod pages;
mod people;
mod replay;
pub mod report;
pub mod top;

use std::path::Path;

use anyhow::Context;
use hub::api::OPENAPI;
use hub::api::people::AgentList;
use hub::openid::settings::OpenIdSettings;
use hub::segments::target::SegmentTarget;
use hub::server::directory::{Directory, SegmentSettings, Settings};
use hub::server::log::Log;
use hub::server::state::{Hub, HubError};
use hub::store::open;
use hub::trust::token::Purpose;
use linux::clock;
use tokio::sync::watch;

use self::files::{complain, new_token, no_database, no_segments, open as open_database, open_of};

use super::attempt::stop_on_signals;
use super::{print, view};
use crate::cli::Common;
use crate::cli::hub::{
    ConnectArgs, DatabaseArgs, HubAction, InitArgs, OpenIdArgs, RemoveArgs, RunArgs, SegmentArgs, TokenArgs,
};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, action: &HubAction) -> anyhow::Result<Exit> {
    match action {
        HubAction::Init(args) => init(common, args),
        HubAction::Token(args) => token(args),
        HubAction::Run(args) => serve(common, args),
        HubAction::User(args) => people::user(common, &args.action),
        HubAction::Actions(args) => people::actions(common, args),
        HubAction::Agents(args) => agents(common, args),
        HubAction::Remove(args) => remove(args),
        HubAction::Plan(args) => mesh::plan(common, args),
        HubAction::Incidents(args) => mesh::incidents(common, args),
        HubAction::Pairs(args) => mesh::pairs(common, args),
        HubAction::Test(args) => mesh::test(common, args),
        HubAction::Demo(args) => demo::run(common, args),
        HubAction::Replay(args) => replay::run(common, args),
        HubAction::Openapi => print(OPENAPI.as_bytes()),
    }
}

fn init(common: &Common, args: &InitArgs) -> anyhow::Result<Exit> {
    let mut settings = Settings::new(args.listen, args.name.clone());
    set_database(&mut settings, &args.database)?;
    set_openid(&mut settings, &args.openid)?;
    set_segments(&mut settings, &args.segments)?;
    let directory = Directory::at(&args.directory);
    // A database that does not open leaves no hub behind, so that the same line works once it does.
    if open::address(&directory, &settings).is_ok_and(|address| address.is_none()) {
        make(&directory, &settings, args)?;
        open_of(&directory, &settings)?;
    } else {
        let store = open_of(&directory, &settings)?;
        let other = args.authority.as_deref().map(Directory::at).map(|other| other.authority());
        let other = other.transpose().map_err(|error| complain(error, &args.directory))?;
        let own = other.map(|authority| authority.fingerprint());
        let found = store.authority(own).context(no_database(&directory))?;
        if found != own {
            return Err(Complaint::new(Exit::Usage, "this database is that of other hubs, whom other agents trust")
                .hint("`--authority DIR`, with a copy of the directory of one of them, makes another hub of theirs")
                .into());
        }
        make(&directory, &settings, args)?;
        let own = directory.authority().map_err(|error| complain(error, &args.directory))?.fingerprint();
        store.authority(Some(own)).context(no_database(&directory))?;
    }
    let authority = directory.authority().map_err(|error| complain(error, &args.directory))?.fingerprint();
    if common.json {
        return print(&show::json::document(&serde_json::json!({ "authority": authority }))?);
    }
    let shown = args.directory.display();
    print(
        format!(
            "hub made in {shown}\nauthority {authority}\n\nnext: linerate hub run {shown}\n      \
             linerate hub token {shown}   for each agent\n      \
             linerate hub user add {shown} NAME --role admin   to sign in at its pages\n"
        )
        .as_bytes(),
    )
}

fn make(directory: &Directory, settings: &Settings, args: &InitArgs) -> anyhow::Result<()> {
    let other = args.authority.as_deref().map(Directory::at);
    directory.init(settings, other.as_ref()).map_err(|error| complain(error, &args.directory))
}

/// Takes the provider of OpenID Connect that a command line names.
fn set_openid(settings: &mut Settings, args: &OpenIdArgs) -> anyhow::Result<()> {
    let Some((issuer, client)) = args.openid.clone().zip(args.openid_client.clone()) else { return Ok(()) };
    let mut openid = OpenIdSettings { issuer, client_id: client, ..OpenIdSettings::usual() };
    if let Some(file) = &args.openid_secret_file {
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
        openid.client_secret_file = Some(std::fs::canonicalize(file).with_context(unreadable)?);
    }
    for (role, value) in &args.openid_role {
        openid.roles.entry(*role).or_default().push(value.clone());
    }
    settings.openid = Some(openid);
    Ok(())
}

/// Takes the database that a command line names.
fn set_database(settings: &mut Settings, args: &DatabaseArgs) -> anyhow::Result<()> {
    if let Some(url) = &args.database {
        (settings.database, settings.database_file) = (Some(url.clone()), None);
    }
    if let Some(file) = &args.database_file {
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
        let file = std::fs::canonicalize(file).with_context(unreadable)?;
        (settings.database, settings.database_file) = (None, Some(file));
    }
    Ok(())
}

/// Takes the segments that a command line names: a directory by its whole path, since a hub is run from elsewhere.
fn set_segments(settings: &mut Settings, args: &SegmentArgs) -> anyhow::Result<()> {
    let Some(address) = &args.segments else { return Ok(()) };
    let mut address = address.clone();
    SegmentTarget::parse(&address).map_err(no_segments)?;
    if !SegmentTarget::is_remote(&address) {
        let failed = || Complaint::new(Exit::Local, format!("{address} cannot be a directory of segments"));
        let whole = std::fs::create_dir_all(&address).and_then(|()| std::fs::canonicalize(&address));
        let whole = whole.with_context(failed)?;
        address = whole.into_os_string().into_string().map_err(|_| failed())?;
    }
    let segments = settings.segments.take().map(|known| SegmentSettings { to: address.clone(), ..known });
    settings.segments = Some(segments.unwrap_or_else(|| SegmentSettings::to(address)));
    Ok(())
}

fn token(args: &TokenArgs) -> anyhow::Result<Exit> {
    let token = new_token(&Directory::at(&args.directory), args.purpose, args.valid)?;
    let counts = match args.purpose {
        Purpose::Join => "counts once, within",
        Purpose::View | Purpose::Operate | Purpose::Archive => "counts for",
    };
    eprintln!("a token to {}: {counts} {}", args.purpose.name(), ::mesh::notify::long(args.valid));
    print(format!("{}\n", token.reveal()).as_bytes())
}

fn serve(common: &Common, args: &RunArgs) -> anyhow::Result<Exit> {
    args.pages.map_or(Ok(()), view::check_address)?;
    let directory = Directory::at(&args.directory);
    let mut opened = directory.open().map_err(|error| complain(error, &args.directory))?;
    set_database(&mut opened.settings, &args.database)?;
    set_segments(&mut opened.settings, &args.segments)?;
    let settings = opened.settings.clone();
    let log = Log::to(|line| eprintln!("linerate hub: {line}"));
    let (hub, identity) = Hub::new(opened, open_of(&directory, &settings)?, log).map_err(|error| match error {
        HubError::Store(error) => anyhow::Error::new(error).context(no_database(&directory)),
        HubError::Segments(error) => no_segments(error),
    })?;
    if let Some(plan) = &settings.plan {
        let file = directory.file("").join(plan);
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read the plan {}", file.display()));
        let text = std::fs::read_to_string(&file).with_context(unreadable)?;
        hub.set_plan(text).with_context(|| Complaint::new(Exit::Usage, format!("{} is no plan", file.display())))?;
    }
    hub.demonstrations.offer(Box::new(demonstrator::Programs::of_this_one()?));
    let (stop, stopped) = watch::channel(false);
    let signalled = stop_on_signals()?;
    let is_quiet = common.quiet;
    let pages = args.pages.map(|address| pages::Pages::start(&directory, address, stopped.clone())).transpose()?;
    if let Some(pages) = pages.as_ref().filter(|_| !is_quiet) {
        eprintln!("linerate hub: pages at http://{}/", pages.address);
    }
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

fn agents(common: &Common, args: &ConnectArgs) -> anyhow::Result<Exit> {
    let list: AgentList = if args.is_address() {
        mesh::connect(args, Purpose::View)?.get("/api/v1/agents")?
    } else {
        // The database has them whether the hub runs or not.
        let directory = Directory::at(Path::new(&args.hub));
        AgentList::of(open_database(&directory)?.agents().context(no_database(&directory))?)
    };
    if common.json {
        return print(&show::json::document(&list)?);
    }
    print(show::hub::agents(&list, clock::wall_now()).as_bytes())
}

fn remove(args: &RemoveArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    if !open_database(&directory)?.remove_agent(&args.agent).context(no_database(&directory))? {
        let none = Complaint::new(Exit::NotFound, format!("there is no agent {}", args.agent));
        return Err(none.hint(format!("`linerate hub agents {}` lists them", args.directory.display())).into());
    }
    Ok(Exit::Success)
}

/// How soon a signal is heeded.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(100);
