//! Which requests are answered at all.
//!
//! A page of another site cannot read an answer of ours, but a name that it owns can be made to point at this machine
//! (DNS rebinding): so the header `Host` has to be an address, `localhost`, or a name that was allowed.

use std::net::IpAddr;

use crate::exchange::{Problem, Request};

/// A request that is refused before it is looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) problem: Problem,
}

/// Refuses what no page of ours would ask.
pub(crate) fn check(request: &Request, names: &[String]) -> Result<(), Refused> {
    let refuse =
        |status, error: &str| Err(Refused { status, problem: Problem { error: error.to_owned(), hint: None } });
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return refuse(405, "pages are read only: GET and HEAD");
    }
    if !request.host.as_deref().is_some_and(|host| is_ours(host, names)) {
        return refuse(421, "this name is not one of this server");
    }
    // A link on another site may lead here; its scripts, pictures and frames may not.
    let is_foreign = request.fetch_site.as_deref().is_some_and(|site| matches!(site, "cross-site" | "same-site"));
    if is_foreign && request.fetch_mode.as_deref() != Some("navigate") {
        return refuse(403, "another site asked for this");
    }
    if request.query.len() > LONGEST_QUERY || request.path.len() > LONGEST_QUERY {
        return refuse(414, "this address is too long");
    }
    Ok(())
}

fn is_ours(host: &str, names: &[String]) -> bool {
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok()
        || names.iter().any(|name| name.eq_ignore_ascii_case(bare))
}

/// Two host names of DNS and all parameters are below this.
const LONGEST_QUERY: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_others_own_are_refused() {
        let with = |host: &str| Request { host: Some(host.to_owned()), ..Request::get("/") };
        for ours in ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "192.0.2.1"] {
            assert_eq!(check(&with(ours), &[]), Ok(()), "{ours}");
        }
        for other in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""] {
            assert_eq!(check(&with(other), &[]).unwrap_err().status, 421, "{other}");
        }
        assert_eq!(check(&with("hub.example.org:5210"), &["hub.example.org".to_owned()]), Ok(()));
        assert_eq!(check(&Request { host: None, ..Request::get("/") }, &[]).unwrap_err().status, 421);
    }

    #[test]
    fn other_sites_may_link_here_and_no_more() {
        let from = |site: &str, mode: &str| Request {
            fetch_site: Some(site.to_owned()),
            fetch_mode: Some(mode.to_owned()),
            ..Request::get("/view/v1/overview")
        };
        assert_eq!(check(&from("cross-site", "no-cors"), &[]).unwrap_err().status, 403);
        assert_eq!(check(&from("same-site", "cors"), &[]).unwrap_err().status, 403);
        assert_eq!(check(&from("cross-site", "navigate"), &[]), Ok(()));
        assert_eq!(check(&from("same-origin", "cors"), &[]), Ok(()));
        assert_eq!(check(&Request { method: "POST".to_owned(), ..Request::get("/") }, &[]).unwrap_err().status, 405);
    }
}
