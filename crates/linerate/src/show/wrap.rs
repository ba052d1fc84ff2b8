//! Text in lines that fit a terminal.

/// The words of a text in lines of at most 96 characters, each indented by so many blanks.
pub fn text(words: &str, indent: usize) -> String {
    const WIDTH: usize = 96;
    let mut lines = String::new();
    for paragraph in words.trim().split("\n\n") {
        let mut used = 0;
        for word in paragraph.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && indent + used + 1 + length > WIDTH {
                lines.push('\n');
                used = 0;
            }
            if used == 0 {
                lines.extend(std::iter::repeat_n(' ', indent));
            } else {
                lines.push(' ');
                used += 1;
            }
            lines.push_str(word);
            used += length;
        }
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_line_is_longer_than_a_terminal_unless_a_word_is() {
        let text = super::text(&"word ".repeat(100), 4);
        assert!(text.lines().all(|line| line.len() <= 96 && line.starts_with("    word")));
        assert_eq!(text.split_whitespace().count(), 100);
        assert_eq!(super::text(&"x".repeat(200), 0).lines().count(), 1);
    }
}
