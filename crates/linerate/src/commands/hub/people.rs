//! `linerate hub user` and `linerate hub actions`: accounts, and who did what, read and written in the hub's directory.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use hub::api::accounts::{AccountList, ActionList};
use hub::server::directory::Directory;
use hub::server::people::check_name;
use hub::store::Store;
use hub::store::people::{AccountRow, ActionRow};
use hub::trust::password::{Password, PasswordHash};
use linux::clock;

use super::files::{no_database, open};
use crate::cli::Common;
use crate::cli::hub_directory::DirArgs;
use crate::cli::people::{ActionsArgs, AddUserArgs, RemoveUserArgs, UserAction};
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

pub(super) fn user(common: &Common, action: &UserAction) -> anyhow::Result<Exit> {
    match action {
        UserAction::Add(args) => add(args),
        UserAction::List(args) => list(common, args),
        UserAction::Remove(args) => remove(args),
    }
}

fn add(args: &AddUserArgs) -> anyhow::Result<Exit> {
    check_name(&args.name).context(Complaint::new(Exit::Usage, "this is no name of an account"))?;
    let directory = Directory::at(&args.directory);
    let store = open(&directory)?;
    let password = match &args.password {
        Some(file) => {
            Password::chosen(read(file)?).context(Complaint::new(Exit::Usage, "this password is not taken"))?
        }
        None => Password::random().context("no random bytes")?,
    };
    let AddUserArgs { name, role, .. } = args;
    let hash = PasswordHash::of(&password).context("the password cannot be hashed")?;
    let account = AccountRow { name: name.clone(), role: *role, password: hash, changed: clock::wall_now() };
    store.set_account(account).context(no_database(&directory))?;
    note(store.as_ref(), &directory, format!("account {name}: {}, password set", role.name()))?;
    let shown = match directory.settings() {
        Ok(settings) => {
            let host = settings.names.first().cloned().unwrap_or_else(|| "HUB".to_owned());
            format!("https://{host}:{}/", settings.listen.port())
        }
        Err(_) => "the hub's address".to_owned(),
    };
    eprintln!("{name} ({}) signs in at {shown} while the hub runs", role.name());
    match args.password {
        Some(_) => Ok(Exit::Success),
        None => print(format!("{}\n", password.reveal()).as_bytes()),
    }
}

fn list(common: &Common, args: &DirArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    let list = AccountList::of(open(&directory)?.accounts().context(no_database(&directory))?);
    if common.json {
        return print(&show::json::document(&list)?);
    }
    print(show::people::accounts(&list).as_bytes())
}

fn remove(args: &RemoveUserArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    let store = open(&directory)?;
    if !store.remove_account(&args.name).context(no_database(&directory))? {
        let none = Complaint::new(Exit::NotFound, format!("there is no account {}", args.name));
        return Err(none.hint(format!("`linerate hub user list {}` lists them", args.directory.display())).into());
    }
    note(store.as_ref(), &directory, format!("account {} removed", args.name))?;
    Ok(Exit::Success)
}

pub(super) fn actions(common: &Common, args: &ActionsArgs) -> anyhow::Result<Exit> {
    let directory = Directory::at(&args.directory);
    let list = ActionList::of(open(&directory)?.actions(args.number).context(no_database(&directory))?);
    if common.json {
        return print(&show::json::document(&list)?);
    }
    print(show::people::actions(&list).as_bytes())
}

/// Who may write in the hub's directory is a user of its host.
fn note(store: &dyn Store, directory: &Directory, what: String) -> anyhow::Result<()> {
    let who = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "somebody".to_owned());
    let action = ActionRow { at: clock::wall_now(), who, origin: "the hub's host".to_owned(), what };
    store.log_action(action).context(no_database(directory))
}

/// The first line of a file, or of standard input.
fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
    if file == Path::new("-") {
        std::io::stdin().take(MOST_BYTES).read_to_string(&mut text).with_context(unreadable)?;
    } else {
        fs::File::open(file)
            .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
            .with_context(unreadable)?;
    }
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// More than a password has.
const MOST_BYTES: u64 = 10_000;
