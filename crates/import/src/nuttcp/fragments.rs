//! Rows of nuttcp whose columns stand in lines of their own, in the order in which a slide's text was extracted:
//! `14.6804 Mbps`, `1.7500 MB /`, `1.00 sec =`, `1 retrans`. Which number is which is clear from the words; whether the
//! columns belong together is proved by the arithmetic of the row.

/// The row that the words make in nuttcp's own order; `None` where they are not just those of one row.
pub(crate) fn in_order(words: &str) -> Option<String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let at = |unit: &[&str]| words.windows(unit.len()).position(|found| found == unit).filter(|at| *at > 0);
    let (amount, time, rate) = (at(&["MB", "/"])?, at(&["sec", "="])?, at(&["Mbps"])?);
    let number = |at: usize| words.get(at - 1).copied();
    let mut row = format!("{} MB / {} sec = {} Mbps", number(amount)?, number(time)?, number(rate)?);
    let used = |at: usize| {
        [(amount, 2), (time, 2), (rate, 1)].into_iter().any(|(start, length)| (start - 1..start + length).contains(&at))
    };
    for (_, word) in words.iter().enumerate().filter(|(at, _)| !used(*at)) {
        row.push(' ');
        row.push_str(word);
    }
    Some(row)
}

/// Whether a line is a column of such a row.
pub(crate) fn is_column(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [number, unit, ..] = words.as_slice() else { return false };
    number.parse::<f64>().is_ok() && matches!(*unit, "MB" | "sec" | "Mbps" | "retrans")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_put_into_order_and_anything_else_is_none() {
        let row = in_order("14.6804 Mbps 1.7500 MB / 1.00 sec = 1 retrans").unwrap();
        assert_eq!(row, "1.7500 MB / 1.00 sec = 14.6804 Mbps 1 retrans");
        assert_eq!(in_order("1.7500 MB / 1.00 sec ="), None);
        assert!(is_column("  15 retrans") && !is_column("-p 5679"));
        assert_eq!(in_order("MB / 1 sec = 2 Mbps"), None);
    }
}
