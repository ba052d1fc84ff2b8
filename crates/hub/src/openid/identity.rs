//! Who somebody is and which role that gives, from the claims of an ID token and of the userinfo endpoint.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::OpenIdError;
use super::settings::OpenIdSettings;
use crate::trust::password::PasswordHash;
use crate::trust::role::AccountRole;

/// Somebody whom a provider knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name of the account: `openid:` and the claim, which no local account can be called.
    pub account: String,
    /// What it may do.
    pub role: AccountRole,
    /// What the account keeps in place of a password: who this is at the provider (issuer and `sub`), whatever the name is.
    pub mark: PasswordHash,
}

impl Identity {
    /// Of the claims of an ID token that was verified, and of what completes them.
    ///
    /// # Errors
    /// Where they give no usable name or no role.
    pub fn of(claims: &Value, settings: &OpenIdSettings) -> Result<Self, OpenIdError> {
        let subject = claims["sub"].as_str().unwrap_or_default();
        if subject.is_empty() {
            return Err(OpenIdError::Claims("the ID token names nobody: it has no `sub`".to_owned()));
        }
        let name = account_name(claims, settings)?;
        let values = values(claim(claims, &settings.role_claim));
        let role = role(&values, settings).ok_or_else(|| {
            let has = if values.is_empty() { "nothing".to_owned() } else { values.join(", ") };
            let has: String = has.chars().filter(|letter| !letter.is_control()).take(200).collect();
            OpenIdError::Claims(format!(
                "{name} has no role at this hub: the claim `{}` has {has}",
                settings.role_claim
            ))
        })?;
        let mut hash = Sha256::new();
        hash.update(settings.issuer.as_bytes());
        hash.update([0]);
        hash.update(subject.as_bytes());
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        // No form of a hash of a password: nobody signs in to this account by one.
        Ok(Self { account: format!("{PREFIX}{name}"), role, mark: PasswordHash::kept(format!("{PREFIX}{digits}")) })
    }
}

/// Whether an account is one of a provider.
#[must_use]
pub fn is_of_provider(account: &str) -> bool {
    account.starts_with(PREFIX)
}

/// Whether claims say who somebody is and have the claim of roles, whatever is in it.
pub(super) fn has_name_and_role(claims: &Value, settings: &OpenIdSettings) -> bool {
    [&settings.name_claim, &settings.role_claim].into_iter().all(|name| claim(claims, name).is_some())
}

/// Claims of an ID token, and what the userinfo endpoint adds to them. What the token says stands: it is signed.
///
/// # Errors
/// Where the endpoint speaks of somebody else (OpenID Connect Core, 5.3.2).
pub(super) fn with_userinfo(token: Value, info: Value) -> Result<Value, OpenIdError> {
    if info["sub"].as_str().is_none_or(|subject| token["sub"].as_str() != Some(subject)) {
        return Err(OpenIdError::Claims("the userinfo endpoint of the provider speaks of somebody else".to_owned()));
    }
    let (Value::Object(mut claims), Value::Object(mut info)) = (token, info) else {
        return Err(OpenIdError::Claims("the claims of the provider are no object".to_owned()));
    };
    // What is said of one address says nothing of another.
    if claims.contains_key("email") && claims.get("email") != info.get("email") {
        info.remove("email_verified");
    }
    for (name, value) in info {
        let said = claims.entry(name).or_insert(Value::Null);
        complete(said, value);
    }
    Ok(Value::Object(claims))
}

/// Objects have members of both: Keycloak has some roles of `realm_access` in the one, some in the other.
fn complete(said: &mut Value, more: Value) {
    match (said, more) {
        (said @ Value::Null, more) => *said = more,
        (Value::Object(said), Value::Object(more)) => {
            for (name, value) in more {
                complete(said.entry(name).or_insert(Value::Null), value);
            }
        }
        _ => {}
    }
}

fn account_name(claims: &Value, settings: &OpenIdSettings) -> Result<String, OpenIdError> {
    let wanted = settings.name_claim.as_str();
    let name = claim(claims, wanted).and_then(Value::as_str).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_@+".contains(letter);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        let why = format!("the claim `{wanted}` is no name: 1 to {LONGEST_NAME} letters, digits or `.-_@+`");
        return Err(OpenIdError::Claims(why));
    }
    // An address that nobody has verified is anybody's.
    if wanted == "email" && claims["email_verified"] != Value::Bool(true) {
        return Err(OpenIdError::Claims("the provider has not verified the e-mail address".to_owned()));
    }
    Ok(name.to_owned())
}

/// A claim, by dots into objects; a claim whose own name has dots comes first.
fn claim<'a>(claims: &'a Value, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| name.split('.').try_fold(claims, |value, part| value.get(part)))
}

fn values(claim: Option<&Value>) -> Vec<&str> {
    match claim {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The highest of the roles that the values give.
fn role(values: &[&str], settings: &OpenIdSettings) -> Option<AccountRole> {
    let gives = |wanted: &String| wanted == ANYBODY || values.contains(&wanted.as_str());
    settings.roles.iter().filter(|(_, wanted)| wanted.iter().any(gives)).map(|(role, _)| *role).max()
}

const PREFIX: &str = "openid:";
const ANYBODY: &str = "*";
const LONGEST_NAME: usize = 90;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::trust::password::Password;

    fn settings() -> OpenIdSettings {
        let (issuer, client_id) = ("https://login.example.net".to_owned(), "linerate".to_owned());
        let mut settings = OpenIdSettings { issuer, client_id, ..OpenIdSettings::usual() };
        settings.roles.insert(AccountRole::Operator, vec!["noc".to_owned()]);
        settings.roles.insert(AccountRole::Admin, vec!["noc-admins".to_owned()]);
        settings
    }

    #[test]
    fn the_highest_role_of_all_groups_counts_and_nobody_has_one_by_chance() {
        let role = |groups: Value, settings: &OpenIdSettings| {
            let claims = json!({ "sub": "1", "preferred_username": "ada", "groups": groups });
            Identity::of(&claims, settings).map(|identity| identity.role)
        };
        let usual = settings();
        assert_eq!(role(json!(["staff", "noc", "noc-admins"]), &usual).unwrap(), AccountRole::Admin);
        assert_eq!(role(json!("noc"), &usual).unwrap(), AccountRole::Operator);
        for none in [json!(["staff"]), json!([]), json!(null), json!({ "noc": true }), json!(["*"]), json!("NOC")] {
            let error = role(none.clone(), &usual).unwrap_err().to_string();
            assert!(error.contains("ada has no role at this hub: the claim `groups`"), "{none}: {error}");
        }
        let mut anybody = settings();
        anybody.roles.insert(AccountRole::Viewer, vec!["*".to_owned()]);
        assert_eq!(role(json!([]), &anybody).unwrap(), AccountRole::Viewer);
        let mut nested = settings();
        nested.role_claim = "realm_access.roles".to_owned();
        let claims = json!({ "sub": "1", "preferred_username": "ada", "realm_access": { "roles": ["noc"] } });
        assert_eq!(Identity::of(&claims, &nested).unwrap().role, AccountRole::Operator);
    }

    #[test]
    fn a_name_is_never_that_of_a_local_account_and_no_password_opens_it() {
        let of = |claims: Value| Identity::of(&claims, &settings());
        let ada = of(json!({ "sub": "1", "preferred_username": "ada", "groups": ["noc"] })).unwrap();
        assert_eq!(ada.account, "openid:ada");
        assert!(crate::server::people::check_name(&ada.account).is_err(), "local accounts have no colon");
        assert!(!ada.mark.is_of(&Password::shown(ada.mark.text().to_owned()).unwrap()));
        let other = of(json!({ "sub": "2", "preferred_username": "ada", "groups": ["noc"] })).unwrap();
        assert_ne!(other.mark, ada.mark, "a name may be given to somebody else");
        for name in ["", "a b", "<script>", "a:b", &"x".repeat(91)] {
            assert!(of(json!({ "sub": "1", "preferred_username": name, "groups": ["noc"] })).is_err(), "{name}");
        }
        assert!(of(json!({ "preferred_username": "ada", "groups": ["noc"] })).is_err(), "without a subject");
    }

    #[test]
    fn what_the_token_lacks_is_taken_of_userinfo_and_what_it_says_stands() {
        let token = json!({ "sub": "1", "preferred_username": "ada", "realm_access": { "client": "x" } });
        let info =
            json!({ "sub": "1", "preferred_username": "eve", "realm_access": { "roles": ["noc"], "client": "y" } });
        let mut nested = settings();
        nested.role_claim = "realm_access.roles".to_owned();
        assert!(!has_name_and_role(&token, &nested) && Identity::of(&token, &nested).is_err());
        let claims = with_userinfo(token.clone(), info).unwrap();
        assert!(has_name_and_role(&claims, &nested));
        let ada = Identity::of(&claims, &nested).unwrap();
        assert_eq!((ada.account.as_str(), ada.role), ("openid:ada", AccountRole::Operator));
        assert_eq!(claims["realm_access"]["client"], "x");

        for other in [json!({ "sub": "2", "groups": ["noc"] }), json!({ "groups": ["noc"] }), json!([]), json!(null)] {
            assert!(with_userinfo(token.clone(), other.clone()).is_err(), "{other}");
        }
        // A role that the token denies is not given by what nobody has signed.
        let denied = json!({ "sub": "1", "preferred_username": "ada", "groups": [] });
        assert!(has_name_and_role(&denied, &settings()), "an empty list is an answer");
        let claims = with_userinfo(denied, json!({ "sub": "1", "groups": ["noc"] })).unwrap();
        assert!(Identity::of(&claims, &settings()).is_err());
        let unverified = json!({ "sub": "1", "email": "ada@example.net" });
        let verified = |address: &str| json!({ "sub": "1", "email": address, "email_verified": true });
        let of = |address: &str| with_userinfo(unverified.clone(), verified(address)).unwrap();
        assert_eq!(of("ada@example.net")["email_verified"], true);
        assert_eq!(of("eve@example.net")["email_verified"], Value::Null);
    }

    #[test]
    fn an_address_counts_as_a_name_once_it_is_verified() {
        let mut by_address = settings();
        by_address.name_claim = "email".to_owned();
        let of = |verified: Value| {
            let claims =
                json!({ "sub": "1", "email": "ada@example.net", "email_verified": verified, "groups": ["noc"] });
            Identity::of(&claims, &by_address)
        };
        assert_eq!(of(json!(true)).unwrap().account, "openid:ada@example.net");
        for unverified in [json!(false), json!(null), json!("true")] {
            assert!(of(unverified).is_err());
        }
    }
}
