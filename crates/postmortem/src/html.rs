//! A post-mortem for a browser and for paper.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A picture in a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The heading of the section, at the end of which it stands.
    pub section: String,
    /// In a line below it.
    pub caption: String,
    /// A document of its own, made by this program.
    pub svg: String,
}

/// A whole page without scripts and without anything from elsewhere, named by the heading of the text. Markup in the text is shown as
/// text: names of hosts are a stranger's.
#[must_use]
pub fn page(markdown: &str, figures: &[Figure]) -> String {
    let title = markdown.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("Report");
    let harmless = Parser::new_ext(markdown, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Html(markup) | Event::InlineHtml(markup) if markup.starts_with("<!--") => None,
        Event::Html(markup) | Event::InlineHtml(markup) => Some(Event::Text(markup)),
        event => Some(event),
    });
    let mut body = String::new();
    html::push_html(&mut body, with_figures(harmless, figures).into_iter());
    let mut shown = String::new();
    html::push_html(&mut shown, std::iter::once(Event::Text(title.into())));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{shown}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Adds each figure at the end of its section.
fn with_figures<'a>(events: impl Iterator<Item = Event<'a>>, figures: &'a [Figure]) -> Vec<Event<'a>> {
    let (mut all, mut section, mut is_heading) = (Vec::new(), String::new(), false);
    for event in events {
        match &event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. }) => {
                all.extend(of_section(figures, &section));
                section.clear();
                is_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Text(text) if is_heading => section.push_str(text),
            _ => {}
        }
        all.push(event);
    }
    all.extend(of_section(figures, &section));
    all
}

fn of_section<'a>(figures: &'a [Figure], section: &str) -> Vec<Event<'a>> {
    let its = figures.iter().enumerate().filter(|(_, figure)| figure.section == section);
    its.map(|(number, figure)| drawn(number, figure)).collect()
}

/// A figure as markup. Its groups are named anew, since names are of one figure and there are several in a page.
fn drawn(number: usize, figure: &Figure) -> Event<'_> {
    let mut caption = String::new();
    html::push_html(&mut caption, std::iter::once(Event::Text(figure.caption.as_str().into())));
    let svg = figure.svg.replace("id=\"", &format!("id=\"f{number}-")).replace("url(#", &format!("url(#f{number}-"));
    Event::Html(CowStr::from(format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n")))
}

const STYLE: &str = "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}\
    h2{border-bottom:1px solid #bbb;break-after:avoid}table{border-collapse:collapse}\
    td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;border-bottom:1px solid #ddd}\
    td{overflow-wrap:anywhere}figure{margin:1rem 0}figure svg{max-width:100%;height:auto}code{background:#eee;padding:0 .2rem}\
    @media(prefers-color-scheme:dark){body{background:#14181b;color:#e8eaed}code{background:#2a3136}}\
    @media print{body{background:#fff;color:#000;margin:0;max-width:none}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_strangers_is_text_and_links_run_no_script() {
        let page = page("# <script>alert(1)</script>\n\n<img src=x onerror=y>\n\n<!-- linerate a b -->\n\nx", &[]);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("linerate a b"), "{page}");
        assert!(page.contains("<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>"), "{page}");
    }

    #[test]
    fn figures_stand_at_the_end_of_their_sections_under_names_of_their_own() {
        let figure = |section: &str, caption: &str| Figure {
            section: section.to_owned(),
            caption: caption.to_owned(),
            svg: "<svg><g id=\"a\"/><rect fill=\"url(#a)\"/></svg>".to_owned(),
        };
        let figures = [figure("Last", "b < c"), figure("First", "one"), figure("First", "two")];
        let page = page("# t\n\n## First\n\nx\n\n## Last\n\ny\n", &figures);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}: {page}"));
        let order = [at("<p>x</p>"), at(">one<"), at(">two<"), at("<h2>Last</h2>"), at("<p>y</p>"), at("b &lt; c")];
        assert!(order.is_sorted(), "{page}");
        assert!(page.contains("id=\"f1-a\"") && page.contains("url(#f2-a)"), "{page}");
    }
}
