//! What somebody may have meant to write.

/// The word nearest to `wrong`, if one is near enough to have been meant: a third of its letters may differ.
#[must_use]
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wrong: Vec<char> = wrong.chars().take(LONGEST).map(alike).collect();
    let most = (wrong.len() / 3).max(1);
    known
        .map(|word| (distance(&wrong, &word.chars().map(alike).collect::<Vec<_>>()), word))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Longer words are cut: nothing we know is near them.
const LONGEST: usize = 64;

fn alike(letter: char) -> char {
    if letter == '_' { '-' } else { letter.to_ascii_lowercase() }
}

/// How many letters must be put in, taken out, changed or swapped with the next (Damerau 1964, optimal alignment).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, first) in rows[0].iter_mut().enumerate() {
        *first = j;
    }
    for i in 1..=one.len() {
        for j in 1..=other.len() {
            let changed = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["rate", "queue", "cross", "congestion-control"];
        assert_eq!(nearest("rat", known.into_iter()), Some("rate"));
        assert_eq!(nearest("qeueu", known.into_iter()), None);
        assert_eq!(nearest("qeuue", known.into_iter()), Some("queue"));
        assert_eq!(nearest("congestion_control", known.into_iter()), Some("congestion-control"));
        assert_eq!(nearest("delay", known.into_iter()), None);
        assert_eq!(nearest(&"x".repeat(100_000), known.into_iter()), None);
    }
}
