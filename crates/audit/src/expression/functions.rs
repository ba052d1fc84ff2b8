//! What conditions can call besides what CEL brings.

use cel::common::types::{CelDouble, CelInt, DYN_TYPE};
use cel::common::value::CowVal;
use cel::{Env, ExecutionError};

use crate::fact::Fact;

/// Declares all of them.
pub(super) fn declare(env: &mut Env) {
    for (name, arguments, function) in FUNCTIONS {
        // Two functions of one name are the only error, and a test looks for that.
        let _ = env.add_overload(name, name, (0..arguments).map(|_| DYN_TYPE).collect(), function);
    }
}

type Function = for<'b, 'v> fn(Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError>;

const FUNCTIONS: [(&str, usize, Function); 10] = [
    ("least", 2, |arguments| pick("least", arguments, |a, b| a <= b)),
    ("greatest", 2, |arguments| pick("greatest", arguments, |a, b| a >= b)),
    ("ceil_pow2", 1, |arguments| whole("ceil_pow2", &arguments, |[x]| Some(pow2_at_least(x)))),
    ("ceil_div", 2, |arguments| whole("ceil_div", &arguments, |[a, b]| (b > 0).then(|| (a + b - 1).div_euclid(b)))),
    ("abs", 1, |arguments| number("abs", &arguments, |[x]| x.abs())),
    ("near", 3, |arguments| {
        let [a, b, share] = numbers("near", &arguments)?;
        Ok(cel_bool((a - b).abs() < share * b))
    }),
    ("ramp_us", 4, |arguments| {
        number("ramp_us", &arguments, |[window, mss, rtt, rate]| ramp_us(window, mss, rtt, rate))
    }),
    ("mathis_bps", 3, |arguments| number("mathis_bps", &arguments, |[mss, rtt, lost]| mathis_bps(mss, rtt, lost))),
    ("sum_of", 1, |arguments| list("sum_of", &arguments, |numbers| numbers.iter().sum())),
    ("max_of", 1, |arguments| list("max_of", &arguments, |numbers| numbers.iter().copied().fold(0.0, f64::max))),
];

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

fn cel_bool<'b, 'v>(yes: bool) -> CowVal<'b, 'v> {
    CowVal::owned(cel::common::types::CelBool::from(yes))
}

fn pick<'b, 'v>(
    name: &str,
    arguments: Vec<CowVal<'b, 'v>>,
    first_wins: fn(f64, f64) -> bool,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let [a, b] = numbers(name, &arguments)?;
    let mut arguments = arguments.into_iter();
    let (first, second) = (arguments.next(), arguments.next());
    let chosen = if first_wins(a, b) { first } else { second };
    chosen.ok_or_else(|| wrong(name, "two numbers"))
}

fn whole<'b, 'v, const N: usize>(
    name: &str,
    arguments: &[CowVal<'b, 'v>],
    compute: impl Fn([i64; N]) -> Option<i64>,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let mut whole = [0; N];
    for (place, argument) in whole.iter_mut().zip(arguments) {
        let Some(Fact::Int(number)) = Fact::of_value(argument.as_ref()) else {
            return Err(wrong(name, "whole numbers"));
        };
        *place = number;
    }
    let result = compute(whole).ok_or_else(|| wrong(name, "a positive divisor"))?;
    Ok(CowVal::owned(CelInt::from(result)))
}

fn number<'b, 'v, const N: usize>(
    name: &str,
    arguments: &[CowVal<'b, 'v>],
    compute: impl Fn([f64; N]) -> f64,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    Ok(CowVal::owned(CelDouble::from(compute(numbers(name, arguments)?))))
}

fn list<'b, 'v>(
    name: &str,
    arguments: &[CowVal<'b, 'v>],
    compute: impl Fn(&[f64]) -> f64,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let facts = arguments.first().and_then(|argument| Fact::of_value(argument.as_ref()));
    let Some(Fact::List(facts)) = facts else { return Err(wrong(name, "a list")) };
    let numbers: Option<Vec<f64>> = facts.iter().map(Fact::as_number).collect();
    let numbers = numbers.ok_or_else(|| wrong(name, "a list of numbers"))?;
    Ok(CowVal::owned(CelDouble::from(compute(&numbers))))
}

fn numbers<const N: usize>(name: &str, arguments: &[CowVal<'_, '_>]) -> Result<[f64; N], ExecutionError> {
    let mut numbers = [0.0; N];
    for (place, argument) in numbers.iter_mut().zip(arguments) {
        let fact = Fact::of_value(argument.as_ref());
        *place = fact.and_then(|fact| fact.as_number()).ok_or_else(|| wrong(name, "numbers"))?;
    }
    Ok(numbers)
}

fn wrong(name: &str, wants: &str) -> ExecutionError {
    ExecutionError::FunctionError { function: name.to_owned(), message: format!("wants {wants}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_declared() {
        let mut env = Env::stdlib();
        declare(&mut env);
        let (least, one) = (CowVal::owned(CelInt::from(1)), CowVal::owned(CelInt::from(1)));
        assert!(env.find_overload("least", &[least, one]).is_some());
        for (name, ..) in FUNCTIONS {
            assert_eq!(FUNCTIONS.iter().filter(|(other, ..)| *other == name).count(), 1, "{name}");
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
