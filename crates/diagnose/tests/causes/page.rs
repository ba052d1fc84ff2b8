//! docs/causes.md says what the catalogue says.

use diagnose::causes::{Catalogue, page};

#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/causes.md");
    let page = page::page(&Catalogue::by_hand());
    if std::env::var_os("UPDATE_CAUSES").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written == page, "docs/causes.md is old: UPDATE_CAUSES=1 cargo test -p diagnose --test causes");
}

#[test]
fn a_file_with_a_slip_is_refused_with_its_place() {
    let cause = |more: &str| {
        format!(
            "[[cause]]\nid = \"x\"\ntitle = \"t\"\nexplanation = \"e\"\nplace = \"sender\"\ntest = \"t\"\n\
             remedy = \"r\"\nverify = \"v\"\n{more}\n"
        )
    };
    let refused = |text: &str| Catalogue::read(&[("mine.toml", text)]).unwrap_err().to_string();
    let slip = refused(&cause("shows.limit = { los = 0.5 }"));
    assert!(slip.contains("mine.toml: cause x: there is no sign `limit` with a state `los`"), "{slip}");
    assert!(refused(&cause("shows.limit = { loss = 0.8, nothing = 0.4 }")).contains("at most 1"));
    assert!(refused(&cause("prior = -1")).contains("the prior"));
    let manner =
        |share: f64| format!("[[cause.manner]]\ntitle = \"t\"\nshare = {share:?}\nshows.limit = {{ loss = 0.5 }}");
    assert!(refused(&cause(&manner(1.0))).contains("the share of a manner"));
    assert!(refused(&cause(&manner(0.0))).contains("the share of a manner"));
    assert!(refused(&cause("colour = 1")).contains("line 9"), "{}", refused(&cause("colour = 1")));
    assert!(refused(&format!("{}{}", cause(""), cause(""))).contains("already"));
    assert_eq!(Catalogue::read(&[("mine.toml", &cause(""))]).unwrap().all().len(), 1);
}
