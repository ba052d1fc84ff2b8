//! Accounts of a hub, and who did what, for people.

use hub::api::accounts::{AccountList, ActionList};
use mesh::clock;

/// A line for each account.
pub fn accounts(list: &AccountList) -> String {
    if list.accounts.is_empty() {
        return "no account yet; `linerate hub user add DIR NAME --role admin` makes one\n".to_owned();
    }
    let widest = list.accounts.iter().map(|account| account.name.len()).max().unwrap_or_default();
    let line = |account: &hub::api::accounts::AccountInfo| {
        format!("{:widest$}  {:8}  since {}\n", account.name, account.role.name(), clock::shown(account.changed))
    };
    list.accounts.iter().map(line).collect()
}

/// A line for each action.
pub fn actions(list: &ActionList) -> String {
    if list.actions.is_empty() {
        return "nobody has done anything yet\n".to_owned();
    }
    let line = |action: &hub::api::accounts::ActionInfo| {
        let hub::api::accounts::ActionInfo { at, who, origin, what } = action;
        format!("{}  {who}, from {origin}: {what}\n", clock::shown(*at))
    };
    list.actions.iter().map(line).collect()
}
