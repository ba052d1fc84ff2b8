//! Examples below `--help`, on a terminal that is narrower than they are.
//!
//! An example is a command and, behind two spaces or more, what it is for. Wrapped as a paragraph the two run into each other, and a
//! command that goes on in the next line cannot be copied.

use clap::Command;

/// A command whose examples, and those of its subcommands, fit so many columns.
pub fn fitted(command: Command, width: usize) -> Command {
    let command = command.mut_subcommands(|subcommand| fitted(subcommand, width));
    let examples = command.get_after_help().map(|text| laid_out(&text.to_string(), width));
    match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    }
}

fn laid_out(text: &str, width: usize) -> String {
    let lines = text.lines().map(|line| {
        let is_example =
            line.starts_with("  ") && line.trim_start().starts_with(|letter: char| letter.is_ascii_lowercase());
        if is_example && line.chars().count() > width { example(line, width) } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// One that is too long: its comment below it, and a shell's `\` where the command itself goes on.
fn example(line: &str, width: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    let (command, comment) = match line.trim_start().split_once("  ") {
        Some((command, comment)) => (command, comment.trim()),
        None => (line.trim_start(), ""),
    };
    let further = " ".repeat(indent + 4);
    let (mut lines, mut line) = (Vec::new(), " ".repeat(indent));
    for word in command.split(' ') {
        let begins = line.trim().is_empty();
        // Room for the space before the word and for the sign that the line goes on.
        if !begins && line.chars().count() + word.chars().count() + 1 + CONTINUED.len() > width {
            lines.push(std::mem::replace(&mut line, further.clone()) + CONTINUED);
        } else if !begins {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    if !comment.is_empty() {
        lines.push(format!("{further}{comment}"));
    }
    lines.join("\n")
}

const CONTINUED: &str = " \\";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    const TEXT: &str = "Examples:
  linerate round init . dtn-west measure@dtn-east > mesh.toml    this host, and two that ssh reaches
  linerate round mesh.toml --dry-run    what it would do
  linerate hub init hub --name hub1.example.net --name mesh.example.net --database postgres://linerate@db/linerate

A value such as 25ms..2s is drawn for each transfer, and all settings see the same draws: this is a paragraph.";

    #[test]
    fn a_comment_stands_below_a_command_that_has_no_room_for_it() {
        let laid_out = laid_out(TEXT, 80);
        let lines: Vec<&str> = laid_out.lines().collect();
        assert_eq!(lines[1], "  linerate round init . dtn-west measure@dtn-east > mesh.toml");
        assert_eq!(lines[2], "      this host, and two that ssh reaches");
        assert_eq!(lines[3], "  linerate round mesh.toml --dry-run    what it would do");
        assert_eq!(lines[4], "  linerate hub init hub --name hub1.example.net --name mesh.example.net \\");
        assert_eq!(lines[5], "      --database postgres://linerate@db/linerate");
        assert_eq!(laid_out.lines().last(), TEXT.lines().last(), "a paragraph is wrapped as one");
    }

    #[test]
    fn no_example_is_wider_than_80_columns_and_each_keeps_its_words() {
        fn check(command: &Command) {
            command.get_subcommands().for_each(check);
            let Some(text) = command.get_after_help().map(ToString::to_string) else { return };
            let laid_out = laid_out(&text, 80);
            let words = |text: &str| {
                text.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(words(&text), words(&laid_out), "{}", command.get_name());
            for line in laid_out.lines().filter(|line| line.trim_start().starts_with("linerate ")) {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
        check(&crate::cli::Cli::command());
    }
}
