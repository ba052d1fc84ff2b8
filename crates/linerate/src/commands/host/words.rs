//! A command typed as one word, in words again: blanks part them, quotes and backslashes keep what they keep in sh(1).
//! Nothing is expanded, and no shell runs.

/// The words of a line.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            blank if blank.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(inside) => word.push(inside),
                        None => return Err("a quote ' is not closed".to_owned()),
                    }
                }
            }
            '"' => quoted(&mut letters, word.get_or_insert_default())?,
            '\\' => {
                let next = letters.next().ok_or("nothing follows the last backslash")?;
                word.get_or_insert_default().push(next);
            }
            '$' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => {
                return Err(format!("`{letter}` would be for a shell, and none runs here: put it between quotes"));
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Up to the closing quote; a backslash keeps only itself and the quote.
fn quoted(letters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    loop {
        match letters.next() {
            Some('"') => return Ok(()),
            Some('\\') => match letters.next() {
                Some(kept @ ('"' | '\\')) => word.push(kept),
                Some(other) => word.extend(['\\', other]),
                None => break,
            },
            Some(inside) => word.push(inside),
            None => break,
        }
    }
    Err("a quote \" is not closed".to_owned())
}

#[cfg(test)]
mod tests {
    use foreign::shell::joined;

    use super::*;

    #[test]
    fn words_are_parted_as_a_shell_parts_them() {
        let cases: [(&str, &[&str]); 6] = [
            ("linerate test dtn2  -R", &["linerate", "test", "dtn2", "-R"]),
            ("a 'b c' \"d e\"f", &["a", "b c", "d ef"]),
            (r#"a\ b "c\"d" "e\f""#, &["a b", "c\"d", r"e\f"]),
            ("'' x", &["", "x"]),
            ("'$(x)'", &["$(x)"]),
            ("  ", &[]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for wrong in ["a 'b", "a \"b", "a\\", "a; b", "a $(b)", "a > b", "a | b", "a `b`"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_joined_is_split_into_the_same_words() {
        let words = ["linerate", "it's", "a b", "", "$x", "--rtt=5ms", "\"q\"", "back\\slash"].map(str::to_owned);
        assert_eq!(split(&joined(&words)).unwrap(), words);
        let line = format!("printf '%s\\n' {}", joined(&words));
        let shell = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(String::from_utf8(shell.stdout).unwrap().lines().collect::<Vec<_>>(), words);
    }
}
