//! A PostgreSQL of a test: in a scratch directory, behind a socket there, gone when the test program is.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use tempfile::Builder;

const PATIENCE: Duration = Duration::from_secs(60);

/// Obeys a line each, and cleans up at the end of its input, however the test program ended.
const SCRIPT: &str = r#"
trap '' INT TERM
stop() { [ -z "$server" ] || { kill -9 $server; wait $server; server=; } 2>/dev/null; }
place=$1
shift
initdb -D "$place/data" -U postgres -A trust --no-sync -E UTF8 --locale=C >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
printf 'local all locked scram-sha-256\nlocal all all trust\nhostssl all all all trust\n' >"$place/data/pg_hba.conf"
echo made
while read -r word; do
    case $word in
    start)
        rm -f "$place/data/postmaster.pid"
        postgres -D "$place/data" -k "$place" -c listen_addresses= -c fsync=off -c max_connections=100 "$@" >>"$place/log" 2>&1 &
        server=$! ;;
    kill) stop ;;
    esac
    echo "$word"
done
stop
rm -rf "$place"
"#;

/// A PostgreSQL that runs, or is stopped for a while.
pub struct Cluster {
    place: PathBuf,
    control: Mutex<(ChildStdin, BufReader<std::process::ChildStdout>)>,
    databases: AtomicUsize,
    port: String,
    _script: Child,
}

impl Cluster {
    /// One that lets everybody in but the user `locked`, whose password is `sesame`.
    pub fn start() -> Self {
        Self::with(&[], |_| {})
    }

    /// The same with other settings, after something was put into its directory.
    pub fn with(settings: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let place = Builder::new().prefix("pg").disable_cleanup(true).tempdir().unwrap().path().to_owned();
        let mut command = Command::new("sh");
        prepare(&place);
        command.args(["-c", SCRIPT, "sh"]).arg(&place).args(settings.iter().flat_map(|one| ["-c", one]));
        command.env("PATH", path()).current_dir("/");
        // Hubs of other users than the server's find the socket.
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        // PostgreSQL refuses to run as root.
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            let inside = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
            for path in inside.chain([place.clone()]) {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let mut says = BufReader::new(script.stdout.take().unwrap());
        let mut line = String::new();
        says.read_line(&mut line).unwrap();
        assert_eq!(line, "made\n", "initdb of PostgreSQL (Debian's package postgresql) fails");
        let port = settings.iter().find_map(|one| one.strip_prefix("port=")).unwrap_or("5432").to_owned();
        let control = Mutex::new((script.stdin.take().unwrap(), says));
        let cluster = Self { place, control, databases: AtomicUsize::new(0), port, _script: script };
        cluster.run();
        cluster.as_superuser("CREATE ROLE locked LOGIN PASSWORD 'sesame'");
        cluster
    }

    /// As a power cut would.
    pub fn kill(&self) {
        self.say("kill");
    }

    /// Starts it, and waits until it lets somebody in.
    pub fn run(&self) {
        self.say("start");
        let until = Instant::now() + PATIENCE;
        while Client::connect(&self.url("postgres", "postgres"), NoTls).is_err() {
            assert!(Instant::now() < until, "{}", fs::read_to_string(self.place.join("log")).unwrap_or_default());
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// The address of a new database.
    pub fn database(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.as_superuser(&format!("CREATE DATABASE {name}"));
        self.url("postgres", &name)
    }

    /// The address of a database for a user.
    pub fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@{}:{}/{database}", self.place.to_str().unwrap().replace('/', "%2F"), self.port)
    }

    /// Has a statement done.
    pub fn as_superuser(&self, statement: &str) {
        Client::connect(&self.url("postgres", "postgres"), NoTls).unwrap().batch_execute(statement).unwrap();
    }

    fn say(&self, word: &str) {
        let mut control = self.control.lock().unwrap();
        writeln!(control.0, "{word}").unwrap();
        let mut line = String::new();
        control.1.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), word);
    }
}

/// The programs of PostgreSQL are where Debian has each version, or where everybody looks.
fn path() -> String {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    let own = std::env::var("PATH").unwrap_or_default();
    let folders = folders.iter().map(|folder: &PathBuf| AsRef::<Path>::as_ref(folder).display().to_string());
    folders.chain([own]).collect::<Vec<_>>().join(":")
}

const NOBODY: u32 = 65534;
