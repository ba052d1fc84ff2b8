//! Sentences with gaps: `{lost} of {all} calls ({lost%all})`.

use super::pattern::Captures;

/// The sentence with what the gaps hold. `{host}` stays: which host it is, is known later.
pub(super) fn fill(text: &str, found: &Captures) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        said.push_str(before);
        let Some((gap, behind)) = behind.split_once('}') else { break };
        said.push_str(&value(gap, found).unwrap_or_else(|| format!("{{{gap}}}")));
        rest = behind;
    }
    said.push_str(rest);
    said
}

fn value(gap: &str, found: &Captures) -> Option<String> {
    if let Some((part, whole)) = gap.split_once('%') {
        let [part, whole] = [part, whole].map(|name| found.numbers.get(name).copied());
        return percent([part?, whole?]);
    }
    if let Some((number, name)) = gap.split_once('/') {
        let (number, by) = (number.parse::<u64>().ok()?, *found.numbers.get(name)?);
        let tenths = number.checked_mul(10_000)?.checked_div(by)?;
        return Some(format!("{}.{}", tenths / 10, tenths % 10));
    }
    found.texts.get(gap).cloned()
}

/// Two digits that mean something: `3.8 %`, `0.041 %`.
fn percent([part, whole]: [u64; 2]) -> Option<String> {
    let millionths = u128::from(part).checked_mul(1_000_000)?.checked_div(u128::from(whole))?;
    Some(match millionths {
        100_000.. => format!("{} %", millionths / 10_000),
        10_000.. => format!("{}.{} %", millionths / 10_000, millionths / 1_000 % 10),
        _ => format!("0.{millionths:04} %"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_as_they_are_printed_and_parts_as_percentages() {
        let mut found = Captures::default();
        for (name, text, value) in
            [("lost", "81,223", 81_223_000), ("all", "2122331", 2_122_331_000), ("rate", "24.31", 24_310)]
        {
            found.texts.insert(name.to_owned(), text.to_owned());
            found.numbers.insert(name.to_owned(), value);
        }
        assert_eq!(fill("{lost} of {all} ({lost%all}) at {host}", &found), "81,223 of 2122331 (3.8 %) at {host}");
        assert_eq!(fill("{1000/rate} ms each", &found), "41.1 ms each");
        assert_eq!(fill("{none}", &found), "{none}");
    }
}
