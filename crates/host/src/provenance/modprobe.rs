//! Options of kernel modules (modprobe.d(5)).

use model::host::provenance::{Definition, Origin};

use super::{Gathering, layers};

pub(super) fn gather(gathering: &mut Gathering<'_>) {
    for file in layers::files(gathering.files, &DIRECTORIES) {
        let Some(text) = gathering.open(&file.path, file.masked_by.as_deref()) else { continue };
        for (number, line) in joined_lines(&text) {
            let mut words = line.split_whitespace();
            let (Some("options"), Some(module)) = (words.next(), words.next()) else { continue };
            for option in words {
                let (name, value) = option.split_once('=').unwrap_or((option, ""));
                let definition = Definition {
                    value: value.to_owned(),
                    origin: Origin::Modprobe,
                    file: file.path.clone(),
                    line: number,
                    pattern: None,
                    failure_ignored: false,
                    masked: file.masked_by.is_some(),
                };
                gathering.define(&setting(module, name), definition);
            }
        }
    }
}

/// The kernel makes no difference between `-` and `_` in the names of modules and options.
pub(super) fn setting(module: &str, option: &str) -> String {
    format!("module.{}.{}", module.replace('-', "_"), option.replace('-', "_"))
}

/// Lines without comments; a backslash at the end joins the next one. Each has the number of its first.
fn joined_lines(text: &str) -> Vec<(u32, String)> {
    let mut joined: Vec<(u32, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (part, more) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
        match joined.last_mut() {
            Some((_, whole)) if goes_on => {
                whole.push(' ');
                whole.push_str(part);
            }
            _ => joined.push((number, part.to_owned())),
        }
        goes_on = more;
    }
    joined.retain(|(_, line)| !line.trim_start().starts_with('#'));
    joined
}

/// The highest first.
const DIRECTORIES: [&str; 5] =
    ["/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"];
