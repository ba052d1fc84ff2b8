//! Files with sections in brackets and lines `name=value`.

/// One setting of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) section: &'a str,
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) line: u32,
}

/// The settings in `text`, and the lines that are none.
pub(super) fn read(text: &str) -> (Vec<Entry<'_>>, Vec<u32>) {
    let (mut entries, mut unknown) = (Vec::new(), Vec::new());
    let mut section = "";
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
        } else if let Some((name, value)) = line.split_once('=') {
            entries.push(Entry { section, name: name.trim(), value: value.trim(), line: number });
        } else {
            unknown.push(number);
        }
    }
    (entries, unknown)
}
