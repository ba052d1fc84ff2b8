//! What conditions can call: some functions of CEL's own, and those of this audit.

use std::borrow::Cow;

use super::fault::Unvalued;
use crate::fact::Fact;

/// A function: called as `name(a, b)`, and as `a.name(b)`.
pub(super) struct Function {
    /// Name by which expressions call it.
    pub(super) name: &'static str,
    /// How many arguments it has.
    pub(super) arguments: usize,
    /// What it wants, for who gives it something else.
    wants: &'static str,
    /// Its value; nothing where the arguments are not what it wants.
    compute: fn(&[Cow<'_, Fact>]) -> Option<Fact>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}()", self.name)
    }
}

impl Function {
    /// What it gives for these arguments.
    ///
    /// # Errors
    /// Where the arguments are not what it wants.
    pub(super) fn apply(&self, arguments: &[Cow<'_, Fact>]) -> Result<Fact, Unvalued> {
        (self.compute)(arguments).ok_or_else(|| Unvalued::Failed(format!("{}() wants {}", self.name, self.wants)))
    }
}

/// The function of a name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

static FUNCTIONS: [Function; 18] = [
    // CEL's own.
    Function { name: "size", arguments: 1, wants: "a text, a list or a map", compute: size },
    Function { name: "contains", arguments: 2, wants: TEXTS, compute: |a| texts(a, |text, part| text.contains(part)) },
    Function {
        name: "startsWith",
        arguments: 2,
        wants: TEXTS,
        compute: |a| texts(a, |text, part| text.starts_with(part)),
    },
    Function { name: "endsWith", arguments: 2, wants: TEXTS, compute: |a| texts(a, |text, part| text.ends_with(part)) },
    Function { name: "int", arguments: 1, wants: "a number of 63 bits, or a text of one", compute: int },
    Function { name: "double", arguments: 1, wants: "a number, or a text of one", compute: double },
    Function { name: "string", arguments: 1, wants: "a text, a number, true or false", compute: string },
    Function { name: "bool", arguments: 1, wants: "true or false", compute: boolean },
    // Ours.
    Function { name: "least", arguments: 2, wants: NUMBERS, compute: |a| pick(a, |first, second| first <= second) },
    Function { name: "greatest", arguments: 2, wants: NUMBERS, compute: |a| pick(a, |first, second| first >= second) },
    Function {
        name: "ceil_pow2",
        arguments: 1,
        wants: "a whole number",
        compute: |a| whole(a).map(|[x]| Fact::Int(pow2_at_least(x))),
    },
    Function { name: "ceil_div", arguments: 2, wants: "whole numbers, the second above 0", compute: ceil_div },
    Function { name: "abs", arguments: 1, wants: NUMBERS, compute: |a| number(a, |[x]| x.abs()) },
    Function {
        name: "near",
        arguments: 3,
        wants: NUMBERS,
        compute: |a| numbers(a).map(|[x, y, share]| Fact::Bool((x - y).abs() < share * y)),
    },
    Function {
        name: "ramp_us",
        arguments: 4,
        wants: NUMBERS,
        compute: |a| number(a, |[window, mss, rtt, rate]| ramp_us(window, mss, rtt, rate)),
    },
    Function {
        name: "mathis_bps",
        arguments: 3,
        wants: NUMBERS,
        compute: |a| number(a, |[mss, rtt, lost]| mathis_bps(mss, rtt, lost)),
    },
    Function {
        name: "sum_of",
        arguments: 1,
        wants: "a list of numbers",
        compute: |a| list(a).map(|numbers| Fact::Float(numbers.iter().sum())),
    },
    Function {
        name: "max_of",
        arguments: 1,
        wants: "a list of numbers",
        compute: |a| list(a).map(|numbers| Fact::Float(numbers.into_iter().fold(0.0, f64::max))),
    },
];

const NUMBERS: &str = "numbers";
const TEXTS: &str = "texts";

/// Time of slow start until a window fills the path: one doubling a round trip, as Linux without delayed-ACK loss does.
///
/// Model: no loss, no receive window in the way, no pacing.
fn ramp_us(window: f64, mss: f64, rtt_us: f64, rate_bps: f64) -> f64 {
    let bdp_bytes = rate_bps / 8.0 * rtt_us / 1e6;
    (bdp_bytes / (window * mss)).log2().max(0.0) * rtt_us
}

/// The rate that loss allows: 1.22 MSS / (RTT sqrt(p)) (Mathis, Semke, Mahdavi, Ott 1997).
///
/// Model: a Reno-like sender with periodic loss; CUBIC, H-TCP and BBR go beyond it where loss is rare.
fn mathis_bps(mss: f64, rtt_us: f64, lost_share: f64) -> f64 {
    1.22 * mss * 8.0 / (rtt_us / 1e6) / lost_share.sqrt()
}

/// The least power of two that is not below `x`, as far as whole numbers go.
fn pow2_at_least(x: i64) -> i64 {
    let power = u64::try_from(x).unwrap_or(1).max(1).checked_next_power_of_two();
    power.and_then(|power| i64::try_from(power).ok()).unwrap_or(i64::MAX)
}

fn ceil_div(arguments: &[Cow<'_, Fact>]) -> Option<Fact> {
    let [a, b] = whole(arguments)?;
    if b <= 0 {
        return None;
    }
    a.checked_add(b - 1).map(|sum| Fact::Int(sum.div_euclid(b)))
}

fn size(arguments: &[Cow<'_, Fact>]) -> Option<Fact> {
    let size = match arguments.first()?.as_ref() {
        Fact::Text(text) => text.chars().count(),
        Fact::List(list) => list.len(),
        Fact::Map(map) => map.len(),
        _ => return None,
    };
    i64::try_from(size).ok().map(Fact::Int)
}

fn texts(arguments: &[Cow<'_, Fact>], holds: fn(&str, &str) -> bool) -> Option<Fact> {
    match arguments {
        [text, part] => Some(Fact::Bool(holds(text.as_text()?, part.as_text()?))),
        _ => None,
    }
}

fn int(arguments: &[Cow<'_, Fact>]) -> Option<Fact> {
    match arguments.first()?.as_ref() {
        Fact::Int(number) => Some(Fact::Int(*number)),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within the bounds that are checked, towards zero as CEL has it"
        )]
        Fact::Float(number) if number.abs() < MOST_BITS => Some(Fact::Int(*number as i64)),
        Fact::Text(text) => text.parse().ok().map(Fact::Int),
        _ => None,
    }
}

fn double(arguments: &[Cow<'_, Fact>]) -> Option<Fact> {
    match arguments.first()?.as_ref() {
        Fact::Text(text) => text.parse().ok().map(Fact::Float),
        other => other.as_number().map(Fact::Float),
    }
}

fn string(arguments: &[Cow<'_, Fact>]) -> Option<Fact> {
    match arguments.first()?.as_ref() {
        Fact::Text(text) => Some(Fact::Text(text.clone())),
        Fact::Int(number) => Some(Fact::Text(number.to_string())),
        Fact::Float(number) => Some(Fact::Text(number.to_string())),
        Fact::Bool(yes) => Some(Fact::Text(yes.to_string())),
        _ => None,
    }
}

fn boolean(arguments: &[Cow<'_, Fact>]) -> Option<Fact> {
    let fact = arguments.first()?.as_ref();
    let yes = |word: &str| matches!(fact, Fact::Text(text) if text == word);
    match fact {
        Fact::Bool(yes) => Some(Fact::Bool(*yes)),
        _ if yes("true") => Some(Fact::Bool(true)),
        _ if yes("false") => Some(Fact::Bool(false)),
        _ => None,
    }
}

fn pick(arguments: &[Cow<'_, Fact>], first_wins: fn(f64, f64) -> bool) -> Option<Fact> {
    let [first, second] = arguments else { return None };
    let wins = first_wins(first.as_number()?, second.as_number()?);
    Some(if wins { first } else { second }.as_ref().clone())
}

fn whole<const N: usize>(arguments: &[Cow<'_, Fact>]) -> Option<[i64; N]> {
    let mut whole = [0; N];
    for (place, argument) in whole.iter_mut().zip(arguments) {
        let Fact::Int(number) = argument.as_ref() else { return None };
        *place = *number;
    }
    Some(whole)
}

fn number<const N: usize>(arguments: &[Cow<'_, Fact>], compute: fn([f64; N]) -> f64) -> Option<Fact> {
    numbers(arguments).map(|numbers| Fact::Float(compute(numbers)))
}

fn numbers<const N: usize>(arguments: &[Cow<'_, Fact>]) -> Option<[f64; N]> {
    let mut numbers = [0.0; N];
    for (place, argument) in numbers.iter_mut().zip(arguments) {
        *place = argument.as_number()?;
    }
    Some(numbers)
}

fn list(arguments: &[Cow<'_, Fact>]) -> Option<Vec<f64>> {
    arguments.first()?.as_list()?.iter().map(Fact::as_number).collect()
}

/// 2^63: beyond it is no whole number.
const MOST_BITS: f64 = 9_223_372_036_854_775_808.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_functions_have_one_name() {
        for name in names() {
            assert_eq!(names().filter(|other| *other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn slow_start_at_209_ms_and_40_gbit_takes_the_documented_time() {
        let seconds = |window| ramp_us(window, 8948.0, 209_000.0, 40e9) / 1e6;
        assert!((seconds(10.0) - 2.82).abs() < 0.01 && (seconds(1000.0) - 1.44).abs() < 0.01);
    }

    #[test]
    fn loss_at_a_firewall_allows_what_was_seen_there() {
        assert!((mathis_bps(1448.0, 8290.0, 0.0018) / 1e6 - 40.2).abs() < 0.1);
    }

    #[test]
    fn powers_of_two_are_not_below_what_was_asked_for() {
        assert_eq!([0, 1, 3, 550_000_000].map(pow2_at_least), [1, 1, 4, 1 << 30]);
    }
}
