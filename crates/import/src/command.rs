//! The command before an output, as a shell's transcript has it.

use super::options::{self, Arguments};
use super::parsed::ParsedTest;

/// Which tool a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// iperf 2.
    Iperf2,
    /// iperf3.
    Iperf3,
    /// nuttcp.
    Nuttcp,
}

/// A command that runs one of the tools.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) tool: Tool,
    /// The tool's own argument list.
    pub(crate) words: Vec<String>,
    arguments: Arguments,
}

impl Command {
    /// The command in `text`, which may have a prompt, a loop or another program around it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words = words(text);
        let at = words.iter().position(|word| tool(word).is_some())?;
        let tool = tool(&words[at])?;
        let until = words[at..].iter().position(|word| ends_command(word)).map_or(words.len(), |end| at + end);
        let words = words[at..until].to_vec();
        // Its version or help is asked for, and no test.
        let asks = |word: &String| ["-v", "--version", "-h", "--help"].contains(&word.as_str());
        if tool != Tool::Nuttcp && words.iter().skip(1).any(asks) {
            return None;
        }
        let arguments = match tool {
            Tool::Iperf2 => options::iperf2::read(&words[1..]),
            Tool::Iperf3 => options::iperf3::read(&words[1..]),
            Tool::Nuttcp => options::nuttcp::read(&words[1..]),
        };
        Some(Self { tool, words, arguments })
    }

    /// Whether its output is JSON, or may be: a command that does not say so may have been run by a script.
    pub(crate) fn prints_json(&self) -> bool {
        let letters = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('J');
        self.tool == Tool::Iperf3 && self.words.iter().any(|word| word.starts_with("--json") || letters(word))
    }

    /// The label that the command puts before each line.
    pub(crate) fn tag(&self) -> Option<&str> {
        self.arguments.tag.as_deref()
    }

    /// Writes into `parsed` what the command says.
    pub(crate) fn tell(&self, parsed: &mut ParsedTest, line: usize) {
        parsed.command.clone_from(&self.words);
        parsed.options = self.arguments.options.clone();
        parsed.target.clone_from(&self.arguments.target);
        for (expected, found) in &self.arguments.odd {
            parsed.anomalies.add(line, expected.clone(), found);
        }
    }
}

/// Splits what follows a shell's prompt off a line: `[user@host ~]$ command`, `$ command`, `# command`.
pub(crate) fn after_prompt(line: &str) -> Option<&str> {
    // Most lines have neither letter, which is found out faster than where two of them stand.
    line.bytes().any(|byte| matches!(byte, b'$' | b'#')).then_some(())?;
    let (prompt, command) = line.split_once("$ ").or_else(|| line.split_once("# "))?;
    // Spaces stand in a prompt only between brackets.
    let plain = |text: &str| !text.contains(char::is_whitespace);
    let bracketed = prompt.starts_with('[') && prompt.trim_end().ends_with(']') && prompt.contains('@');
    // `pi@raspberrypi:~ $ `, `core@node-a ~ $ `.
    let spaced = prompt.split_whitespace().next().is_some_and(|first| first.contains('@'))
        && prompt.split_whitespace().count() <= 2;
    (plain(prompt) || bracketed || spaced).then_some(command.trim()).filter(|command| !command.is_empty())
}

/// What follows a prompt, or a line that starts with a tool's name.
pub(crate) fn command_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    after_prompt(line).or_else(|| is_bare(line).then_some(line.trim())).or_else(|| after_label(line))
}

/// Whether a line begins with a tool's name: no command goes on so.
pub(crate) fn begins_with_tool(line: &str) -> bool {
    without_sudo(line).split_whitespace().next().is_some_and(|word| tool(word).is_some())
}

/// Whether a line begins with a tool, maybe in a folder, and goes on with an option: prose speaks of `iperf tests` as well.
fn is_bare(line: &str) -> bool {
    let line = without_sudo(line);
    let Some((program, rest)) = line.split_once(' ') else { return false };
    line.starts_with("nuttcp ") || (tool(program).is_some() && rest.trim_start().starts_with('-'))
}

/// A command that root is to run, where the prompt was left out.
fn without_sudo(line: &str) -> &str {
    line.trim_start().strip_prefix("sudo ").map_or(line, str::trim_start)
}

/// A command behind what is no prompt of a shell of Unix: `C:\Users\me>iperf3 -c …`, `PS C:\> .\iperf3.exe -c …`, `Command: iperf3 -c …`.
fn after_label(line: &str) -> Option<&str> {
    // A folder may have the name of the tool as well.
    line.match_indices("iperf").find_map(|(at, _)| {
        let start = line[..at].rfind(['>', ' ']).map_or(0, |blank| blank + 1);
        let (label, command) = line.split_at_checked(start)?;
        let label = label.trim_end();
        let is_windows = label.ends_with('>') && label.contains(":\\");
        let is_label = label.ends_with([':', '~']) && label.split_whitespace().count() <= MOST_WORDS;
        ((is_windows || is_label) && is_bare(command)).then_some(command.trim())
    })
}

/// A sentence with a command in it has more words before it.
const MOST_WORDS: usize = 3;

/// Whether a word ends a command: for a shell, or since a person has begun a remark with it, in which a shell would find an error.
fn ends_command(word: &str) -> bool {
    END.contains(&word) || word.starts_with(['(', '#', '\u{2190}']) || word.starts_with("<-")
}

/// What ends a command in a shell.
const END: [&str; 7] = [";", "|", "||", "&&", "&", ">", "2>&1"];

fn tool(word: &str) -> Option<Tool> {
    let name = word.rsplit(['/', '\\']).next()?;
    match name.strip_suffix(".exe").unwrap_or(name) {
        "iperf" | "iperf2" => Some(Tool::Iperf2),
        "iperf3" => Some(Tool::Iperf3),
        "nuttcp" => Some(Tool::Nuttcp),
        _ => None,
    }
}

/// Words as a shell splits them. A quoted command within (`sh -c "…"`) is split as well, since only the tool in it
/// matters; nothing is expanded.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in text.chars() {
        match letter {
            '"' | '\'' | ' ' | '\t' => words.push(String::new()),
            ';' | '|' => words.extend([letter.to_string(), String::new()]),
            _ => {
                if let Some(word) = words.last_mut() {
                    word.push(letter);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_found_within_a_loop_and_a_shell() {
        let line =
            "[me@host ~]$ for i in 2 ; do sh -c \"numactl -C $(($i-1)) iperf3 -c there -t 60 -B 192.0.2.1\"; done";
        let command = Command::parse(after_prompt(line).unwrap()).unwrap();
        assert_eq!(command.words, ["iperf3", "-c", "there", "-t", "60", "-B", "192.0.2.1"]);
        assert_eq!(command.arguments.target.as_deref(), Some("there"));
    }

    #[test]
    fn remarks_behind_a_command_are_none_of_its_words() {
        for behind in ["   (sin backup)", "  # again", " <--- this one"] {
            let command = Command::parse(&format!("iperf3 -c there -t5{behind}")).unwrap();
            assert_eq!(command.words, ["iperf3", "-c", "there", "-t5"], "{behind}");
            assert_eq!(command.arguments.odd, []);
        }
    }

    #[test]
    fn rows_are_no_prompts() {
        assert_eq!(after_prompt("[  5]   0.00-1.00   sec  1.13 GBytes"), None);
        assert_eq!(after_prompt("it costs 5 $ a day"), None);
        assert_eq!(after_prompt("$ nuttcp -T 1 x"), Some("nuttcp -T 1 x"));
        assert!(Command::parse("ls -l").is_none());
    }

    #[test]
    fn windows_and_labels_have_commands_behind_them_and_prose_has_none() {
        for line in [
            r"C:\Users\me\iperf-3.1.3-win64>iperf3.exe -c 192.0.2.1 -R",
            r"PS C:\tools> .\iperf3.exe -c 192.0.2.1 -R",
            "Command used: iperf3 -c 192.0.2.1 -R",
            "\u{279c}  ~ iperf3 -c 192.0.2.1 -R",
            "./iperf3 -c 192.0.2.1 -R",
        ] {
            let command = command_line(line).and_then(Command::parse).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(command.words[1..], ["-c", "192.0.2.1", "-R"], "{line}");
        }
        for line in [
            "I ran this on both: iperf tests of an hour",
            "iperf3: error - unable to connect",
            "so what is iperf -c for",
        ] {
            assert_eq!(command_line(line), None, "{line}");
        }
    }
}
