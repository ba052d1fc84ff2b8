//! Prompts of routers, which have no blank before the command.

/// `R1-BRANCH#ping …` of a router.
pub(super) fn router_of_prompt(line: &str) -> Option<String> {
    let (name, command) = line.trim().split_once(['#', '>'])?;
    let is_asked = ["ping ", "show ", "traceroute "].iter().any(|asked| command.starts_with(asked));
    let is_name = (2..=63).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (is_asked && is_name).then(|| name.to_owned())
}
