//! A first-time user: the demonstration is started, its page is opened, and all else is what the pages say. The fault is found, its cause is
//! read, the fix is applied as it stands on the page, and the post-mortem is there.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::actors::chromium::{Browser, DARK, LIGHT, PHONE};
use crate::actors::linerate::program;
use crate::actors::process::{Lines, Process};

struct Demonstration {
    browser: Browser,
    place: TempDir,
    process: Process,
    talk: Lines,
}

impl Demonstration {
    fn start() -> Self {
        let place = TempDir::new().unwrap();
        let mut command = program();
        command.args(["hub", "demo", "--by-hand"]);
        let mut process = Process::start(at(&place, &mut command));
        let talk = process.stdout();
        let line = talk.wait_for("an address", |line| line.contains("http://"));
        let mut browser = Browser::start();
        browser.look_with(LIGHT);
        browser.open(&line[line.find("http://").unwrap()..]);
        Self { browser, place, process, talk }
    }

    /// Waits until the page shows something, without asking for it anew: what it is, as an expression.
    #[track_caller]
    fn wait_for(&mut self, expression: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        let shown = format!(
            "new Promise((done) => {{ const until = Date.now() + 20000, look = () => {{ const found = {expression};
               if (found || Date.now() > until) done(found || null); else setTimeout(look, 100); }}; look(); }})"
        );
        loop {
            let found = self.browser.value(&shown);
            if !found.is_null() {
                return found;
            }
            assert!(Instant::now() < until, "{expression}: {}", self.browser.text());
        }
    }

    /// Keeps pictures of what is shown now, where somebody wants them.
    fn keep(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("LINERATE_PICTURES") else { return };
        for (screen, of) in [(PHONE, "phone"), (DARK, "dark"), (LIGHT, "light")] {
            self.browser.look_with(screen);
            self.browser.picture(&PathBuf::from(&folder).join(format!("{name}-{of}.png")));
        }
    }

    /// Types a command into a shell, and says yes to what it asks.
    #[track_caller]
    fn type_in(&self, command: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} --yes")]);
        let output = at(&self.place, &mut shell).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A command of a user with a place of their own.
fn at<'a>(place: &TempDir, command: &'a mut Command) -> &'a mut Command {
    command.env("XDG_RUNTIME_DIR", place.path()).env("XDG_STATE_HOME", place.path()).env("TMPDIR", place.path())
}

#[test]
fn a_first_time_user_finds_the_fault_reads_why_fixes_it_and_has_the_post_mortem() {
    let mut demo = Demonstration::start();
    // Nobody reloads the page: it says that something is wrong once that was measured.
    demo.wait_for("document.querySelector('a[href^=\"/incident/\"]')?.innerText");
    demo.keep("live-overview");
    demo.browser.follow("document.querySelector('a[href^=\"/incident/\"]').click()");
    let why = demo.wait_for("document.querySelector('.verdict strong')?.innerText");
    assert!(why.as_str().unwrap().starts_with("receive-window-small at site-b"), "{why}");
    let text = demo.browser.text();
    assert!(text.contains("tcp_rmem: 4096 131072 6291456 -> 4096 16384 32768 on site-b"), "{text}");

    demo.keep("live-incident");

    // The one command that is there fixes it, from the shell of the same user.
    let commands = "[...document.querySelectorAll('section code')].map((one) => one.innerText)\
                    .filter((one) => one.includes(' host fix '))";
    let commands: Vec<String> = serde_json::from_value(demo.browser.value(commands)).unwrap();
    assert!(commands[0].contains("lab exec site-b -- ") && commands[0].contains("BUF-RMEM-BDP"), "{commands:?}");
    demo.type_in(&commands[0]);
    demo.wait_for("/^(verified|closed)/.test(document.querySelector('h1').innerText)");
    assert_eq!(demo.browser.complaints(), Vec::<Value>::new());

    demo.browser.follow("document.querySelector('a[href$=\"/report\"]').click()");
    let text = demo.browser.text();
    for part in ["## Root cause", "receive-window-small", "## Timeline", "tcp_rmem"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    demo.keep("live-report");
    let saved = demo.browser.value("fetch(document.querySelector('a[download]').href).then((one) => one.status)");
    assert_eq!(saved, 200);
    demo.talk.wait_for("the end of the incident", |line| line.contains("its post-mortem: http://"));
    demo.process.signal("INT");
    assert_eq!(demo.process.wait().code(), Some(0));
}

/// The baseline takes a minute and a half, the incident half of one, on a machine with nothing else to do.
const PATIENCE: Duration = Duration::from_secs(240);
