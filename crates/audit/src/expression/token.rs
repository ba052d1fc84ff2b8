//! The words and signs of an expression, as CEL's specification has them.

use super::bounds::fault_at;
use super::fault::Fault;

/// One word or sign, and the character of the source at which it starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) form: Form,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// A name or a word of the language, such as `in` and `true`.
    Word(String),
    /// A whole number; CEL's unsigned numbers (`1u`) are read as whole numbers.
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// A text without its quotes, escapes resolved.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// Behind the last one.
    End,
}

/// All tokens of a source, an `End` last.
///
/// # Errors
/// A character that starts nothing, a text that does not end, a number out of range.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, Fault> {
    let characters: Vec<char> = source.chars().collect();
    let mut reader = Reader { source, characters: &characters, at: 0 };
    let mut all = Vec::new();
    loop {
        reader.skip_blanks();
        let at = reader.at;
        let form = reader.form()?;
        let is_end = form == Form::End;
        all.push(Token { at, form });
        if is_end {
            return Ok(all);
        }
    }
}

struct Reader<'a> {
    source: &'a str,
    characters: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn ahead(&self, distance: usize) -> char {
        self.characters.get(self.at + distance).copied().unwrap_or(NOTHING)
    }

    fn starts(&self, with: &str) -> bool {
        with.chars().enumerate().all(|(index, character)| self.ahead(index) == character)
    }

    fn fault(&self, at: usize, message: impl Into<String>) -> Fault {
        fault_at(self.source, at, message)
    }

    fn skip_blanks(&mut self) {
        loop {
            while self.ahead(0).is_whitespace() {
                self.at += 1;
            }
            if !self.starts("//") {
                return;
            }
            while self.at < self.characters.len() && self.ahead(0) != '\n' {
                self.at += 1;
            }
        }
    }

    fn form(&mut self) -> Result<Form, Fault> {
        let first = self.ahead(0);
        if self.at >= self.characters.len() {
            return Ok(Form::End);
        }
        if first.is_ascii_digit() || (first == '.' && self.ahead(1).is_ascii_digit()) {
            return self.number();
        }
        if first == '"' || first == '\'' {
            return self.text(Escapes::Resolved);
        }
        if matches!(first, 'r' | 'R') && matches!(self.ahead(1), '"' | '\'') {
            self.at += 1;
            return self.text(Escapes::Kept);
        }
        if first == '_' || first.is_ascii_alphabetic() {
            let start = self.at;
            while self.ahead(0) == '_' || self.ahead(0).is_ascii_alphanumeric() {
                self.at += 1;
            }
            return Ok(Form::Word(self.characters[start..self.at].iter().collect()));
        }
        match SIGNS.iter().find(|sign| self.starts(sign)) {
            Some(sign) => {
                self.at += sign.len();
                Ok(Form::Sign(sign))
            }
            None => Err(self.fault(self.at, format!("`{first}` is no part of an expression"))),
        }
    }

    fn number(&mut self) -> Result<Form, Fault> {
        let start = self.at;
        if self.starts("0x") || self.starts("0X") {
            self.at += 2;
            let digits = self.digits(|digit| digit.is_ascii_hexdigit());
            let number = i64::from_str_radix(&digits, 16);
            return self.whole(start, number.ok());
        }
        let mut digits = self.digits(|digit| digit.is_ascii_digit());
        let mut is_float = false;
        if self.ahead(0) == '.' && self.ahead(1).is_ascii_digit() {
            is_float = true;
            self.at += 1;
            digits = format!("{digits}.{}", self.digits(|digit| digit.is_ascii_digit()));
        }
        let sign = usize::from(matches!(self.ahead(1), '+' | '-'));
        if matches!(self.ahead(0), 'e' | 'E') && self.ahead(1 + sign).is_ascii_digit() {
            is_float = true;
            let signed = if self.ahead(1) == '-' { "-" } else { "" };
            self.at += 1 + sign;
            digits = format!("{digits}e{signed}{}", self.digits(|digit| digit.is_ascii_digit()));
        }
        if !is_float {
            return self.whole(start, digits.parse().ok());
        }
        // Rust reads every number of this form; one too large is infinite, which no fact is.
        let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Form::Float).ok_or_else(|| self.fault(start, "this number is too large"))
    }

    fn whole(&mut self, start: usize, number: Option<i64>) -> Result<Form, Fault> {
        self.at += usize::from(matches!(self.ahead(0), 'u' | 'U'));
        if self.ahead(0) == '_' || self.ahead(0).is_ascii_alphanumeric() {
            return Err(self.fault(self.at, "a number ends before this letter"));
        }
        number.map(Form::Int).ok_or_else(|| self.fault(start, "a whole number has 63 bits at most"))
    }

    fn digits(&mut self, is_digit: fn(char) -> bool) -> String {
        let start = self.at;
        while is_digit(self.ahead(0)) {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }

    fn text(&mut self, escapes: Escapes) -> Result<Form, Fault> {
        let start = self.at;
        let quote = self.ahead(0);
        let triple = self.ahead(1) == quote && self.ahead(2) == quote;
        let length = if triple { 3 } else { 1 };
        self.at += length;
        let mut text = String::new();
        loop {
            if self.at >= self.characters.len() || (!triple && self.ahead(0) == '\n') {
                return Err(self.fault(start, "this text does not end"));
            }
            if (0..length).all(|index| self.ahead(index) == quote) {
                self.at += length;
                return Ok(Form::Text(text));
            }
            let character = self.ahead(0);
            self.at += 1;
            text.push(if character == '\\' && escapes == Escapes::Resolved { self.escaped()? } else { character });
        }
    }

    /// What stands behind a backslash.
    fn escaped(&mut self) -> Result<char, Fault> {
        let start = self.at;
        let letter = self.ahead(0);
        self.at += 1;
        let (radix, length) = match letter {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            '\\' | '"' | '\'' | '`' | '?' => return Ok(letter),
            'x' | 'X' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='3' => {
                self.at -= 1;
                (8, 3)
            }
            _ => {
                return Err(
                    self.fault(start - 1, "a text has the escapes \\n, \\t, \\r, \\\\, \\\", \\', \\x41, \\u0041")
                );
            }
        };
        let digits: String = (0..length).map(|index| self.ahead(index)).collect();
        self.at += length;
        let code = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32);
        code.ok_or_else(|| self.fault(start - 1, "this escape names no character"))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    Resolved,
    /// As in `r"\d"`.
    Kept,
}

/// What is ahead of the last character.
const NOTHING: char = '\0';

/// Longer ones first.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")", "[", "]",
    "{", "}",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(source: &str) -> Vec<Form> {
        tokens(source).unwrap().into_iter().map(|token| token.form).collect()
    }

    #[test]
    fn numbers_are_read_as_cel_has_them() {
        let all = [Form::Int(0x1f), Form::Int(7), Form::Float(0.5), Form::Float(1e-3), Form::Float(25e8), Form::End];
        assert_eq!(forms("0x1F 7u .5 1e-3 2.5e+9"), all);
        assert_eq!(forms("9223372036854775807")[0], Form::Int(i64::MAX));
        for wrong in ["9223372036854775808", "1e999", "12ab", "0x"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_have_four_kinds_of_quotes_and_escapes() {
        let text = |source: &str| forms(source)[0].clone();
        assert_eq!(text(r#""a\"\x41\u00e9\101\n""#), Form::Text("a\"AéA\n".to_owned()));
        assert_eq!(text(r#"'it"s'"#), Form::Text("it\"s".to_owned()));
        assert_eq!(text("'''two\nlines'''"), Form::Text("two\nlines".to_owned()));
        assert_eq!(text(r#"r"\d""#), Form::Text("\\d".to_owned()));
        for wrong in ["'open", "'two\nlines'", r#""\q""#, r#""\ud800""#, "'\\"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_comment_ends_with_its_line_and_a_place_is_counted_in_characters() {
        let found = tokens("'é' // x\n  && y").unwrap();
        assert_eq!((found[1].at, &found[1].form), (11, &Form::Sign("&&")));
        let fault = tokens("a &&\n  # b").unwrap_err();
        assert_eq!((fault.line, fault.column), (1, 2));
    }
}
