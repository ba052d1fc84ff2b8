//! Chromium without a window, by its own protocol (Chrome DevTools Protocol) over two pipes.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::PATIENCE;

/// A browser with one page, and with cookies, storage and a cache that no other has.
pub struct Browser {
    /// Until it is given back.
    chromium: Option<Chromium>,
    events: VecDeque<Value>,
    context: String,
    session: Option<String>,
}

/// What a page is looked at with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    pub scheme: &'static str,
    pub is_phone: bool,
}

pub const LIGHT: Screen = Screen { width: 1200, height: 900, scheme: "light", is_phone: false };
pub const DARK: Screen = Screen { scheme: "dark", ..LIGHT };
pub const PHONE: Screen = Screen { width: 390, height: 844, scheme: "light", is_phone: true };

impl Browser {
    /// Opens one, in a process that a test before has left or in a new one.
    pub fn start() -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let chromium = Some(idle.unwrap_or_else(Chromium::start));
        let mut browser = Self { chromium, events: VecDeque::new(), context: String::new(), session: None };
        let context = browser.ask("Target.createBrowserContext", &json!({}))["browserContextId"].take();
        let page = json!({ "url": "about:blank", "browserContextId": context });
        browser.context = context.as_str().unwrap().to_owned();
        let target = browser.ask("Target.createTarget", &page)["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for part in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{part}.enable"), &json!({}));
        }
        // Those of a window without one would cover the edge of what is kept as a picture.
        browser.ask("Emulation.setScrollbarsHidden", &json!({ "hidden": true }));
        browser
    }

    /// Opens pages of servers from now on whose certificates nobody has signed that it knows.
    pub fn trust_everybody(&mut self) {
        self.ask("Security.setIgnoreCertificateErrors", &json!({ "ignore": true }));
    }

    /// Looks from now on with this.
    pub fn look_with(&mut self, screen: Screen) {
        let Screen { width, height, scheme, is_phone } = screen;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Opens an address, and waits until the page says that it shows everything.
    #[track_caller]
    pub fn open(&mut self, address: &str) {
        self.events.clear();
        let gone = self.ask("Page.navigate", &json!({ "url": address }));
        assert!(gone.get("errorText").is_none(), "{address}: {gone}");
        self.arrive();
    }

    /// Opens an address of a document without scripts.
    #[track_caller]
    pub fn open_document(&mut self, address: &str) {
        self.events.clear();
        let gone = self.ask("Page.navigate", &json!({ "url": address }));
        assert!(gone.get("errorText").is_none(), "{address}: {gone}");
        self.wait_for("Page.loadEventFired");
    }

    /// Waits for the page that a click leads to.
    #[track_caller]
    pub fn arrive(&mut self) {
        self.wait_for("Page.loadEventFired");
        let ready = "new Promise((done) => { const look = () => document.documentElement?.dataset.ready ? done(1) \
                     : setTimeout(look, 20); look(); })";
        self.value(ready);
    }

    /// Does something that leads to a document without scripts.
    #[track_caller]
    pub fn follow_document(&mut self, expression: &str) {
        self.events.clear();
        self.value(expression);
        self.wait_for("Page.loadEventFired");
    }

    /// Does something that leads to an address, which is not opened: the whole address.
    #[track_caller]
    pub fn intercepted(&mut self, expression: &str, path: &str) -> String {
        self.events.clear();
        let pattern = json!([{ "urlPattern": format!("*{path}*"), "requestStage": "Request" }]);
        self.ask("Fetch.enable", &json!({ "patterns": pattern }));
        self.value(expression);
        self.wait_for("Fetch.requestPaused");
        let paused = self.events.iter().find(|event| event["method"] == "Fetch.requestPaused").unwrap();
        let paused = paused["params"].clone();
        self.ask("Fetch.failRequest", &json!({ "requestId": paused["requestId"], "errorReason": "Aborted" }));
        self.ask("Fetch.disable", &json!({}));
        paused["request"]["url"].as_str().unwrap().to_owned()
    }

    /// Does something that leads to another page by way of one without scripts, which goes on by itself.
    #[track_caller]
    pub fn follow_through(&mut self, expression: &str) {
        self.events.clear();
        self.value(expression);
        self.wait_for("Page.loadEventFired");
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
        self.arrive();
    }

    /// What an expression is on the page, promises waited for.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        self.value_within(expression, PATIENCE)
    }

    /// The same of one that may take longer.
    #[track_caller]
    pub fn value_within(&mut self, expression: &str, patience: Duration) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = self.ask_within("Runtime.evaluate", &asked, patience);
        assert!(found.get("exceptionDetails").is_none(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Runs a script on the page, as an extension of the browser would: the page's policy does not forbid it.
    #[track_caller]
    pub fn run_script(&mut self, script: &str) {
        let found = self.ask("Runtime.evaluate", &json!({ "expression": script }));
        assert!(found.get("exceptionDetails").is_none(), "{found}");
    }

    /// The text that the page shows.
    pub fn text(&mut self) -> String {
        self.value("document.body.innerText").as_str().unwrap().to_owned()
    }

    /// Does something that leads to another page.
    #[track_caller]
    pub fn follow(&mut self, expression: &str) {
        self.events.clear();
        self.value(expression);
        self.arrive();
    }

    /// Presses Enter on what has the focus, and waits for the page that follows.
    #[track_caller]
    pub fn press_enter_and_follow(&mut self) {
        self.events.clear();
        let key =
            json!({ "type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r" });
        self.ask("Input.dispatchKeyEvent", &key);
        self.arrive();
    }

    /// Presses a key on what has the focus.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.ask("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// Complaints of the browser since the last page was opened: scripts that failed, what the policy of the page forbids.
    pub fn complaints(&mut self) -> Vec<Value> {
        // Events that came before this answer are here by now.
        self.value("1");
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            // What the page asks for and is refused, it shows itself.
            Some("Log.entryAdded") => {
                let entry = &event["params"]["entry"];
                let is_shown =
                    entry["url"].as_str().is_some_and(|url| url.contains("/view/v1/") || url.contains("/api/v1/"));
                entry["level"] == "error" && !is_shown
            }
            _ => false,
        };
        self.events.iter().filter(is_complaint).cloned().collect()
    }

    /// Keeps a picture of the whole page.
    pub fn picture(&mut self, file: &Path) {
        let taken = self.ask("Page.captureScreenshot", &json!({ "format": "png", "captureBeyondViewport": true }));
        std::fs::write(file, BASE64.decode(taken["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    #[track_caller]
    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.ask_within(method, parameters, PATIENCE)
    }

    #[track_caller]
    fn ask_within(&mut self, method: &str, parameters: &Value, patience: Duration) -> Value {
        let chromium = self.chromium.as_mut().unwrap();
        let sent = chromium.send(method, parameters, self.session.as_deref());
        let asked = sent.unwrap_or_else(|error| panic!("chromium has ended ({error}): run scripts/setup test"));
        loop {
            let mut said = self.hear(method, patience);
            if said["id"] == asked {
                assert!(said.get("error").is_none(), "{method}: {said}");
                return said["result"].take();
            }
            self.events.push_back(said);
        }
    }

    #[track_caller]
    fn wait_for(&mut self, event: &str) {
        while !self.events.iter().any(|one| one["method"] == event) {
            let said = self.hear(event, PATIENCE);
            self.events.push_back(said);
        }
    }

    #[track_caller]
    fn hear(&self, what: &str, patience: Duration) -> Value {
        loop {
            let heard = self.chromium.as_ref().unwrap().messages.recv_timeout(patience);
            let heard =
                heard.unwrap_or_else(|error| panic!("chromium does not say {what} ({error}): run scripts/setup test"));
            // A page that a test before has left may still have said something.
            if heard["sessionId"].is_null() || heard["sessionId"].as_str() == self.session.as_deref() {
                return heard;
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let Some(mut chromium) = self.chromium.take() else { return };
        // One that a failed test leaves ends with it: nobody knows what it was at.
        if !thread::panicking() && chromium.dispose(&self.context) {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(chromium);
        }
    }
}

/// Its processes. To start them takes more CPU time than most pages do, so they serve one test after the other, each with a context
/// (the browser's word for a private window) of its own.
struct Chromium {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    asked: u64,
    _profile: TempDir,
}

/// Those that nobody looks with now: as many as tests have had one at once.
static IDLE: Mutex<Vec<Chromium>> = Mutex::new(Vec::new());

impl Chromium {
    /// Starts it with a profile of its own.
    fn start() -> Self {
        let profile = TempDir::new().unwrap();
        // It reads what it is asked from descriptor 3 and answers on 4. Its sandbox wants a user that is not root. It ends once nobody
        // can ask it any more, and nobody drops what is idle when all tests are done: the shell that waits for it removes the profile.
        let script = "chromium --headless=new --remote-debugging-pipe --no-sandbox --no-first-run --disable-gpu \
                      --disable-background-networking --disable-component-update --disable-sync --no-proxy-server \
                      --disable-dev-shm-usage --user-data-dir=\"$PROFILE\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1
                      rm -rf \"$PROFILE\"";
        let mut command = Command::new("sh");
        // All that it writes goes with its profile: what it leaves in the folder for temporary files nobody else removes.
        command.args(["-c", script]).envs(["PROFILE", "HOME", "TMPDIR"].map(|name| (name, profile.path())));
        let mut child = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (heard, messages) = channel();
        thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Ok(message) = message else { return };
                if heard.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, input, messages, asked: 0, _profile: profile }
    }

    /// Asks it, or a page of it: the number that its answer has.
    fn send(&mut self, method: &str, parameters: &Value, session: Option<&str>) -> io::Result<u64> {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.input.write_all(&bytes)?;
        Ok(self.asked)
    }

    /// Closes the page of a context and forgets all that it has kept. Returns whether it says that it has.
    fn dispose(&mut self, context: &str) -> bool {
        let asked = self.send("Target.disposeBrowserContext", &json!({ "browserContextId": context }), None);
        let Ok(asked) = asked else { return false };
        while let Ok(said) = self.messages.recv_timeout(PATIENCE) {
            if said["id"] == asked {
                return said.get("error").is_none();
            }
        }
        false
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It fails only where all have ended already.
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status();
        let _ = self.child.wait();
    }
}
