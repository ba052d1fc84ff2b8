//! Towards a file of settings: a value stays on its line.

/// Why a text may not become a line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The first character that is refused.
    pub letter: char,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it has the control character U+{:04X}, which no setting has", u32::from(self.letter))
    }
}

impl std::error::Error for Refused {}

/// Whether a text is one line of a file, and nothing else.
///
/// # Errors
/// The first control character or separator of lines in it; a tab is none.
pub fn line(text: &str) -> Result<&str, Refused> {
    match text.chars().find(|&letter| letter != '\t' && crate::terminal::acts(letter)) {
        Some(letter) => Err(Refused { letter }),
        None => Ok(text),
    }
}

/// Whether a name may stand between the quotes of a rule of udev(7): no quote that ends it, no sign of its patterns or
/// substitutions.
#[must_use]
pub fn is_plain_in_udev(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.:@+".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_a_line_break_is_refused() {
        assert_eq!(line("4096\t131072\t6291456"), Ok("4096\t131072\t6291456"));
        for text in ["1\nkernel.core_pattern = |/tmp/x", "1\r", "a\0", "\u{2028}"] {
            assert!(line(text).is_err(), "{text:?}");
        }
        assert!(line("a\nb").unwrap_err().to_string().contains("U+000A"));
    }

    #[test]
    fn signs_of_udev_are_no_names() {
        assert!(is_plain_in_udev("eth0.100") && is_plain_in_udev("aa:bb:cc:dd:ee:ff"));
        for text in ["", "eth*", "a\"b", "$name", "%k", "a|b", "a b", "[ab]"] {
            assert!(!is_plain_in_udev(text), "{text}");
        }
    }
}
