//! A post-mortem for a browser and for paper.

use pulldown_cmark::{Event, Options, Parser, html};

/// A whole page without scripts and without anything from elsewhere, named by the heading of the text. Markup in the text is shown as
/// text: names of hosts are a stranger's.
pub fn page(markdown: &str) -> String {
    let title = markdown.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("Report");
    let harmless = Parser::new_ext(markdown, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Html(markup) | Event::InlineHtml(markup) if markup.starts_with("<!--") => None,
        Event::Html(markup) | Event::InlineHtml(markup) => Some(Event::Text(markup)),
        event => Some(event),
    });
    let mut body = String::new();
    html::push_html(&mut body, harmless);
    let mut shown = String::new();
    html::push_html(&mut shown, std::iter::once(Event::Text(title.into())));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{shown}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n{body}</body>\n</html>\n"
    )
}

const STYLE: &str = "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}\
    h2{border-bottom:1px solid #bbb;break-after:avoid}table{border-collapse:collapse}\
    td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;border-bottom:1px solid #ddd}\
    td{overflow-wrap:anywhere}code{background:#eee;padding:0 .2rem}\
    @media(prefers-color-scheme:dark){body{background:#14181b;color:#e8eaed}code{background:#2a3136}}\
    @media print{body{background:#fff;color:#000;margin:0;max-width:none}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_strangers_is_text_and_links_run_no_script() {
        let page = page("# <script>alert(1)</script>\n\n<img src=x onerror=y>\n\n<!-- linerate a b -->\n\nx");
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("linerate a b"), "{page}");
        assert!(page.contains("<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>"), "{page}");
    }
}
