//! A hub that listens on loopback, in this process.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hub::agent::connection::Connection;
use hub::agent::directory::{Directory as AgentDirectory, Limits};
use hub::agent::join::{JoinError, Joining, join};
use hub::agent::url::HubUrl;
use hub::server::directory::{ConnectionLimits, Directory, Settings};
use hub::server::log::Log;
use hub::server::state::Hub;
use hub::store::open::open;
use hub::store::rows::TokenRow;
use hub::trust::digest::Fingerprint;
use hub::trust::pin;
use hub::trust::token::{Purpose, Secret, Token};
use mesh::notify::Route;
use tempfile::TempDir;
use tokio::sync::watch;
use units::WallTime;

use crate::backing;

pub struct Running {
    pub hub: Arc<Hub>,
    pub address: SocketAddr,
    pub directory: TempDir,
    pub lines: Arc<Mutex<Vec<String>>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start() -> Self {
        Self::with(ConnectionLimits::default())
    }

    pub fn with(limits: ConnectionLimits) -> Self {
        Self::set(limits, Vec::new())
    }

    /// One that tells these of incidents.
    pub fn telling(routes: Vec<Route>) -> Self {
        Self::set(ConnectionLimits::default(), routes)
    }

    fn set(limits: ConnectionLimits, notify: Vec<Route>) -> Self {
        let mut settings = Settings { limits, notify, ..settings() };
        backing::prepare(&mut settings);
        Self::of(&settings)
    }

    /// One with these settings.
    pub fn of(settings: &Settings) -> Self {
        Self::of_directory(settings, TempDir::new().unwrap())
    }

    /// The same in a directory that has files of a person already.
    pub fn of_directory(settings: &Settings, directory: TempDir) -> Self {
        Directory::at(directory.path()).init(settings, None).unwrap();
        Self::open(directory)
    }

    /// The hub of a directory, as after a restart.
    pub fn open(directory: TempDir) -> Self {
        let files = Directory::at(directory.path());
        let opened = files.open().unwrap();
        let settings = opened.settings.clone();
        let store = open(&files, &settings).unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::to(move |line| kept.lock().unwrap().push(line.to_owned()));
        let (hub, identity) = Hub::new(opened, store, log).unwrap();
        let (stop, stopped) = watch::channel(false);
        let (listens, address) = mpsc::channel();
        let serving = Arc::clone(&hub);
        let thread = thread::spawn(move || {
            hub::server::serve(&serving, identity, &settings, stopped, |at| listens.send(at).unwrap()).unwrap();
        });
        let address = address.recv_timeout(Duration::from_secs(60)).unwrap();
        Self { hub, address, directory, lines, stop, thread: Some(thread) }
    }

    pub fn url(&self) -> HubUrl {
        format!("https://{}", self.address).parse().unwrap()
    }

    pub fn token(&self, purpose: Purpose) -> Token {
        self.token_until(purpose, WallTime::from_unix_nanos(u64::MAX / 2))
    }

    pub fn token_until(&self, purpose: Purpose, expires: WallTime) -> Token {
        let secret = Secret::new(hub::trust::secret::random().unwrap());
        self.hub.store.add_token(TokenRow { hash: secret.hash(), purpose, expires }).unwrap();
        Token { purpose, secret, authority: self.hub.authority.fingerprint() }
    }

    pub fn join(&self, at: &Path, name: &str, token: Token) -> Result<(), JoinError> {
        let joining =
            Joining { hub: self.url(), token, name: name.to_owned(), address: None, limits: Limits::default() };
        join(&AgentDirectory::at(at), &joining)
    }

    /// The connection of an agent that has joined.
    pub fn agent(&self, at: &Path) -> Connection {
        let opened = AgentDirectory::at(at).open().unwrap();
        Connection::new(self.url(), pin::agent(opened.identity, &opened.authority).unwrap())
    }

    /// The connection of a person with a token.
    pub fn person(&self, token: &Token) -> Connection {
        Connection::new(self.url(), pin::bearer(token.authority).unwrap()).with_token(token.reveal())
    }

    pub fn log(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// Stops it, and gives its directory back.
    pub fn stop(mut self) -> TempDir {
        self.end();
        std::mem::replace(&mut self.directory, TempDir::new().unwrap())
    }

    fn end(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// A hub on a free port of loopback.
pub fn settings() -> Settings {
    Settings::new("127.0.0.1:0".parse().unwrap(), vec!["127.0.0.1".to_owned()])
}

/// A plan of the hosts a and b with one test between them.
pub struct TwoHosts {
    /// When: lines of `[times]`.
    pub times: &'static str,
    /// What: lines of `[[tests]]`.
    pub test: &'static str,
}

impl TwoHosts {
    pub fn text(&self) -> String {
        let Self { times, test } = self;
        format!(
            "title = \"two\"\n[times]\n{times}\n[hosts.a]\naddress = \"192.0.2.1\"\n[hosts.b]\naddress = \"192.0.2.2\"\n\
             [groups.all]\nmesh = [\"a\", \"b\"]\n[[tests]]\n{test}\n"
        )
    }
}

/// Another authority than any hub's of these tests.
pub fn stranger() -> Fingerprint {
    Fingerprint::of(b"nobody")
}
