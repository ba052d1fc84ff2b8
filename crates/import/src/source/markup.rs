//! Pages and wikis: HTML's tags, the blocks of Jira. What they stand around is a log all the same.

use std::borrow::Cow;

/// Whether a text is a page: some tag of a block is closed, or lines are broken by tags.
pub(super) fn is_page(text: &str) -> bool {
    const TAGS: [&str; 9] = ["</pre>", "</code>", "</p>", "</div>", "</td>", "<br>", "<br/>", "<br />", "</body>"];
    // Logs of tools have no such bracket.
    text.contains('<') && TAGS.iter().any(|tag| text.contains(tag))
}

/// A page without its tags. Where a block begins or ends, so does a line.
pub(super) fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        match tag(from) {
            Some((name, length)) => {
                let breaks = BLOCKS.iter().any(|block| block.eq_ignore_ascii_case(name));
                if breaks && !plain.ends_with('\n') && !from[length..].starts_with('\n') {
                    plain.push('\n');
                } else if name.eq_ignore_ascii_case("td") || name.eq_ignore_ascii_case("th") {
                    plain.push(' ');
                }
                rest = &from[length..];
            }
            None => {
                plain.push('<');
                rest = &from[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The name of the tag that a text begins with, and its length.
fn tag(text: &str) -> Option<(&str, usize)> {
    let inside = text.get(1..)?;
    let name = inside.strip_prefix('/').unwrap_or(inside);
    name.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(())?;
    let end = inside.bytes().take(LONGEST).position(|byte| byte == b'>')?;
    let name_end = name.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(name.len());
    Some((&name[..name_end], end + 2))
}

/// An attribute may hold an address.
const LONGEST: usize = 4096;

const BLOCKS: [&str; 16] =
    ["pre", "p", "div", "br", "tr", "li", "ul", "ol", "h1", "h2", "h3", "h4", "body", "html", "table", "blockquote"];

/// A line without the marks of Jira's blocks: `{code:bash}`, `{noformat}`, `{quote}`.
pub(super) fn without_blocks(line: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(line);
    for name in ["code", "quote", "b", "i", "u", "pre", "spoiler"] {
        // Forums: `[code]`, `[quote=Somebody]`, `[/b]`.
        for open in [format!("[{name}]"), format!("[/{name}]"), format!("[{name}=")] {
            while let Some(at) = line.find(&open) {
                let Some(length) = line[at..].find(']') else { break };
                line = Cow::Owned(format!("{}{}", &line[..at], &line[at + length + 1..]));
            }
        }
    }
    for name in ["{code", "{noformat", "{quote", "{panel"] {
        while let Some(at) = line.find(name) {
            let Some(length) = line[at..].find('}') else { break };
            let inside = &line[at + name.len()..at + length];
            if !inside.is_empty() && !inside.starts_with(':') {
                break;
            }
            line = Cow::Owned(format!("{}{}", &line[..at], &line[at + length + 1..]));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_a_browser_shows_it() {
        let page = "<html><h2>Test</h2><pre><code>Connecting to host a, port 1\n[  5] 1 < 2</code></pre>a<br>b<br>\nc";
        assert!(is_page(page));
        assert_eq!(without_tags(page), "\nTest\nConnecting to host a, port 1\n[  5] 1 < 2\na\nb\nc");
        assert!(!is_page("a < b and b > c"));
    }

    #[test]
    fn blocks_of_a_wiki_are_no_output() {
        assert_eq!(without_blocks("{code:title=a|lang=bash}"), "");
        assert_eq!(without_blocks("{noformat}iperf Done.{noformat}"), "iperf Done.");
        assert_eq!(without_blocks("{\"code\": 1}"), "{\"code\": 1}");
        assert_eq!(without_blocks("{codes}"), "{codes}");
        assert_eq!(without_blocks("[code]D:\\>iperf3 -c a[/code]"), "D:\\>iperf3 -c a");
        assert_eq!(without_blocks("[b]10 Gbit[/b] [quote=Jo]x"), "10 Gbit x");
        assert_eq!(without_blocks("[  5] [SUM] [=>]"), "[  5] [SUM] [=>]");
    }
}
