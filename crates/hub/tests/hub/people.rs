//! People sign in, do what their role permits and no more, and what they do is written down.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hub::server::counters::Event;
use hub::store::people::AccountRow;
use hub::trust::password::{Password, PasswordHash};
use hub::trust::pin;
use hub::trust::role::AccountRole;
use hub::trust::token::Purpose;
use rustls::{ClientConnection, StreamOwned};
use serde_json::{Value, json};
use units::WallTime;

use crate::backing;
use crate::running::Running;

const PASSWORD: &str = "correct horse battery";

/// What a browser of the hub's own page sends, by default.
#[derive(Debug, Clone, Default)]
struct Asked<'a> {
    method: &'a str,
    path: &'a str,
    cookie: Option<&'a str>,
    site: &'a str,
    body: String,
}

impl<'a> Asked<'a> {
    fn get(path: &'a str) -> Self {
        Self { method: "GET", path, site: "same-origin", ..Self::default() }
    }

    fn post(path: &'a str, body: &Value) -> Self {
        Self { method: "POST", path, site: "same-origin", body: body.to_string(), ..Self::default() }
    }

    fn with(self, cookie: &'a str) -> Self {
        Self { cookie: Some(cookie), ..self }
    }
}

struct Answered {
    status: u16,
    head: String,
    body: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The cookie that was set, as a browser sends it back.
    fn cookie(&self) -> String {
        let line = self.head.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
        line["set-cookie: ".len()..].split(';').next().unwrap().to_owned()
    }
}

fn ask(hub: &Running, asked: &Asked<'_>) -> Answered {
    let socket = TcpStream::connect(hub.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let tls = pin::bearer(hub.hub.authority.fingerprint()).unwrap();
    let name = "127.0.0.1".try_into().unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(tls, name).unwrap(), socket);
    let Asked { method, path, site, body, .. } = asked;
    let cookie = asked.cookie.map_or_else(String::new, |cookie| format!("cookie: other=1; {cookie}\r\n"));
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\nsec-fetch-site: {site}\r\n{cookie}content-length: {length}\r\n\
         connection: close\r\n\r\n{body}",
        hub.address
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answered { status, head: head.to_owned(), body: body.to_owned() }
}

fn add(hub: &Running, name: &str, role: AccountRole) {
    let password = PasswordHash::of(&Password::chosen(PASSWORD.to_owned()).unwrap()).unwrap();
    let changed = hub.hub.now();
    hub.hub.store.set_account(AccountRow { name: name.to_owned(), role, password, changed }).unwrap();
}

fn sign_in(hub: &Running, name: &str) -> String {
    let answered = ask(hub, &Asked::post("/api/v1/session", &json!({ "name": name, "password": PASSWORD })));
    assert_eq!(answered.status, 200, "{}", answered.body);
    answered.cookie()
}

/// The cookie of a viewer who has signed in.
pub fn signed_in(hub: &Running, name: &str) -> String {
    add(hub, name, AccountRole::Viewer);
    sign_in(hub, name)
}

#[test]
fn pages_hold_no_data_and_their_data_want_an_account() {
    let hub = Running::start();
    for path in ["/", "/assets/app.js", "/incident/I1-1", "/plan"] {
        let answered = ask(&hub, &Asked::get(path));
        assert_eq!(answered.status, 200, "{path}");
        assert!(answered.head.contains("content-security-policy: default-src 'none'"), "{}", answered.head);
    }
    for path in ["/view/v1/overview", "/api/v1/incidents", "/incident/I1-1/report.html"] {
        assert_eq!(ask(&hub, &Asked::get(path)).status, 401, "{path}");
    }
    assert_eq!(ask(&hub, &Asked::get("/assets/../hub.toml")).status, 404);
    add(&hub, "ada", AccountRole::Viewer);
    let cookie = sign_in(&hub, "ada");
    assert_eq!(ask(&hub, &Asked::get("/view/v1/overview").with(&cookie)).status, 200);
    assert_eq!(ask(&hub, &Asked::get("/incident/I1-1/report.html").with(&cookie)).status, 404);
}

#[test]
fn a_cookie_is_for_this_host_and_no_script_and_ends_with_the_session() {
    let hub = Running::start();
    add(&hub, "ada", AccountRole::Operator);
    let answered = ask(&hub, &Asked::post("/api/v1/session", &json!({ "name": "ada", "password": PASSWORD })));
    for part in ["__Host-linerate=", "Secure", "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(answered.head.contains(part), "{part}: {}", answered.head);
    }
    let cookie = answered.cookie();
    let who = ask(&hub, &Asked::get("/api/v1/session").with(&cookie)).json();
    assert_eq!(who, json!({ "has_accounts": true, "name": "ada", "role": "operator" }));
    let secret = cookie.split_once('=').unwrap().1;
    let database = backing::kept(hub.directory.path());
    let is_there = |text: &str| database.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(is_there("ada") && !is_there(secret) && !is_there(PASSWORD), "no secret stands in the database");
    assert!(!hub.log().contains(secret) && !hub.log().contains(PASSWORD));
    assert_eq!(ask(&hub, &Asked::post("/api/v1/session/end", &json!({})).with(&cookie)).status, 413);
    let out = Asked { body: String::new(), ..Asked::post("/api/v1/session/end", &json!({})).with(&cookie) };
    assert_eq!(ask(&hub, &out).status, 200);
    assert_eq!(ask(&hub, &Asked::get("/view/v1/overview").with(&cookie)).status, 401);
}

#[test]
fn a_session_ends_with_its_time_its_account_and_its_password() {
    let hub = Running::start();
    add(&hub, "ada", AccountRole::Viewer);
    let cookie = sign_in(&hub, "ada");
    let reads = || ask(&hub, &Asked::get("/view/v1/overview").with(&cookie)).status;
    assert_eq!(reads(), 200);
    add(&hub, "ada", AccountRole::Viewer);
    assert_eq!(reads(), 401, "its password was set anew");
    let hash = hub::trust::digest::Fingerprint::of(b"a session of before");
    let expires = WallTime::from_unix_nanos(hub.hub.now().unix_nanos() - 1);
    let session = hub::store::people::SessionRow { hash, account: "ada".to_owned(), expires };
    hub.hub.store.add_session(session, WallTime::default()).unwrap();
    assert_eq!(hub.hub.store.session(hash, hub.hub.now()).unwrap(), None);
    let cookie = sign_in(&hub, "ada");
    hub.hub.store.remove_account("ada").unwrap();
    assert_eq!(ask(&hub, &Asked::get("/view/v1/overview").with(&cookie)).status, 401);
}

#[test]
fn each_role_opens_what_it_opens_and_deeds_are_written_down() {
    let hub = Running::start();
    for (name, role) in [("vera", AccountRole::Viewer), ("olaf", AccountRole::Operator), ("ada", AccountRole::Admin)] {
        add(&hub, name, role);
    }
    let plan = Asked::post("/api/v1/plan", &json!({ "text": "no plan" }));
    let accounts = Asked::get("/api/v1/accounts");
    let by_name = [("vera", 403, 403), ("olaf", 400, 403), ("ada", 400, 200)];
    for (name, sets_plan, lists) in by_name {
        let cookie = sign_in(&hub, name);
        assert_eq!(ask(&hub, &plan.clone().with(&cookie)).status, sets_plan, "{name}");
        assert_eq!(ask(&hub, &accounts.clone().with(&cookie)).status, lists, "{name}");
    }
    let ada = sign_in(&hub, "ada");
    let wish = json!({ "name": "noc", "role": "viewer", "password": PASSWORD });
    let listed = ask(&hub, &Asked::post("/api/v1/accounts", &wish).with(&ada));
    assert!(listed.body.contains("noc") && !listed.body.contains("argon2"), "{}", listed.body);
    let last = ask(&hub, &Asked::post("/api/v1/accounts", &json!({ "name": "ada", "role": "viewer" })).with(&ada));
    assert_eq!(last.status, 409, "the last admin stays one: {}", last.body);
    for wrong in [
        json!({ "name": "a b", "role": "viewer" }),
        json!({ "name": "new", "role": "viewer" }),
        json!({ "name": "x", "role": "viewer", "password": "short" }),
    ] {
        assert_eq!(ask(&hub, &Asked::post("/api/v1/accounts", &wrong).with(&ada)).status, 400, "{wrong}");
    }
    assert_eq!(ask(&hub, &Asked::post("/api/v1/accounts", &json!({ "name": "vera" })).with(&ada)).status, 200);
    let actions = ask(&hub, &Asked::get("/api/v1/actions").with(&ada)).json();
    let words: Vec<String> = actions["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["who"].as_str().unwrap(), one["what"].as_str().unwrap()))
        .collect();
    assert_eq!(words[..3], ["ada account vera removed", "ada account noc: viewer, password set", "ada signed in"]);
    assert!(!words.concat().contains(PASSWORD));
    // A token opens what it always opened, and no accounts.
    let token = hub.token(Purpose::Operate);
    let call =
        hub::agent::connection::Call { method: "GET", path: "/api/v1/accounts", patience: Duration::from_secs(60) };
    let refused = hub.person(&token).call::<Value>(&call, &hub::api::Nothing {}).unwrap_err();
    assert!(matches!(refused, hub::agent::connection::CallError::Refused { status: 403, .. }), "{refused:?}");
}

#[test]
fn other_sites_do_nothing_in_the_name_of_who_has_signed_in() {
    let hub = Running::start();
    add(&hub, "ada", AccountRole::Admin);
    let cookie = sign_in(&hub, "ada");
    let wish =
        Asked::post("/api/v1/accounts", &json!({ "name": "eve", "role": "admin", "password": PASSWORD })).with(&cookie);
    for site in ["cross-site", "same-site", "none"] {
        assert_eq!(ask(&hub, &Asked { site, ..wish.clone() }).status, 403, "{site}");
    }
    let signs_in = Asked::post("/api/v1/session", &json!({ "name": "ada", "password": PASSWORD }));
    assert_eq!(ask(&hub, &Asked { site: "cross-site", ..signs_in }).status, 403);
    assert_eq!(hub.hub.store.accounts().unwrap().len(), 1);
}

#[test]
fn whoever_tries_passwords_waits_and_learns_nothing() {
    let hub = Running::start();
    add(&hub, "ada", AccountRole::Viewer);
    let attempt =
        |name: &str| ask(&hub, &Asked::post("/api/v1/session", &json!({ "name": name, "password": "wrong password" })));
    let (of_ada, of_nobody) = (attempt("ada"), attempt("nobody<script>"));
    assert_eq!((of_ada.status, of_ada.body.as_str()), (of_nobody.status, of_nobody.body.as_str()));
    let answers: Vec<u16> = (0..8).map(|_| attempt("ada").status).collect();
    assert!(answers.starts_with(&[403, 403, 403, 403]) && answers.contains(&429), "{answers:?}");
    let actions = hub.hub.store.actions(100).unwrap();
    assert!(
        actions.iter().any(|action| action.who == "nobodyscript" && action.what == "signing in failed"),
        "{actions:?}"
    );
    // What is too large to be a name and a password is not read.
    let before = hub.hub.counters.get(Event::RequestRefused);
    let large = Asked::post("/api/v1/session", &json!({ "name": "ada", "password": "x".repeat(60_000) }));
    assert_eq!(ask(&hub, &large).status, 413);
    assert!(hub.hub.counters.get(Event::RequestRefused) > before);
}
