//! From the text of an expression to its tree: the grammar of CEL without protocol buffers, bytes, null and regular
//! expressions, which no fact is or has.
//!
//! Operators are read by precedence climbing (Richards 1979), so that the stack grows with brackets and unary signs only,
//! both of which are bounded.

use super::bounds::{self, fault_at};
use super::fault::Fault;
use super::functions;
use super::slot::View;
use super::token::{self, Form as Word, Token};
use super::tree::{Binary, Elements, Form, Node, Quantifier, Unary};
use crate::fact::Fact;

/// Reads an expression.
///
/// # Errors
/// Where it is no CEL, calls a function that there is not, or is larger than any that is meant.
pub(super) fn parse(source: &str) -> Result<Node, Fault> {
    bounds::check(source)?;
    let mut parser = Parser { source, tokens: token::tokens(source)?, next: 0, deeper: 0 };
    let whole = parser.expression()?;
    match parser.peek() {
        Word::End => Ok(whole),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    next: usize,
    /// How many `in` and `[` so far: each makes the tree one deeper, and bounds count neither.
    deeper: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Word {
        &self.tokens[self.next].form
    }

    fn at(&self) -> usize {
        self.tokens[self.next].at
    }

    fn take(&mut self) -> Word {
        let word = self.peek().clone();
        // `End` is never passed.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        word
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Word::Sign(next) if *next == sign);
        if is_next {
            self.take();
        }
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn fault(&self, at: usize, message: impl Into<String>) -> Fault {
        fault_at(self.source, at, message)
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Word::End => "the end".to_owned(),
            Word::Word(word) => format!("`{word}`"),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::Int(_) | Word::Float(_) => "a number".to_owned(),
            Word::Text(_) => "a text".to_owned(),
        };
        self.fault(self.at(), format!("{wanted} is expected here, not {found}"))
    }

    fn expression(&mut self) -> Result<Node, Fault> {
        let condition = self.operators(0)?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let then = self.operators(0)?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        Ok(Node { at: condition.at, form: Form::Choice(Box::new([condition, then, otherwise])) })
    }

    /// Operands with operators between them that bind more tightly than `than`.
    fn operators(&mut self, than: u8) -> Result<Node, Fault> {
        let mut left = self.unary()?;
        loop {
            let sign = match self.peek() {
                Word::Sign(sign) => *sign,
                Word::Word(word) if word == "in" => "in",
                _ => return Ok(left),
            };
            let Some((operator, tightness)) = Binary::of_sign(sign).filter(|(_, tightness)| *tightness > than) else {
                return Ok(left);
            };
            if operator == Binary::In {
                self.go_deeper()?;
            }
            self.take();
            let right = self.operators(tightness)?;
            left = Node { at: left.at, form: Form::Binary(operator, Box::new(left), Box::new(right)) };
        }
    }

    fn go_deeper(&mut self) -> Result<(), Fault> {
        self.deeper += 1;
        let most = bounds::MOST_DEEPER;
        if self.deeper > most {
            return Err(self.fault(self.at(), format!("an expression has `in` and `[` {most} times at most")));
        }
        Ok(())
    }

    fn unary(&mut self) -> Result<Node, Fault> {
        let at = self.at();
        if self.takes("!") {
            return Ok(Node { at, form: Form::Unary(Unary::Not, Box::new(self.unary()?)) });
        }
        if self.takes("-") {
            return Ok(Node { at, form: Form::Unary(Unary::Minus, Box::new(self.unary()?)) });
        }
        self.member()
    }

    fn member(&mut self) -> Result<Node, Fault> {
        let mut node = self.primary()?;
        loop {
            let at = node.at;
            if self.takes(".") {
                let named = self.at();
                let Word::Word(name) = self.take() else {
                    self.next -= 1;
                    return Err(self.unexpected("a name"));
                };
                node = if self.takes("(") {
                    let arguments = self.list(")")?;
                    self.method(node, (named, &name), arguments)?
                } else {
                    Node { at, form: Form::Field(Box::new(node), name) }
                };
            } else if self.takes("[") {
                self.go_deeper()?;
                let index = self.expression()?;
                self.expect("]")?;
                node = Node { at, form: Form::Index(Box::new(node), Box::new(index)) };
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Result<Node, Fault> {
        let at = self.at();
        let form = match self.take() {
            Word::Int(number) => Form::Literal(Fact::Int(number)),
            Word::Float(number) => Form::Literal(Fact::Float(number)),
            Word::Text(text) => Form::Literal(Fact::Text(text)),
            Word::Word(word) => return self.word(at, word),
            Word::Sign("(") => {
                let inside = self.expression()?;
                self.expect(")")?;
                return Ok(inside);
            }
            Word::Sign("[") => Form::List(self.list("]")?),
            Word::Sign("{") => Form::Map(self.entries()?),
            Word::Sign(_) => {
                self.next -= 1;
                return Err(self.unexpected("a value"));
            }
            Word::End => return Err(self.unexpected("a value")),
        };
        Ok(Node { at, form })
    }

    fn word(&mut self, at: usize, word: String) -> Result<Node, Fault> {
        let form = match word.as_str() {
            "true" => Form::Literal(Fact::Bool(true)),
            "false" => Form::Literal(Fact::Bool(false)),
            "null" => return Err(self.fault(at, "there is no null: a fact that is missing makes a rule unknown")),
            "in" => return Err(self.fault(at, "a value is expected here, not `in`")),
            _ if self.takes("(") => {
                let arguments = self.list(")")?;
                return self.call(at, &word, arguments);
            }
            _ => Form::Name(word),
        };
        Ok(Node { at, form })
    }

    /// Expressions up to the closing bracket, a comma between them and maybe one behind.
    fn list(&mut self, close: &str) -> Result<Vec<Node>, Fault> {
        let mut nodes = Vec::new();
        while !self.takes(close) {
            nodes.push(self.expression()?);
            if !self.takes(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(nodes)
    }

    fn entries(&mut self) -> Result<Vec<(Node, Node)>, Fault> {
        let mut entries = Vec::new();
        while !self.takes("}") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.takes(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(entries)
    }

    fn call(&self, at: usize, name: &str, mut arguments: Vec<Node>) -> Result<Node, Fault> {
        let view = match name {
            "has" => {
                return Err(
                    self.fault(at, "has() is not for facts: a missing fact makes a rule unknown, it is no answer")
                );
            }
            "rate" => Some(View::Rate),
            "increase" => Some(View::Increase),
            _ => None,
        };
        if let Some(view) = view {
            let only = if arguments.len() == 1 { arguments.pop() } else { None };
            let counter = only.ok_or_else(|| self.fault(at, format!("{name}() wants the name of one counter")))?;
            return Ok(Node { at, form: Form::Counter(view, Box::new(counter)) });
        }
        self.function(at, (at, name), arguments)
    }

    fn method(&self, receiver: Node, (named, name): (usize, &str), mut arguments: Vec<Node>) -> Result<Node, Fault> {
        let at = receiver.at;
        if let Some(quantifier) = Quantifier::of_method(name, arguments.len()) {
            let only = if arguments.len() == 3 { Some(arguments.remove(1)) } else { None };
            let (body, variable) = (arguments.pop(), arguments.pop());
            let (Some(body), Some(Node { form: Form::Name(variable), .. })) = (body, variable) else {
                return Err(self.fault(named, format!("the first argument of {name}() names the element")));
            };
            let elements = Elements { quantifier, list: receiver, variable, body, only };
            return Ok(Node { at, form: Form::Elements(Box::new(elements)) });
        }
        arguments.insert(0, receiver);
        self.function(at, (named, name), arguments)
    }

    fn function(&self, at: usize, (named, name): (usize, &str), arguments: Vec<Node>) -> Result<Node, Fault> {
        let function = functions::find(name).ok_or_else(|| {
            let known: Vec<&str> = functions::names().collect();
            self.fault(named, format!("there is no function `{name}`; there are {}", known.join(", ")))
        })?;
        if function.arguments != arguments.len() {
            let message = format!("{name}() has {} arguments, not {}", function.arguments, arguments.len());
            return Err(self.fault(named, message));
        }
        Ok(Node { at, form: Form::Call(function, arguments) })
    }
}
