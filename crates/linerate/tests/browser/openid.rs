//! People sign in at a hub by a provider of OpenID Connect: a real one over TLS, walked by a browser.

use std::fs;
use std::path::Path;

use hub::store::Store as _;
use hub::store::people::People as _;
use hub::store::rows::Judgement;
use hub::store::sqlite::Sqlite;
use serde_json::json;
use tempfile::TempDir;

use super::Visit;
use super::hub::{incident, points};
use crate::actors::chromium::Browser;
use crate::actors::linerate::linerate;
use crate::actors::openid_provider::Provider;

/// A hub whose people sign in by a provider; with an incident to look at.
fn hub(provider: &Provider) -> (TempDir, String, Sqlite) {
    let place = TempDir::new().unwrap();
    let directory = place.path().join("hub").to_str().unwrap().to_owned();
    let secret = provider.secret.to_str().unwrap();
    let made = linerate(&[
        "hub",
        "init",
        &directory,
        "--name",
        "127.0.0.1",
        "--listen",
        "127.0.0.1:0",
        "--openid",
        &provider.issuer,
        "--openid-client",
        "linerate",
        "--openid-secret-file",
        secret,
        "--openid-role",
        "admin=noc-admins",
        "--openid-role",
        "operator=noc",
    ]);
    assert_eq!(made.code, Some(0), "{made:?}");
    trust(Path::new(&directory), provider);
    let store = Sqlite::open(&place.path().join("hub/hub.db")).unwrap();
    store.judged(Judgement { incidents: vec![incident()], points: points(), ..Judgement::default() }).unwrap();
    (place, directory, store)
}

/// Has the hub trust the provider's certificate.
fn trust(directory: &Path, provider: &Provider) {
    let file = directory.join("hub.toml");
    let text = fs::read_to_string(&file).unwrap();
    let line = format!("[openid]\nca_file = {:?}\n", provider.authority);
    assert!(text.contains("[openid]\n"), "{text}");
    fs::write(&file, text.replace("[openid]\n", &line)).unwrap();
}

/// Goes to the provider from the hub's page, and says there who one is.
fn authorize(visit: &mut Visit, subject: &str) -> String {
    let site = visit.site.clone();
    visit.browser.open_document(&format!("{site}/sign-in/openid"));
    let there = visit.browser.value("location.href").as_str().unwrap().to_owned();
    for asked in
        ["code_challenge_method=S256", "response_type=code", "nonce=", "state=", "scope=openid%20profile%20email"]
    {
        assert!(there.contains(asked), "{asked}: {there}");
    }
    format!("[...document.querySelectorAll('button[name=sub]')].find((one) => one.value === '{subject}').click()")
}

#[test]
fn a_group_of_the_provider_gives_a_role_and_what_is_done_has_a_name() {
    let provider = Provider::start(&json!([
        { "sub": "1", "preferred_username": "ada", "groups": ["staff", "noc"] },
        { "sub": "2", "preferred_username": "eve", "groups": ["staff"] },
        { "sub": "3", "preferred_username": "ada", "groups": ["noc"] },
    ]));
    let (_place, directory, store) = hub(&provider);
    let mut visit = Visit::of_hub(&directory);
    let text = visit.look_at("/", "openid-sign-in");
    assert!(text.contains("Sign in with localhost") && !text.contains("site-b"), "{text}");

    // Whoever the provider knows has a role only by a group of [openid.roles].
    let eve = authorize(&mut visit, "2");
    visit.browser.follow_document(&eve);
    let text = visit.browser.text();
    assert!(text.contains("Not signed in") && text.contains("eve has no role at this hub"), "{text}");

    let ada = authorize(&mut visit, "1");
    visit.browser.follow_through(&ada);
    let text = visit.browser.text();
    assert!(text.contains("openid:ada (operator)") && text.contains("receive-window-small at site-b"), "{text}");
    visit.look_at("/incident/I1795521600-1", "openid-incident");
    visit.submit("Record it", &[("step", "note"), ("text", "the vendor is called")]);
    let text = visit.browser.text();
    assert!(text.contains("openid:ada"), "a note has the name of its account: {text}");
    let cookies = visit.browser.value("document.cookie");
    assert_eq!(cookies, "", "no script reads a cookie");

    // Somebody else of the same name at the provider is not let into the account.
    visit
        .browser
        .follow("[...document.querySelectorAll('button')].find((one) => one.innerText === 'Sign out').click()");
    let other = authorize(&mut visit, "3");
    visit.browser.follow_document(&other);
    let text = visit.browser.text();
    assert!(text.contains("openid:ada was somebody else"), "{text}");

    let actions: Vec<String> =
        store.actions(100).unwrap().into_iter().map(|one| format!("{}: {}", one.who, one.what)).collect();
    for done in ["openid:ada: signed in by localhost as operator", "openid:ada: signed out"] {
        assert!(actions.iter().any(|action| action == done), "{done}: {actions:#?}");
    }
    assert!(actions.iter().any(|action| action.contains("eve has no role")), "{actions:#?}");
    let stored = format!("{actions:?}{:?}", store.accounts().unwrap());
    assert!(!stored.contains("s3cret"), "{stored}");
}

#[test]
fn groups_that_the_userinfo_endpoint_has_alone_give_a_role() {
    let provider = Provider::start(&json!([
        { "sub": "1", "preferred_username": "ada", "userinfo": { "groups": ["noc"] } },
        { "sub": "2", "preferred_username": "eve", "groups": [], "userinfo": { "groups": ["noc"] } },
        { "sub": "3", "preferred_username": "joe", "userinfo": { "sub": "1", "groups": ["noc"] } },
    ]));
    let (_place, directory, _store) = hub(&provider);
    let mut visit = Visit::of_hub(&directory);
    for (subject, why) in [("2", "eve has no role at this hub"), ("3", "speaks of somebody else")] {
        let refused = authorize(&mut visit, subject);
        visit.browser.follow_document(&refused);
        let text = visit.browser.text();
        assert!(text.contains("Not signed in") && text.contains(why), "{subject}: {text}");
    }
    let ada = authorize(&mut visit, "1");
    visit.browser.follow_through(&ada);
    let text = visit.browser.text();
    assert!(text.contains("openid:ada (operator)"), "{text}");
}

#[test]
fn an_answer_of_another_sign_in_or_a_second_time_signs_nobody_in() {
    let provider = Provider::start(&json!([{ "sub": "1", "preferred_username": "ada", "groups": ["noc-admins"] }]));
    let (_place, directory, _store) = hub(&provider);
    let mut visit = Visit::of_hub(&directory);
    let site = visit.site.clone();
    let refused = |browser: &mut Browser, query: &str, why: &str| {
        browser.open_document(&format!("{site}/sign-in/openid/return?{query}"));
        let text = browser.text();
        assert!(text.contains("Not signed in") && text.contains(why), "{query}: {text}");
    };
    refused(&mut visit.browser, "code=abc&state=def", "this browser has begun no such sign-in");
    authorize(&mut visit, "1");
    refused(&mut visit.browser, "code=abc&state=def", "this browser has begun no such sign-in");

    // What an attacker has begun and lets somebody else end: the code is good, the browser is not that of the attacker.
    let ada = authorize(&mut visit, "1");
    let stolen = visit.browser.intercepted(&ada, "/sign-in/openid/return");
    let mut victim = Browser::start();
    victim.trust_everybody();
    let query = stolen.split_once('?').unwrap().1;
    refused(&mut victim, query, "this browser has begun no such sign-in");
    visit.browser.follow_through(&format!("location.assign({})", serde_json::to_string(&stolen).unwrap()));
    let text = visit.browser.text();
    assert!(text.contains("openid:ada (admin)"), "the browser that has begun it: {text}");
    refused(&mut visit.browser, query, "this browser has begun no such sign-in");

    // A code that was invented.
    let begun = authorize(&mut visit, "1");
    let state = visit.browser.value("new URLSearchParams(location.search).get('state')");
    drop(begun);
    refused(
        &mut visit.browser,
        &format!("code=invented&state={}", state.as_str().unwrap()),
        "the provider refuses: invalid_grant",
    );
    // Somebody changes their mind. This provider hands no `state` back then, so that nobody knows whose refusal it is.
    authorize(&mut visit, "1");
    visit
        .browser
        .follow_document("[...document.querySelectorAll('button')].find((one) => one.value === 'deny').click()");
    let text = visit.browser.text();
    assert!(text.contains("Not signed in") && text.contains("begin again"), "{text}");
}
