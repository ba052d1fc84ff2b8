//! Chromium without a window, by its own protocol (Chrome DevTools Protocol) over two pipes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::PATIENCE;

/// A browser with one page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    events: VecDeque<Value>,
    session: Option<String>,
    asked: u64,
    _profile: TempDir,
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
    /// Starts it with a profile of its own.
    pub fn start() -> Self {
        let profile = TempDir::new().unwrap();
        // It reads what it is asked from descriptor 3 and answers on 4. Its sandbox wants a user that is not root.
        let script = "exec chromium --headless=new --remote-debugging-pipe --no-sandbox --no-first-run --disable-gpu \
                      --disable-background-networking --disable-component-update --disable-sync --no-proxy-server \
                      --disable-dev-shm-usage --user-data-dir=\"$PROFILE\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut command = Command::new("sh");
        // All that it writes goes with its profile: what it leaves in the folder for temporary files nobody else removes.
        command.args(["-c", script]).envs(["PROFILE", "HOME", "TMPDIR"].map(|name| (name, profile.path())));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
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
        let mut browser =
            Self { child, input, messages, events: VecDeque::new(), session: None, asked: 0, _profile: profile };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
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
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.input
            .write_all(&bytes)
            .unwrap_or_else(|error| panic!("chromium has ended ({error}): run scripts/setup test"));
        loop {
            let mut said = self.hear(method, patience);
            if said["id"] == self.asked {
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
        let heard = self.messages.recv_timeout(patience);
        heard.unwrap_or_else(|error| panic!("chromium does not say {what} ({error}): run scripts/setup test"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It fails only where it has ended already. Its own processes end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
