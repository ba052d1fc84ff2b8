//! `linerate check`: one line and a code for monitoring systems, by the Nagios plugin guidelines.

use super::nagios::one_line;

/// What was found, as a monitoring system counts it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    /// What needs somebody now, in a line each.
    pub critical: Vec<String>,
    /// What somebody knows of, or may become worse.
    pub warning: Vec<String>,
    /// Series that are judged, by what is known of them.
    pub series: SeriesCounts,
}

/// Series by what is known of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeriesCounts {
    pub good: u64,
    pub worse: u64,
    pub suspect: u64,
    pub learning: u64,
    pub stale: u64,
}

impl SeriesCounts {
    const fn all(self) -> u64 {
        self.good + self.worse + self.suspect + self.learning + self.stale
    }
}

/// The line, and the code: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
pub fn line(health: &Health) -> (String, u8) {
    let SeriesCounts { good, worse, suspect, learning, stale } = health.series;
    let (word, code) = match (health.series.all(), health.critical.len(), health.warning.len()) {
        (_, 1.., _) => ("CRITICAL", 2),
        (_, 0, 1..) => ("WARNING", 1),
        (0, 0, 0) => ("UNKNOWN", 3),
        (1.., 0, 0) => ("OK", 0),
    };
    let mut said: Vec<String> = health.critical.iter().chain(&health.warning).take(MOST_SAID).cloned().collect();
    let left = (health.critical.len() + health.warning.len()).saturating_sub(MOST_SAID);
    said.extend((left > 0).then(|| format!("{left} more")));
    if said.is_empty() {
        said.push(match (code, learning) {
            (3, _) => "no results yet".to_owned(),
            (_, 0) => format!("{good} series as usual"),
            _ => format!("{good} series as usual, {learning} not judged: too few results"),
        });
    }
    let text = one_line(&said.join("; "));
    let line = format!(
        "LINERATE {word} - {text} | incidents={};;0;0 series={} worse={worse} suspect={suspect} stale={stale} \
         learning={learning}\n",
        health.critical.len(),
        health.series.all()
    );
    (line, code)
}

/// Lines of monitoring systems are short.
const MOST_SAID: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worst_says_the_word_and_nothing_is_never_ok() {
        let good = SeriesCounts { good: 12, ..SeriesCounts::default() };
        let code = |health: &Health| line(health).1;
        assert_eq!(code(&Health::default()), 3);
        assert_eq!(code(&Health { series: good, ..Health::default() }), 0);
        let warned = Health { warning: vec!["stale".to_owned()], series: good, ..Health::default() };
        assert_eq!(code(&warned), 1);
        assert_eq!(code(&Health { critical: vec!["a | b".to_owned()], ..warned }), 2);
    }

    #[test]
    fn text_has_no_bar_and_performance_data_follows_one() {
        let health = Health { critical: vec!["host a|b".to_owned(); 6], ..Health::default() };
        let (text, _) = line(&health);
        assert_eq!(text.matches('|').count(), 1, "{text}");
        assert!(text.contains("2 more") && text.contains("incidents=6;;0;0"), "{text}");
    }
}
