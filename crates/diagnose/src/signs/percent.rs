//! A part of something, in words.

/// A part in words: `3.1 %`, `0.02 %`. A part is never shown as nothing, and less than all never as all.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        percent if (NEARLY_ALL..100.0).contains(&percent) => nearly_all(percent),
        percent if percent >= 10.0 => format!("{percent:.0} %"),
        percent if percent >= 0.1 => format!("{percent:.1} %"),
        percent if (0.0..LEAST).contains(&percent) => "less than 0.0001 %".to_owned(),
        percent => format!("{percent:.4} %"),
    }
}

/// From here on a part in whole percent would be all.
const NEARLY_ALL: f64 = 99.5;
/// What four digits would round to nothing.
const LEAST: f64 = 0.000_05;

/// As many digits as keep it below all: `99.8 %`, `99.997 %`.
fn nearly_all(percent: f64) -> String {
    let shown = (1..=MOST_DIGITS).map(|digits| format!("{percent:.digits$}"));
    shown
        .into_iter()
        .find(|text| !text.starts_with("100"))
        .map_or_else(|| "nearly 100 %".to_owned(), |text| format!("{text} %"))
}

const MOST_DIGITS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_neither_rounded_to_all_nor_to_nothing() {
        let shown = [0.0, 1e-9, 0.000_2, 0.031, 0.31, 0.994, 0.997_7, 0.999_97, 0.999_999_99, 1.0].map(percent);
        let expected = [
            "0 %",
            "less than 0.0001 %",
            "0.0200 %",
            "3.1 %",
            "31 %",
            "99 %",
            "99.8 %",
            "99.997 %",
            "nearly 100 %",
            "100 %",
        ];
        assert_eq!(shown, expected);
    }
}
