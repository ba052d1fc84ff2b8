//! Towards a command line: one word stays one word, and none of it is run.

use std::borrow::Cow;

/// One word to any POSIX shell, whatever is in it. A character that a terminal obeys is shown instead ([`crate::terminal`]),
/// because a command is read before it is typed: such a word fits no device and no file, so the command fails.
#[must_use]
pub fn word(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", crate::terminal::line(text).replace('\'', "'\\''")))
}

/// As [`word`], with every character as it is: for a shell that is started by this program.
#[must_use]
pub fn exact_word(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
}

/// Words with a blank between them, as they stand in a text; each is one word, blanks part them.
#[must_use]
pub fn words(text: &str) -> String {
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Words as one line that a shell takes apart into the same words.
pub fn joined<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&exact_word(word.as_ref()));
    }
    line
}

/// Whether a whole text is harmless in any line of a shell: letters, digits and signs that no shell reads.
#[must_use]
pub fn is_harmless(text: &str) -> bool {
    text.chars().all(|letter| is_plain(letter) || letter == ' ')
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a POSIX shell makes of a line of words, none of which it may expand.
    fn split(line: &str) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match letter {
                ' ' => words.extend(word.take()),
                '\'' => {
                    let word = word.get_or_insert_with(String::new);
                    loop {
                        match letters.next()? {
                            '\'' => break,
                            inside => word.push(inside),
                        }
                    }
                }
                '\\' => word.get_or_insert_with(String::new).push(letters.next()?),
                plain if is_plain(plain) => word.get_or_insert_with(String::new).push(plain),
                _ => return None,
            }
        }
        words.extend(word);
        Some(words)
    }

    proptest! {
        #[test]
        fn a_line_of_words_is_taken_apart_into_the_same_words(words in proptest::collection::vec(any::<String>(), 1..5)) {
            prop_assert_eq!(split(&joined(&words)), Some(words));
        }

        #[test]
        fn a_word_that_is_shown_stays_one_word_without_controls(text in any::<String>()) {
            let shown = word(&text);
            prop_assert_eq!(split(&shown), Some(vec![crate::terminal::line(&text).into_owned()]));
            prop_assert!(!shown.chars().any(crate::terminal::acts));
        }
    }

    #[test]
    fn what_needs_no_quotes_has_none() {
        assert_eq!(words("mtu lock 8900 $(id)"), "mtu lock 8900 '$(id)'");
        assert_eq!(word(""), "''");
        assert_eq!(word("eth0.100"), "eth0.100");
        assert!(is_harmless("4096 131072 6291456") && !is_harmless("a;b") && !is_harmless("a\nb"));
    }
}
