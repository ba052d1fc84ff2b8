//! A provider of OpenID Connect, over TLS by a certificate of its own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use hub::trust::authority::{self, Authority};
use hub::trust::roots;
use serde_json::Value;
use tempfile::TempDir;

use super::from_registry;
use super::process::{Lines, Process};

/// A provider that runs.
pub struct Provider {
    /// As it names itself.
    pub issuer: String,
    /// The file with the authority that has signed its certificate.
    pub authority: PathBuf,
    /// The file with the secret of its client `linerate`.
    pub secret: PathBuf,
    _folder: TempDir,
    _process: Process,
    _talk: Lines,
}

impl Provider {
    /// Starts it with these users: `sub` and further claims of each.
    pub fn start(users: &Value) -> Self {
        let packages = from_registry("oidc-provider-mock/oidc_provider_mock/_app.py");
        let packages = packages.ancestors().nth(2).unwrap();
        let folder = TempDir::new().unwrap();
        let [certificate, key, trusted, secret] =
            ["certificate.pem", "key.pem", "authority.pem", "secret"].map(|name| folder.path().join(name));
        let authority = Authority::create().unwrap();
        let own = authority::new_key().unwrap();
        let signed = authority.certify_hub(&own, vec!["localhost".to_owned()]).unwrap();
        fs::write(&certificate, roots::pem("CERTIFICATE", &signed)).unwrap();
        fs::write(&key, roots::pem("PRIVATE KEY", &own.serialize_der())).unwrap();
        fs::write(&trusted, roots::pem("CERTIFICATE", authority.certificate())).unwrap();
        hub::trust::secret::write(&secret, b"s3cret of tests\n").unwrap();
        let driver = folder.path().join("openid_provider.py");
        fs::write(&driver, include_str!("openid_provider.py")).unwrap();
        let mut process = Process::start(
            Command::new("python3")
                .args(["-u", driver.to_str().unwrap()])
                .args([packages, &certificate, &key])
                .arg(users.to_string()),
        );
        let talk = process.stdout();
        let port = talk.wait_for("its port", |line| line.parse::<u16>().is_ok());
        let issuer = format!("https://localhost:{}", port.trim());
        Self { issuer, authority: trusted, secret, _folder: folder, _process: process, _talk: talk }
    }
}
