//! Axes: which numbers stand at them, in which unit.

/// What an axis counts; values are in the base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Bits per second.
    Rate,
    /// Bytes.
    Bytes,
    /// Microseconds.
    Micros,
    /// Things.
    Count,
    /// Parts of a whole.
    Share,
}

/// A unit that suits the values of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    /// How much of the base unit one of it is.
    pub(crate) factor: f64,
}

impl Quantity {
    /// The largest unit of which `highest` is at least one.
    pub(crate) fn unit(self, highest: f64) -> Unit {
        let units: &[(&'static str, f64)] = match self {
            Self::Rate => &[("Tbit/s", 1e12), ("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)],
            Self::Bytes => &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)],
            Self::Micros => &[("s", 1e6), ("ms", 1e3), ("µs", 1.0)],
            Self::Count => &[("", 1.0)],
            Self::Share => &[("%", 0.01)],
        };
        let (name, factor) =
            units.iter().find(|(_, factor)| highest >= *factor).or(units.last()).copied().unwrap_or(("", 1.0));
        Unit { name, factor }
    }

    /// The unit of a time axis: small steps are easier to read in small units.
    pub(crate) fn unit_of_time(longest_us: f64) -> Unit {
        let (name, factor) = match longest_us {
            us if us >= 3.0 * 3600e6 => ("h", 3600e6),
            us if us >= 10.0 * 60e6 => ("min", 60e6),
            us if us >= 1e6 => ("s", 1e6),
            us if us >= 2e3 => ("ms", 1e3),
            _ => ("µs", 1.0),
        };
        Unit { name, factor }
    }

    /// A value with its unit, in three digits.
    pub(crate) fn show(self, value: f64) -> String {
        let unit = self.unit(value);
        let scaled = value / unit.factor;
        let decimals = match (self, scaled) {
            (Self::Count, _) => 0,
            (_, s) if s < 9.995 => 2,
            (_, s) if s < 99.95 => 1,
            _ => 0,
        };
        format!("{scaled:.decimals$} {}", unit.name).trim_end().to_owned()
    }
}

/// Values at round distances.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    step: f64,
    unit: Unit,
    /// In the base unit.
    pub(crate) values: Vec<f64>,
}

impl Ticks {
    /// About `wanted` values between `low` and `high`, a round number of units apart.
    pub(crate) fn between(low: f64, high: f64, wanted: usize, unit: Unit, least: f64) -> Self {
        let range = (high - low) / unit.factor;
        let step = round_up(range / count(wanted.max(1))).max(least);
        let first = (low / unit.factor / step - 1e-9).ceil();
        let last = (high / unit.factor / step + 1e-9).floor();
        let mut values = Vec::new();
        let mut position = first;
        while position <= last && values.len() < 100 {
            values.push(position * step * unit.factor);
            position += 1.0;
        }
        Self { step, unit, values }
    }

    /// A tick's value, with the digits that tell it from its neighbours.
    pub(crate) fn label(&self, value: f64) -> String {
        let decimals = (0..6).find(|digits| is_whole(self.step * 10_f64.powi(*digits))).unwrap_or(6);
        let decimals = usize::try_from(decimals).unwrap_or(0);
        let scaled = value / self.unit.factor;
        if scaled.abs() < self.step / 2.0 {
            return "0".to_owned();
        }
        format!("{scaled:.decimals$}").replace('-', "−")
    }
}

/// The next of 1, 2, 5, 10, 20, 25, 50, … A quarter needs no decimals from 25 on only.
fn round_up(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let quarter = if power >= 10.0 { 2.5 } else { 5.0 };
    let round = [1.0, 2.0, quarter, 5.0].into_iter().find(|round| step <= round * power * (1.0 + 1e-9)).unwrap_or(10.0);
    round * power
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

#[expect(clippy::cast_precision_loss, reason = "a few dozen at most")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(high: f64, wanted: usize, quantity: Quantity) -> Vec<String> {
        let ticks = Ticks::between(0.0, high, wanted, quantity.unit(high), 0.0);
        ticks.values.iter().map(|value| ticks.label(*value)).collect()
    }

    #[test]
    fn ticks_are_round_numbers_of_the_unit() {
        assert_eq!(labels(103e6, 5, Quantity::Rate), ["0", "25", "50", "75", "100"]);
        assert_eq!(labels(1.02e9, 5, Quantity::Rate), ["0", "0.5", "1.0"]);
        assert_eq!(labels(0.85, 5, Quantity::Share), ["0", "20", "40", "60", "80"]);
        assert_eq!(labels(31_400.0, 4, Quantity::Micros), ["0", "10", "20", "30"]);
    }

    #[test]
    fn things_are_counted_in_whole_numbers() {
        let ticks = Ticks::between(0.0, 2.0, 6, Quantity::Count.unit(2.0), 1.0);
        assert_eq!(ticks.values, [0.0, 1.0, 2.0]);
    }

    #[test]
    fn time_before_the_start_has_a_minus_sign() {
        let ticks = Ticks::between(-1.2e6, 4e6, 5, Quantity::unit_of_time(4e6), 0.0);
        assert_eq!(ticks.values.iter().map(|value| ticks.label(*value)).collect::<Vec<_>>(), ["0", "2", "4"]);
        let ticks = Ticks::between(-2.2e6, 4e6, 7, Quantity::unit_of_time(4e6), 0.0);
        assert_eq!(ticks.label(ticks.values[0]), "−2");
    }

    #[test]
    fn values_have_three_digits_and_a_unit() {
        assert_eq!(Quantity::Rate.show(94.13e6), "94.1 Mbit/s");
        assert_eq!(Quantity::Micros.show(209_400.0), "209 ms");
        assert_eq!(Quantity::Count.show(17.0), "17");
    }
}
