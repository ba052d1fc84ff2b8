//! `linerate hub user` and `linerate hub actions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hub::trust::role::AccountRole;

use super::hub_directory::DirArgs;

/// Say who may sign in at the hub's pages, and what they may do there.
#[derive(Debug, Args)]
pub struct UserArgs {
    #[command(subcommand)]
    pub action: UserAction,
}

/// What to do with accounts.
#[derive(Debug, Subcommand)]
pub enum UserAction {
    /// Add an account, or set role and password of one
    Add(AddUserArgs),
    /// List the accounts
    List(DirArgs),
    /// Remove an account; its sessions end
    Remove(RemoveUserArgs),
}

/// Add an account, or set role and password of one; its sessions end. Without a file the password is made up, and printed once: the
/// hub keeps an Argon2id hash of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub user add /var/lib/linerate/hub ada --role admin
  linerate hub user add /var/lib/linerate/hub noc --role operator --password noc.password
  pass show linerate | linerate hub user add /var/lib/linerate/hub ada --role viewer --password -")]
pub struct AddUserArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Name of the account: letters, digits and .-_@
    #[arg(value_name = "NAME")]
    pub name: String,
    /// viewer reads; operator steps incidents, starts tests, sets the plan; admin adds accounts
    #[arg(long, value_name = "ROLE", default_value = "viewer")]
    pub role: AccountRole,
    /// File with the password, of 12 characters or more; - is standard input
    #[arg(long, value_name = "FILE")]
    pub password: Option<PathBuf>,
}

/// Remove an account. What it did stays in the list of actions.
#[derive(Debug, Args)]
pub struct RemoveUserArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Name of the account
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// List who did what at the hub: signing in, steps of incidents, plans, tests asked for, accounts. Newest first.
#[derive(Debug, Args)]
pub struct ActionsArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// How many
    #[arg(long, short, value_name = "COUNT", default_value_t = 50)]
    pub number: usize,
}
