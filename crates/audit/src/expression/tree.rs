//! An expression that has been read, as a tree.

use crate::fact::{Fact, Path, Segment};

use super::functions::Function;

/// A part of an expression, and the character of the source at which it starts.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) form: Form,
}

/// What a part of an expression is.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// A value that stands in the text.
    Literal(Fact),
    /// `[a, b]`.
    List(Vec<Node>),
    /// `{"a": 1}`.
    Map(Vec<(Node, Node)>),
    /// The variable of a list that is gone through; until names are resolved, the root of a fact as well.
    Name(String),
    /// A fact, by the number of its slot.
    Slot(usize),
    /// `operand.key`.
    Field(Box<Node>, String),
    /// `operand[index]`.
    Index(Box<Node>, Box<Node>),
    /// `!a` and `-a`.
    Unary(Unary, Box<Node>),
    /// `a + b`.
    Binary(Binary, Box<Node>, Box<Node>),
    /// `condition ? then : otherwise`.
    Choice(Box<[Node; 3]>),
    /// A call of a function; the receiver of `a.size()` is its first argument.
    Call(&'static Function, Vec<Node>),
    /// `rate(counter)` and `increase(counter)`; gone once names are resolved.
    Counter(super::slot::View, Box<Node>),
    /// `list.exists(x, condition)` and its like.
    Elements(Box<Elements>),
}

/// A list whose elements are gone through.
#[derive(Debug, Clone)]
pub(super) struct Elements {
    pub(super) quantifier: Quantifier,
    pub(super) list: Node,
    pub(super) variable: String,
    /// What is asked of each element, or made of it by `map`.
    pub(super) body: Node,
    /// The condition of a `map` with three arguments.
    pub(super) only: Option<Node>,
}

/// What is asked about the elements of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

/// Signs before one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Minus,
}

/// Signs between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    /// The operator that a sign stands for, and how tightly it binds.
    pub(super) fn of_sign(sign: &str) -> Option<(Self, u8)> {
        let all = [
            ("||", Self::Or, 1),
            ("&&", Self::And, 2),
            ("==", Self::Equal, 3),
            ("!=", Self::Unequal, 3),
            ("<", Self::Less, 3),
            ("<=", Self::AtMost, 3),
            (">", Self::Greater, 3),
            (">=", Self::AtLeast, 3),
            ("in", Self::In, 3),
            ("+", Self::Add, 4),
            ("-", Self::Subtract, 4),
            ("*", Self::Multiply, 5),
            ("/", Self::Divide, 5),
            ("%", Self::Remainder, 5),
        ];
        all.into_iter().find(|(text, ..)| *text == sign).map(|(_, operator, tightness)| (operator, tightness))
    }

    /// How the operator is written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

impl Quantifier {
    /// The quantifier that a method stands for, with as many arguments.
    pub(super) fn of_method(name: &str, arguments: usize) -> Option<Self> {
        match (name, arguments) {
            ("all", 2) => Some(Self::All),
            ("exists", 2) => Some(Self::Exists),
            ("exists_one", 2) => Some(Self::ExistsOne),
            ("filter", 2) => Some(Self::Filter),
            ("map", 2 | 3) => Some(Self::Map),
            _ => None,
        }
    }
}

impl Node {
    /// The name of a fact that this part spells, with constant keys only.
    pub(super) fn path(&self) -> Option<Path> {
        let mut segments = Vec::new();
        let mut at = self;
        loop {
            match &at.form {
                Form::Name(root) => {
                    segments.reverse();
                    return Some(Path { root: root.clone(), segments });
                }
                Form::Field(operand, key) => {
                    segments.push(Segment::Key(key.clone()));
                    at = operand;
                }
                Form::Index(operand, index) => {
                    segments.push(match &index.form {
                        Form::Literal(Fact::Text(key)) => Segment::Key(key.clone()),
                        Form::Literal(Fact::Int(index)) => Segment::Index(usize::try_from(*index).ok()?),
                        _ => return None,
                    });
                    at = operand;
                }
                _ => return None,
            }
        }
    }
}
