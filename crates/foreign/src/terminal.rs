//! Towards a terminal: what a terminal would obey is shown instead.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A text as part of a line: nothing in it moves the cursor, begins a line or turns the direction of what follows.
/// Control characters appear as their pictures (`␛`, `␊`), others as U+FFFD.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    if text.chars().any(acts) {
        Cow::Owned(text.chars().map(|letter| if acts(letter) { picture(letter) } else { letter }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// A text of several lines, such as a whole report: as [`line()`], but line breaks and tabs stay, and a carriage return
/// before a line break.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| acts(letter) && !matches!(letter, '\n' | '\t');
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_line = letter == '\r' && letters.peek() == Some(&'\n');
        shown.push(if acts(letter) && !ends_line { picture(letter) } else { letter });
    }
    Cow::Owned(shown)
}

/// What another program said, as part of a message: its further lines are indented, so that none of them looks like a
/// line of ours.
#[must_use]
pub fn indented(text: &str) -> String {
    let text = lines(text.trim_end());
    text.split('\n').collect::<Vec<_>>().join("\n  ")
}

/// A value each text of which, name or content, is fit for a line. [`None`] where it is no value of JSON.
#[must_use]
pub fn lines_of<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    // By way of text twice: [`serde_json::to_value`] and [`serde_json::from_value`] would be a second writer and a second
    // reader of each type that is shown: 0.9 MB of the program.
    let mut json = serde_json::from_slice(&serde_json::to_vec(value).ok()?).ok()?;
    clean(&mut json);
    serde_json::from_slice(&serde_json::to_vec(&json).ok()?).ok()
}

/// JSON as text in which no character acts: it reads back as the same value.
#[must_use]
pub fn json(text: String) -> String {
    if !text.chars().any(|letter| acts(letter) && letter != '\n') {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 64);
    for letter in text.chars() {
        if acts(letter) && letter != '\n' {
            // All of them are in the first plane.
            escaped.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = line(text) {
                *text = clean;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(map) => {
            if map.keys().any(|key| key.chars().any(acts)) {
                *map = std::mem::take(map).into_iter().map(|(key, value)| (line(&key).into_owned(), value)).collect();
            }
            map.values_mut().for_each(clean);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a terminal obeys a character instead of showing it: controls of ISO 6429 in both halves, line and paragraph
/// separators, and what turns the direction of text (Unicode 15, section 23.2 and UAX 9, table 4).
#[must_use]
pub fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The picture of a control character of ASCII (Unicode block 2400), else the replacement character.
fn picture(letter: char) -> char {
    match u32::from(letter) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(line("eth0\n      do  rm -rf /"), "eth0␊      do  rm -rf /");
        assert_eq!(line("\u{1b}]0;owned\u{7}"), "␛]0;owned␇");
        assert_eq!(line("a\u{9b}2Jb\u{202e}c"), "a\u{fffd}2Jb\u{fffd}c");
        assert_eq!(lines("a\tb\nc\r"), "a\tb\nc␍");
        assert_eq!(indented("ssh: no\nhint: run this\n"), "ssh: no\n  hint: run this");
        assert!(matches!(line("dtn1.example µs 日本"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn no_text_acts_on_the_terminal(text in any::<String>()) {
            prop_assert!(!line(&text).chars().any(acts));
            let shown = lines(&text).replace("\r\n", "\n");
            prop_assert!(!shown.chars().any(|letter| acts(letter) && !matches!(letter, '\n' | '\t')));
            prop_assert!(indented(&text).lines().skip(1).all(|line| line.starts_with("  ")));
        }

        #[test]
        fn a_value_is_cleaned_in_names_and_contents(key in any::<String>(), text in any::<String>()) {
            let value = serde_json::json!({ key: [text, { "x": 1.5 }] });
            let clean = lines_of(&value).unwrap();
            fn acting(value: &Value) -> bool {
                match value {
                    Value::String(text) => text.chars().any(acts),
                    Value::Array(values) => values.iter().any(acting),
                    Value::Object(map) => map.iter().any(|(key, value)| key.chars().any(acts) || acting(value)),
                    _ => false,
                }
            }
            prop_assert!(!acting(&clean));
        }

        #[test]
        fn json_that_is_made_harmless_is_the_same_value(text in any::<String>()) {
            let value = serde_json::json!({ text.clone(): text });
            let harmless = json(value.to_string());
            prop_assert!(!harmless.chars().any(acts));
            prop_assert_eq!(serde_json::from_str::<Value>(&harmless).unwrap(), value);
        }
    }
}
