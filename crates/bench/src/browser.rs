//! Chromium without a window, by its own protocol (Chrome DevTools Protocol) over two pipes: how long a page takes, and what moves.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    asked: u64,
    _profile: TempDir,
}

/// A page, and what is true of it once it has everything.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) address: String,
    /// An expression of JavaScript.
    pub(crate) is_complete: &'static str,
}

/// What a visit to a page was like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    /// From the navigation until what the page is for was drawn, in milliseconds.
    pub(crate) shown_ms: f64,
    /// Cumulative layout shift (web-vitals) until the page had everything.
    pub(crate) shift: f64,
    /// Bytes of the page as it was sent: its shell, scripts and styles.
    pub(crate) own_bytes: f64,
    /// Bytes of the data that it shows, as they were sent.
    pub(crate) data_bytes: f64,
}

impl Browser {
    /// Starts it with a profile of its own.
    ///
    /// # Errors
    /// Where there is no chromium.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let profile = TempDir::new()?;
        // It reads what it is asked from descriptor 3 and answers on 4. Its sandbox wants a user that is not root.
        let script = "exec chromium --headless=new --remote-debugging-pipe --no-sandbox --no-first-run --disable-gpu \
                      --disable-background-networking --disable-component-update --disable-sync --no-proxy-server \
                      --disable-dev-shm-usage --user-data-dir=\"$PROFILE\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut command = Command::new("sh");
        command.args(["-c", script]).envs(["PROFILE", "HOME", "TMPDIR"].map(|name| (name, profile.path())));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).context("chromium has no pipes")?;
        let output = BufReader::new(output);
        let mut browser = Self { child, input, output, session: None, asked: 0, _profile: profile };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }))?["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }))?;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for part in ["Page", "Runtime", "Network"] {
            browser.ask(&format!("{part}.enable"), &json!({}))?;
        }
        let size = json!({ "width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser.ask("Emulation.setDeviceMetricsOverride", &size)?;
        browser.ask("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": OBSERVER }))?;
        Ok(browser)
    }

    /// Opens a page as somebody who was never here, until it has everything.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub(crate) fn visit(&mut self, page: &Page) -> anyhow::Result<Visit> {
        let Page { address, is_complete } = page;
        self.ask("Network.clearBrowserCache", &json!({}))?;
        let gone = self.ask("Page.navigate", &json!({ "url": address }))?;
        ensure!(gone.get("errorText").is_none(), "{address}: {gone}");
        // Of the document that comes: the one before is asked for nothing any more.
        let shown = self.value(&awaited("window.shownAt"))?;
        let shift = self.value(&format!("{}.then(() => window.shifted)", awaited(is_complete)))?;
        let bytes = |is_data: &str| format!("({SENT})({is_data})");
        let (own, data) = (self.value(&bytes("false"))?, self.value(&bytes("true"))?);
        Ok(Visit {
            shown_ms: shown.as_f64().context("the page shows nothing")?,
            shift: shift.as_f64().context("the page does not say what moved")?,
            own_bytes: own.as_f64().context("the page does not say what it weighs")?,
            data_bytes: data.as_f64().context("the page does not say what its data weigh")?,
        })
    }

    /// What an expression is on the page, promises waited for.
    ///
    /// # Errors
    /// Where it throws.
    pub(crate) fn value(&mut self, expression: &str) -> anyhow::Result<Value> {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = self.ask("Runtime.evaluate", &asked)?;
        ensure!(found.get("exceptionDetails").is_none(), "{expression}: {found}");
        Ok(found["result"]["value"].clone())
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.input.write_all(&bytes).context("chromium has ended (scripts/setup test installs it)")?;
        loop {
            let mut heard = Vec::new();
            self.output.read_until(0, &mut heard)?;
            ensure!(heard.pop() == Some(0), "chromium has ended (scripts/setup test installs it)");
            let mut heard: Value = serde_json::from_slice(&heard)?;
            if heard["id"] == self.asked {
                ensure!(heard.get("error").is_none(), "{method}: {heard}");
                return Ok(heard["result"].take());
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It fails only where it has ended already. Its own processes end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A promise of an expression, once it is true.
fn awaited(expression: &str) -> String {
    format!(
        "new Promise((done) => {{ const look = () => {{ const found = {expression}; if (found) done(found); \
         else setTimeout(look, 20); }}; look(); }})"
    )
}

/// Bytes of bodies as they were sent, compressed where they were: of data, or of all else.
const SENT: &str = "(isData) => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((one) => /^\\/(view|api)\\/v1\\//.test(new URL(one.name).pathname) === isData).reduce((sum, one) => sum + one.encodedBodySize, 0)";
/// Notes when the page says that it is ready, two frames later, when that was drawn; and what moves, by the API for layout instability.
const OBSERVER: &str = "window.shifted = 0;
new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value; })
  .observe({ type: 'layout-shift', buffered: true });
new MutationObserver(() => { if (document.documentElement?.dataset.ready && !window.shownAt)
  requestAnimationFrame(() => requestAnimationFrame(() => { window.shownAt ||= performance.now(); })); })
  .observe(document, { attributes: true, subtree: true });";
