//! Two rounds, before and after a change, for people.

use diagnose::proof::{Change, Pair, Proof, Verdict};

use super::wrap;

/// Pair by pair what suffered, and the answer of the rank test.
pub fn text(proof: &Proof) -> String {
    let mut text = String::new();
    let suffered: Vec<&Pair> = proof.those(true).collect();
    if !suffered.is_empty() {
        text.push_str(&table(&suffered));
        text.push('\n');
    }
    match &proof.suffered {
        Some(change) => text.push_str(&answer("affected", suffered.len(), change)),
        None => text.push_str("nothing suffered before that both rounds have tested\n"),
    }
    if let Some(change) = &proof.spared {
        text.push_str(&answer("the others", proof.those(false).count(), change));
    }
    text.push_str(&wrap::text(
        &format!("(rank test of Mann and Whitney; asked for p <= {:.4})", 1.0 - proof.confidence),
        0,
    ));
    text.push_str(if proof.is_fixed() { "It is fixed.\n" } else { "Not shown to be fixed.\n" });
    text
}

fn table(pairs: &[&Pair]) -> String {
    let name = |pair: &Pair| format!("{} to {}", pair.from, pair.to);
    let width = pairs.iter().map(|pair| name(pair).chars().count()).max().unwrap_or(0);
    let mut text = format!("{:<width$}  {:>12}  {:>12}  of\n", "", "before", "after");
    for pair in pairs {
        let Some((before, after)) = pair.medians() else { continue };
        let (before, after) = (before.to_string(), after.to_string());
        text.push_str(&format!("{:<width$}  {before:>12}  {after:>12}  {}\n", name(pair), pair.should));
    }
    text
}

fn answer(what: &str, pairs: usize, change: &Change) -> String {
    let percent = |part: f64| match part * 100.0 {
        small if small < 1.0 => format!("{small:.2} %"),
        other => format!("{other:.0} %"),
    };
    let verdict = match change.verdict {
        Verdict::Gain => "faster, by more than noise",
        Verdict::Loss => "SLOWER, by more than noise",
        Verdict::Noise => "no difference above the noise",
    };
    let pairs = if pairs == 1 { "1 pair".to_owned() } else { format!("{pairs} pairs") };
    format!(
        "{what} ({pairs}): the median goes from {} of what it should be to {}: {verdict}, {}\n",
        percent(change.before),
        percent(change.after),
        chance(change.p_two_sided)
    )
}

fn chance(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_how_sure_it_is() {
        let change = Change { before: 0.001, after: 0.95, p_two_sided: 0.000_04, verdict: Verdict::Gain };
        let said = "affected (9 pairs): the median goes from 0.10 % of what it should be to 95 %: faster, by more than \
                    noise, p < 0.0001\n";
        assert_eq!(answer("affected", 9, &change), said);
        let noise = Change { p_two_sided: 0.31, verdict: Verdict::Noise, ..change };
        assert!(answer("the others", 1, &noise).ends_with("(1 pair): the median goes from 0.10 % of what it should be to 95 %: no difference above the noise, p = 0.3100\n"));
    }
}
