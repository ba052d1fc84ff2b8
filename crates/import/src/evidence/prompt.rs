//! Prompts of routers: IOS has no blank before the command, Junos has one, and names the user; and those of zsh.

/// `R1-BRANCH#ping …`, `admin@edge2> show …` of a router.
pub(super) fn router_of_prompt(line: &str) -> Option<String> {
    let (prompt, command) = line.trim().split_once(['#', '>'])?;
    let (name, command) = match prompt.split_once('@') {
        Some((_, name)) => (name, command.trim_start()),
        // People put blanks behind it; behind the other letter stands prose as well.
        None if line.contains('#') => (prompt, command.trim_start()),
        None => (prompt, command),
    };
    let is_asked = ["ping ", "show ", "traceroute "].iter().any(|asked| command.starts_with(asked));
    let is_name = (2..=63).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (is_asked && is_name).then(|| name.to_owned())
}

/// Whether a line is a command of Windows, whose prompt names no host: `PS C:\Users\me> ping …`, `C:\>ping …`.
pub(super) fn is_of_windows(line: &str) -> bool {
    let line = line.trim();
    let line = line.strip_prefix("PS ").unwrap_or(line);
    line.get(1..3) == Some(":\\")
        && line.split_once('>').is_some_and(|(folder, command)| !folder.contains("  ") && !command.trim().is_empty())
}

/// Whether a line is a command of macOS's shell: `~ % networkQuality`, `ann@Anns-Mac Downloads % ping …`.
pub(super) fn is_of_zsh(line: &str) -> bool {
    let Some((prompt, command)) = line.trim().split_once(" % ") else { return false };
    let folder = prompt.rsplit(' ').next().unwrap_or(prompt);
    let is_command = command.starts_with(|first: char| first.is_ascii_lowercase() || matches!(first, '/' | '.'));
    is_command && prompt.split(' ').count() <= 2 && (folder.starts_with(['~', '/']) || prompt.contains('@'))
}

/// The host of such a prompt, which may have none.
pub(super) fn of_zsh(line: &str) -> Option<String> {
    let (prompt, _) = line.trim().split_once(" % ")?;
    let name = prompt.split(' ').next()?.split_once('@')?.1;
    (!name.is_empty() && name.len() <= 63).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_prompt_name_their_router() {
        let name = |line| router_of_prompt(line);
        assert_eq!(name("R1-BRANCH#ping 192.0.2.1").as_deref(), Some("R1-BRANCH"));
        assert_eq!(name("admin@edge2> show interfaces extensive").as_deref(), Some("edge2"));
        assert_eq!(name("core-sw#  show interfaces Gi1/0/48").as_deref(), Some("core-sw"));
        assert_eq!(name("edge2> show me"), None);
        assert_eq!(name("admin@edge2> edit"), None);
    }

    #[test]
    fn prompts_of_zsh_name_their_host_or_none() {
        assert!(is_of_zsh("~ % networkQuality -v") && of_zsh("~ % networkQuality -v").is_none());
        assert!(is_of_zsh("ann@Anns-Mac ~ % ping 192.0.2.1"));
        assert_eq!(of_zsh("ann@Anns-Mac ~ % ping 192.0.2.1").as_deref(), Some("Anns-Mac"));
        for line in ["  % Total    % Received % Xferd", "100 % of it", "loss of 3 % at 20 ms", "we lose 3 % of it"] {
            assert!(!is_of_zsh(line), "{line}");
        }
    }
}
