//! Prompts of routers: IOS has no blank before the command, Junos has one, and names the user.

/// `R1-BRANCH#ping …`, `admin@edge2> show …` of a router.
pub(super) fn router_of_prompt(line: &str) -> Option<String> {
    let (prompt, command) = line.trim().split_once(['#', '>'])?;
    let (name, command) = match prompt.split_once('@') {
        Some((_, name)) => (name, command.trim_start()),
        None => (prompt, command),
    };
    let is_asked = ["ping ", "show ", "traceroute "].iter().any(|asked| command.starts_with(asked));
    let is_name = (2..=63).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (is_asked && is_name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_prompt_name_their_router() {
        let name = |line| router_of_prompt(line);
        assert_eq!(name("R1-BRANCH#ping 192.0.2.1").as_deref(), Some("R1-BRANCH"));
        assert_eq!(name("admin@edge2> show interfaces extensive").as_deref(), Some("edge2"));
        assert_eq!(name("edge2> show me"), None);
        assert_eq!(name("admin@edge2> edit"), None);
    }
}
