//! State as bytes: what a checkpoint of an index is made of. Integers take seven bits a byte, so that small ones take little.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::net::SocketAddr;

use crate::decode::{address, address_bits};

/// A value that is written to a checkpoint and read from it, by the same program.
pub(crate) trait Saved: Sized {
    /// Appends it.
    fn save(&self, out: &mut Vec<u8>);

    /// Takes it off the front; [`None`] where the bytes are not those of one.
    fn load(from: &mut &[u8]) -> Option<Self>;
}

/// A struct is its fields, in the order in which they are named here; a field that is forgotten does not compile. What is named behind
/// `without` begins anew.
macro_rules! saved {
    ($name:ident { $($field:ident),* $(,)? } $(without $($new:ident),*)?) => {
        impl $crate::index::Saved for $name {
            fn save(&self, out: &mut Vec<u8>) {
                let Self { $($field,)* $($($new: _,)*)? } = self;
                $($crate::index::Saved::save($field, out);)*
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                Some(Self {
                    $($field: $crate::index::Saved::load(from)?,)*
                    $($($new: Default::default(),)*)?
                })
            }
        }
    };
}

/// An enum without fields is the number of its variant.
macro_rules! saved_enum {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::index::Saved for $name {
            fn save(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant => out.push(Self::$variant as u8),)*
                }
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                let number = <u8 as $crate::index::Saved>::load(from)?;
                $(if number == Self::$variant as u8 {
                    return Some(Self::$variant);
                })*
                None
            }
        }
    };
}

impl Saved for u8 {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let (first, rest) = from.split_first()?;
        *from = rest;
        Some(*first)
    }
}

impl Saved for u128 {
    fn save(&self, out: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            out.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        out.push((left & 0x7f) as u8);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let mut value = 0;
        for shift in (0..Self::BITS).step_by(7) {
            let byte = u8::load(from)?;
            value |= Self::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

impl Saved for u64 {
    #[inline]
    fn save(&self, out: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            out.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        out.push((left & 0x7f) as u8);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        u128::load(from)?.try_into().ok()
    }
}

macro_rules! saved_unsigned {
    ($($name:ty),*) => {
        $(impl Saved for $name {
            #[inline]
            fn save(&self, out: &mut Vec<u8>) {
                (*self as u64).save(out);
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                u64::load(from)?.try_into().ok()
            }
        })*
    };
}

saved_unsigned!(u16, u32, usize);

impl Saved for i128 {
    fn save(&self, out: &mut Vec<u8>) {
        (self.cast_unsigned() << 1 ^ (self >> 127).cast_unsigned()).save(out);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let value = u128::load(from)?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

impl Saved for i64 {
    #[inline]
    fn save(&self, out: &mut Vec<u8>) {
        (self.cast_unsigned() << 1 ^ (self >> 63).cast_unsigned()).save(out);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let value = u64::load(from)?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

impl Saved for bool {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        match u8::load(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Saved for f64 {
    fn save(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(Self::from_le_bytes(*bytes))
    }
}

impl<T: Saved> Saved for Option<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.is_some().save(out);
        if let Some(value) = self {
            value.save(out);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::load(from)? { Some(T::load(from)?) } else { None })
    }
}

impl<T: Saved> Saved for Box<T> {
    fn save(&self, out: &mut Vec<u8>) {
        T::save(self, out);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        T::load(from).map(Self::new)
    }
}

impl<T: Saved> Saved for Vec<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.len().save(out);
        self.iter().for_each(|value| value.save(out));
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let length = usize::load(from)?;
        // A value takes a byte and more: a length that lies takes no memory.
        let mut values = Self::with_capacity(length.min(from.len()));
        for _ in 0..length {
            values.push(T::load(from)?);
        }
        Some(values)
    }
}

impl<T: Saved> Saved for VecDeque<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.len().save(out);
        self.iter().for_each(|value| value.save(out));
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Vec::load(from).map(Self::from)
    }
}

impl<T: Saved, const N: usize> Saved for [T; N] {
    fn save(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.save(out));
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let values: Option<Vec<T>> = (0..N).map(|_| T::load(from)).collect();
        values?.try_into().ok()
    }
}

impl<A: Saved, B: Saved> Saved for (A, B) {
    fn save(&self, out: &mut Vec<u8>) {
        self.0.save(out);
        self.1.save(out);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Some((A::load(from)?, B::load(from)?))
    }
}

impl<A: Saved, B: Saved, C: Saved> Saved for (A, B, C) {
    fn save(&self, out: &mut Vec<u8>) {
        self.0.save(out);
        self.1.save(out);
        self.2.save(out);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Some((A::load(from)?, B::load(from)?, C::load(from)?))
    }
}

impl<K: Saved + Eq + Hash, V: Saved, S: BuildHasher + Default> Saved for HashMap<K, V, S> {
    fn save(&self, out: &mut Vec<u8>) {
        self.len().save(out);
        for (key, value) in self {
            key.save(out);
            value.save(out);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Vec::<(K, V)>::load(from).map(|pairs| pairs.into_iter().collect())
    }
}

impl Saved for String {
    fn save(&self, out: &mut Vec<u8>) {
        self.len().save(out);
        out.extend(self.as_bytes());
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let length = usize::load(from)?;
        let (bytes, rest) = from.split_at_checked(length)?;
        *from = rest;
        Self::from_utf8(bytes.to_vec()).ok()
    }
}

impl Saved for SocketAddr {
    fn save(&self, out: &mut Vec<u8>) {
        address_bits(self.ip()).save(out);
        self.port().save(out);
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Some(Self::new(address(u128::load(from)?), u16::load(from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again<T: Saved>(value: &T) -> T {
        let mut bytes = Vec::new();
        value.save(&mut bytes);
        for length in 0..bytes.len() {
            assert!(T::load(&mut &bytes[..length]).is_none(), "{length} of {} bytes are a value", bytes.len());
        }
        let mut rest = bytes.as_slice();
        let loaded = T::load(&mut rest);
        assert!(rest.is_empty(), "{} bytes are left", rest.len());
        loaded.unwrap()
    }

    #[test]
    fn numbers_are_read_as_they_were_written_up_to_their_limits() {
        for value in [0, 1, 127, 128, 300, u64::MAX - 1, u64::MAX] {
            assert_eq!(again(&value), value);
            assert_eq!(again(&u128::from(value)), u128::from(value));
        }
        for value in [0, 1, -1, 63, -64, 64, i64::MIN, i64::MAX] {
            assert_eq!(again(&value), value);
            assert_eq!(again(&i128::from(value)), i128::from(value));
        }
        for value in [i128::MIN, i128::MAX] {
            assert_eq!(again(&value), value);
        }
        assert_eq!(again(&u128::MAX), u128::MAX);
        for value in [0.0, -1.5, f64::INFINITY, f64::MIN_POSITIVE] {
            assert_eq!(again(&value).to_bits(), value.to_bits());
        }
        assert!(u16::load(&mut [0xff, 0xff, 0x7f].as_slice()).is_none(), "a number that is too large for its field");
    }

    #[test]
    fn what_holds_values_is_read_as_it_was_written() {
        let text = vec![Some("a µs".to_owned()), None, Some(String::new())];
        assert_eq!(again(&text), text);
        let queue = VecDeque::from([(1_u32, -5_i64, [true, false]), (7, 9, [false; 2])]);
        assert_eq!(again(&queue), queue);
        let map: HashMap<u32, Option<Box<u16>>> = [(1, None), (2, Some(Box::new(3)))].into();
        assert_eq!(again(&map), map);
        for address in ["192.0.2.1:80", "[2001:db8::1]:5201"] {
            let address: SocketAddr = address.parse().unwrap();
            assert_eq!(again(&address), address);
        }
    }

    #[test]
    fn a_length_that_lies_is_no_value() {
        let mut bytes = Vec::new();
        u64::MAX.save(&mut bytes);
        assert!(Vec::<u64>::load(&mut bytes.as_slice()).is_none());
        assert!(String::load(&mut bytes.as_slice()).is_none());
    }
}
