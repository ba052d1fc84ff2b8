//! What a command line of another tool asks for.

pub(crate) mod iperf2;
pub(crate) mod iperf3;
pub(crate) mod nuttcp;

use super::parsed::TestOptions;

/// What a command line asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments {
    pub(crate) options: TestOptions,
    /// Name or address of the peer, as it was given.
    pub(crate) target: Option<String>,
    /// The label before each line of output.
    pub(crate) tag: Option<String>,
    /// What should have been, and what was there.
    pub(crate) odd: Vec<(String, String)>,
}

impl Arguments {
    /// Puts what was read into its place, or says that it could not be.
    fn set<T>(
        &mut self,
        option: &str,
        text: &str,
        what: &str,
        read: Option<T>,
        place: fn(&mut TestOptions) -> &mut Option<T>,
    ) {
        match read {
            Some(value) => *place(&mut self.options) = Some(value),
            None => self.odd.push((format!("{what} after {option}"), text.to_owned())),
        }
    }
}

/// A number with one of the letters `k`, `m`, `g` in either case, in steps of `step`, times `unit` where there is none.
fn scaled(text: &str, step: u64, unit: u64) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let factor = match suffix {
        "" => unit,
        "k" | "K" => step,
        "m" | "M" => step * step,
        "g" | "G" => step * step * step,
        _ => return None,
    };
    let number = super::quantity::decimal(number)?;
    let fraction = number.fraction.get(..number.fraction.len().min(9)).unwrap_or("");
    let digits = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    let part: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let exact = u128::from(number.whole.parse::<u64>().ok()?) * u128::from(factor)
        + u128::from(part) * u128::from(factor) / u128::from(digits);
    u64::try_from(exact).ok()
}
