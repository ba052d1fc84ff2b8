//! A page that is shown, and a browser that looks at it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::actors::chromium::{Browser, DARK, LIGHT, PHONE};
use crate::actors::from_registry;
use crate::actors::linerate::program;
use crate::actors::process::{Lines, Process};

/// `linerate view`, and a browser that looks at it.
pub struct Visit {
    pub browser: Browser,
    pub site: String,
    /// The script of axe-core.
    axe: String,
    _view: Process,
    _talk: Lines,
}

impl Visit {
    /// Opens what is shown of a file or a folder.
    pub fn of(what: &str) -> Self {
        let mut view = Process::start(program().args(["view", what, "--listen", "127.0.0.1:0"]));
        let talk = view.stdout();
        let address = talk.wait_for("an address", |line| line.starts_with("http://"));
        let site = address.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        Self { browser: Browser::start(), site, axe: axe(), _view: view, _talk: talk }
    }

    /// Opens what a hub that runs shows to whoever signs in.
    #[cfg(feature = "hub")]
    pub fn of_hub(directory: &str) -> Self {
        Self::of_hub_in(directory, &[])
    }

    /// The same of a hub with this in its environment.
    #[cfg(feature = "hub")]
    pub fn of_hub_in(directory: &str, environment: &[(&str, &str)]) -> Self {
        let mut command = program();
        command.args(["hub", "run", directory]).envs(environment.iter().copied());
        let mut hub = Process::start(&mut command);
        let talk = hub.stderr();
        let line = talk.wait_for("an address", |line| line.contains("listening on"));
        let site = format!("https://{}", line.rsplit(' ').next().unwrap());
        let mut browser = Browser::start();
        browser.trust_everybody();
        Self { browser, site, axe: axe(), _view: hub, _talk: talk }
    }

    /// Fills the form that has this button, presses it, and waits for the page that follows.
    #[cfg(feature = "hub")]
    #[track_caller]
    pub fn submit(&mut self, button: &str, values: &[(&str, &str)]) {
        self.browser.follow(&filled(button, values));
    }

    /// Fills the form that has this button, presses it, and waits for what the form says then.
    #[cfg(feature = "hub")]
    #[track_caller]
    pub fn try_submit(&mut self, button: &str, values: &[(&str, &str)]) -> String {
        let said = format!(
            "(async (form) => {{ const says = form.querySelector('.says');
               while (['', 'Asking'].includes(says.innerText)) await new Promise((later) => setTimeout(later, 20));
               return says.innerText; }})({})",
            filled(button, values)
        );
        self.browser.value(&said).as_str().unwrap().to_owned()
    }

    /// Opens a page in light, in dark and on a phone: none complains, none is wider than its screen, and axe-core finds nothing
    /// wrong. The text in light is returned.
    #[track_caller]
    pub fn look_at(&mut self, page: &str, name: &str) -> String {
        let mut text = String::new();
        for (screen, of) in [(PHONE, "phone"), (DARK, "dark"), (LIGHT, "light")] {
            self.browser.look_with(screen);
            self.browser.open(&format!("{}{page}", self.site));
            assert_eq!(self.browser.complaints(), Vec::<Value>::new(), "{page} in {of}");
            let wide =
                self.browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(wide, 0, "{page} in {of} is wider than its screen");
            let own = self.browser.value(OWN_BYTES).as_u64().unwrap();
            assert!((1..=MOST_OWN_BYTES).contains(&own), "{page} weighs {own} bytes without its data");
            let violations = self.violations();
            assert!(violations.is_empty(), "{page} in {of}: {violations:#?}");
            self.keep(&format!("{name}-{of}"));
            text = self.browser.text();
        }
        text
    }

    /// What axe-core finds wrong with what is shown now.
    pub fn violations(&mut self) -> Vec<String> {
        self.browser.run_script(&self.axe);
        serde_json::from_value(self.browser.value(VIOLATIONS)).unwrap()
    }

    /// Keeps a picture of what is shown now, where somebody wants them.
    pub fn keep(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("LINERATE_PICTURES") {
            self.browser.picture(&PathBuf::from(folder).join(format!("{name}.png")));
        }
    }

    /// The JSON of an address, as the page would fetch it.
    #[track_caller]
    pub fn json(&mut self, address: &str) -> Value {
        self.browser.value(&format!("fetch({}).then((one) => one.json())", Value::from(address)))
    }

    /// What each row of the page's tables says, cells joined by a bar.
    pub fn rows(&mut self) -> Vec<String> {
        let rows = "[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((one) => one.innerText).join('|'))";
        serde_json::from_value(self.browser.value(rows)).unwrap()
    }

    /// Where links lead to, by their text.
    pub fn links(&mut self) -> BTreeMap<String, String> {
        let links = "[...document.links].map((one) => [one.innerText, one.pathname + one.search])";
        let links: Vec<(String, String)> = serde_json::from_value(self.browser.value(links)).unwrap();
        links.into_iter().collect()
    }
}

/// Fills a form and presses its button, as an expression that is the form.
#[cfg(feature = "hub")]
fn filled(button: &str, values: &[(&str, &str)]) -> String {
    let values: BTreeMap<&str, &str> = values.iter().copied().collect();
    format!(
        "((button, values) => {{ for (const [name, value] of Object.entries(values)) button.form.elements[name].value = value;
           button.form.querySelector('.says').textContent = ''; button.click(); return button.form; }})\
         ([...document.querySelectorAll('form button')].find((one) => one.innerText === {}), {})",
        Value::from(button),
        serde_json::to_string(&values).unwrap()
    )
}

fn axe() -> String {
    let file = from_registry("axe-playwright-python/axe_playwright_python/axe.min.js");
    std::fs::read_to_string(file).unwrap()
}

/// What a page weighs as it is sent, without the data that it shows.
const OWN_BYTES: &str = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((one) => !/^\\/(view|api)\\/v1\\//.test(new URL(one.name).pathname)).reduce((sum, one) => sum + one.encodedBodySize, 0)";
const MOST_OWN_BYTES: u64 = 300_000;
/// What axe-core finds wrong: contrast, labels, roles, order, names of links and controls (WCAG 2.2 and good practice).
const VIOLATIONS: &str = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap((rule) =>
  rule.nodes.map((node) => `${rule.id}: ${rule.help}: ${node.html.slice(0, 120)}: ${node.any.map((one) => one.message).join('; ')}`)))";
