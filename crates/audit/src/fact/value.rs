//! Facts as values of CEL: containers are lent to the interpreter, single values are handed over as its own types.

use cel::ExecutionError;
use cel::common::traits::{Container, Indexer, Iterable, Iterator, Sizer};
use cel::common::types::{
    BOOL_TYPE, CelBool, CelDouble, CelInt, CelString, DOUBLE_TYPE, DYN_TYPE, INT_TYPE, LIST_TYPE, MAP_TYPE, NULL_TYPE,
    STRING_TYPE, Type,
};
use cel::common::value::{CowVal, Val};

use super::{Fact, FactMap};

impl Fact {
    /// The fact for the interpreter.
    pub(crate) fn lend(&self) -> CowVal<'_, '_> {
        match self {
            Self::Bool(yes) => CowVal::owned(CelBool::from(*yes)),
            Self::Int(number) => CowVal::owned(CelInt::from(*number)),
            Self::Float(number) => CowVal::owned(CelDouble::from(*number)),
            Self::Text(text) => CowVal::owned(CelString::from(text.as_str())),
            Self::List(_) | Self::Map(_) | Self::Missing(_) => CowVal::Borrowed(self),
        }
    }

    /// A value of the interpreter as a fact; nothing where it is of a type that facts do not have.
    pub(crate) fn of_value(value: &dyn Val) -> Option<Self> {
        if let Some(yes) = value.downcast_ref::<CelBool>() {
            Some(Self::Bool(*yes.inner()))
        } else if let Some(number) = value.downcast_ref::<CelInt>() {
            Some(Self::Int(*number.inner()))
        } else if let Some(number) = value.downcast_ref::<CelDouble>() {
            Some(Self::Float(*number.inner()))
        } else if let Some(text) = value.downcast_ref::<CelString>() {
            Some(Self::Text(text.inner().to_owned()))
        } else {
            value.downcast_ref::<Self>().cloned()
        }
    }
}

impl Val for Fact {
    fn get_type(&self) -> &Type {
        match self {
            Self::Bool(_) => &BOOL_TYPE,
            Self::Int(_) => &INT_TYPE,
            Self::Float(_) => &DOUBLE_TYPE,
            Self::Text(_) => &STRING_TYPE,
            Self::List(_) => &LIST_TYPE,
            Self::Map(_) => &MAP_TYPE,
            Self::Missing(_) => &NULL_TYPE,
        }
    }

    fn cel_type() -> &'static Type {
        &DYN_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        matches!(self, Self::List(_) | Self::Map(_)).then_some(self as &dyn Container)
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        matches!(self, Self::List(_) | Self::Map(_)).then_some(self as &(dyn Indexer + 'v))
    }

    fn as_iterable<'b, 'v>(&'b self) -> Option<&'b (dyn Iterable + 'v)>
    where
        Self: 'v,
    {
        matches!(self, Self::List(_)).then_some(self as &(dyn Iterable + 'v))
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        matches!(self, Self::List(_) | Self::Map(_)).then_some(self as &dyn Sizer)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        Self::of_value(other).is_some_and(|other| *self == other)
    }

    // The interpreter binds an element of a list by cloning it, and then wants its own types.
    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        match self {
            Self::Bool(yes) => Box::new(CelBool::from(*yes)),
            Self::Int(number) => Box::new(CelInt::from(*number)),
            Self::Float(number) => Box::new(CelDouble::from(*number)),
            Self::Text(text) => Box::new(CelString::from(text.clone())),
            Self::List(_) | Self::Map(_) | Self::Missing(_) => Box::new(self.clone()),
        }
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}

impl cel::common::value::StaticVal for Fact {}

impl Container for Fact {
    fn contains(&self, value: &dyn Val) -> Result<bool, ExecutionError> {
        let Some(wanted) = Self::of_value(value) else { return Ok(false) };
        match (self, wanted) {
            (Self::Map(map), Self::Text(key)) => Ok(map.contains_key(&key)),
            (Self::List(list), wanted) => {
                if list.contains(&wanted) {
                    return Ok(true);
                }
                match list.iter().find(|fact| matches!(fact, Self::Missing(_))) {
                    Some(Self::Missing(missing)) => Err(lacks(&format!("an element is {missing}"))),
                    _ => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }
}

impl Indexer for Fact {
    fn get<'b, 'v>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let found = match (self, Self::of_value(index)) {
            (Self::Map(map), Some(Self::Text(key))) => (map.get(&key), key),
            (Self::List(list), Some(Self::Int(at))) => {
                (usize::try_from(at).ok().and_then(|at| list.get(at)), at.to_string())
            }
            _ => return Err(lacks("that is no name of a fact")),
        };
        match found {
            (Some(Self::Missing(missing)), name) => Err(lacks(&format!("{name} is {missing}"))),
            (Some(fact @ (Self::List(_) | Self::Map(_))), _) => Ok(CowVal::Borrowed(fact)),
            (Some(fact), _) => Ok(CowVal::Owned(fact.clone_as_boxed())),
            (None, name) => Err(lacks(&format!("{name} is absent"))),
        }
    }

    fn steal<'v>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(index).map(CowVal::into_owned)
    }
}

impl Iterable for Fact {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Iterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Elements(self.as_list().unwrap_or_default().iter()))
    }
}

impl Sizer for Fact {
    fn size(&self) -> CelInt {
        let size = match self {
            Self::List(list) => list.len(),
            Self::Map(map) => FactMap::len(map),
            _ => 0,
        };
        CelInt::from(i64::try_from(size).unwrap_or(i64::MAX))
    }
}

struct Elements<'f>(std::slice::Iter<'f, Fact>);

impl<'b, 'v> Iterator<'b, 'v> for Elements<'b> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        self.0.next().map(|fact| fact as &'b (dyn Val + 'v))
    }
}

/// The name under which errors of facts travel through the interpreter.
pub(crate) const LACKS: &str = "fact";

fn lacks(message: &str) -> ExecutionError {
    ExecutionError::FunctionError { function: LACKS.to_owned(), message: message.to_owned() }
}
