//! `[openid]` of `hub.toml`.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::trust::role::AccountRole;
use crate::trust::secret;

/// The provider by which people sign in beside local accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenIdSettings {
    /// Issuer, as the provider names itself: `https://login.example.net/realms/observatory`.
    pub issuer: String,
    /// The name that the provider knows the hub by.
    pub client_id: String,
    /// File with the client's secret, relative to the directory, which nobody but its owner reads; none of a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_file: Option<PathBuf>,
    /// What pages call the provider; its host where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Claim that names a person.
    #[serde(default = "name_claim")]
    pub name_claim: String,
    /// Claim that gives roles, by dots into objects: `groups`, `realm_access.roles`.
    #[serde(default = "role_claim")]
    pub role_claim: String,
    /// Values of that claim that give each role; `*` is anybody who signs in. Nobody has a role where it is empty.
    #[serde(default)]
    pub roles: BTreeMap<AccountRole, Vec<String>>,
    /// Scopes that are asked for beside `openid`.
    #[serde(default = "scopes")]
    pub scopes: Vec<String>,
    /// File of the authorities that sign the provider's certificate; those of the system where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

fn name_claim() -> String {
    "preferred_username".to_owned()
}

fn role_claim() -> String {
    "groups".to_owned()
}

fn scopes() -> Vec<String> {
    vec!["profile".to_owned(), "email".to_owned()]
}

impl OpenIdSettings {
    /// What is usual, of a provider without a name and without a role for anybody.
    #[must_use]
    pub fn usual() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret_file: None,
            title: None,
            name_claim: name_claim(),
            role_claim: role_claim(),
            roles: BTreeMap::new(),
            scopes: scopes(),
            ca_file: None,
        }
    }

    /// What pages call the provider.
    #[must_use]
    pub fn shown_title(&self) -> String {
        self.title.clone().unwrap_or_else(|| host(&self.issuer).unwrap_or(&self.issuer).to_owned())
    }

    /// The client's secret.
    ///
    /// # Errors
    /// Where its file cannot be read, is empty, or is readable by others.
    pub(super) fn secret(&self, directory: &Path) -> io::Result<Option<String>> {
        self.client_secret_file.as_ref().map(|file| secret::text(&directory.join(file))).transpose()
    }
}

/// Whether an address of a provider may be asked: by TLS, or on this host, where nobody reads along.
pub(super) fn is_protected(url: &str) -> bool {
    let is_here = || host(url).is_some_and(|host| host == "localhost" || is_loopback(host));
    url.starts_with("https://") || (url.starts_with("http://") && is_here())
}

fn is_loopback(host: &str) -> bool {
    host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn host(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    if authority.contains('@') {
        return None;
    }
    if authority.starts_with('[') {
        return authority.find(']').map(|end| &authority[..=end]);
    }
    authority.split(':').next().filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_this_host_is_asked_without_tls() {
        for good in
            ["https://login.example.net/a", "http://localhost:9400", "http://127.0.0.1:1/x", "http://[::1]:9400"]
        {
            assert!(is_protected(good), "{good}");
        }
        for bad in [
            "http://login.example.net",
            "http://127.0.0.1.example.net",
            "http://localhost@evil.example",
            "http://",
            "ftp://127.0.0.1",
            "login.example.net",
        ] {
            assert!(!is_protected(bad), "{bad}");
        }
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (issuer, client_id) = ("https://login.example.net".to_owned(), "linerate".to_owned());
        let mut settings = OpenIdSettings { issuer, client_id, ..OpenIdSettings::usual() };
        assert_eq!(settings.secret(folder.path()).unwrap(), None);
        settings.client_secret_file = Some("openid.secret".into());
        assert!(settings.secret(folder.path()).is_err(), "it is not there");
        let file = folder.path().join("openid.secret");
        secret::write(&file, b"s3cret\n").unwrap();
        assert_eq!(settings.secret(folder.path()).unwrap().as_deref(), Some("s3cret"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = settings.secret(folder.path()).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains("s3cret"), "{error}");
    }
}
