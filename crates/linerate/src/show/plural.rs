//! A count with its noun.

use std::fmt::Display;

/// `1 router`, `3 routers`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_none_and_many() {
        let of = |count: usize| counted(count, "recovery", "recoveries");
        assert_eq!([0, 1, 2].map(of), ["0 recoveries", "1 recovery", "2 recoveries"]);
    }
}
