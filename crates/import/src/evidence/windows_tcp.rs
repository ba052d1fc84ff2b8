//! TCP of Windows: `netsh interface tcp show global` and `show supplemental` in English and German, `Get-NetTCPSetting` of PowerShell.

use super::host_fact::{HostFact, WindowTuning, WindowsTcp};
use super::shown::{Found, Shown};

/// Reads from a title or the first setting to the last one.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    (is_title(first) || setting(first).is_some()).then_some(())?;
    let mut tcp = WindowsTcp::default();
    let mut template = Template::InUse;
    let (mut used, mut settings) = (0, 0);
    for (number, line) in lines.iter().enumerate().take(MAX_LINES) {
        let text = line.trim();
        if let Some((name, value)) = setting(text) {
            settings += 1;
            match name {
                Name::Template => template = Template::of(value),
                Name::Tuning if template == Template::InUse => tcp.autotuning = tuning(value).or(tcp.autotuning),
                Name::Control if template == Template::InUse => {
                    // `Add-On Congestion Control Provider : default` stands before the one that is in use.
                    let value = value.to_lowercase();
                    let says_something = !matches!(value.as_str(), "default" | "none" | "");
                    tcp.congestion_control = Some(value).filter(|_| says_something).or(tcp.congestion_control);
                }
                _ => {}
            }
        } else if !is_title(text) && !is_other(text) {
            if is_rule(text) {
                continue;
            }
            break;
        }
        used = number + 1;
    }
    let says_something = tcp.autotuning.is_some() || tcp.congestion_control.is_some();
    (settings > 0 && says_something)
        .then_some(Found { shows: vec![Shown::Host(HostFact::WindowsTcp(tcp))], lines: used })
}

fn is_rule(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'-' | b'='))
}

/// All settings of all templates.
const MAX_LINES: usize = 400;

/// What PowerShell prints the settings of several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Template {
    /// That of connections to far hosts, or the only one.
    InUse,
    /// Of connections within a data centre, or of old programs.
    Other,
}

impl Template {
    fn of(name: &str) -> Self {
        if name.to_lowercase().starts_with("internet") { Self::InUse } else { Self::Other }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Template,
    Tuning,
    Control,
    /// One that only shows that this is such an output.
    Known,
}

/// A setting that is known by its words.
fn setting(line: &str) -> Option<(Name, &str)> {
    let (name, value) = line.split_once(':')?;
    let lower = name.trim().to_lowercase();
    let (_, name) = NAMES.iter().find(|(words, _)| lower.ends_with(words))?;
    let value = value.trim();
    // A sentence about a setting has more behind its colon.
    (value.split_whitespace().count() <= 1).then_some((*name, value))
}

/// The ends of names of settings, in lower letters.
const NAMES: [(&str, Name); 13] = [
    ("receive window auto-tuning level", Name::Tuning),
    ("abstimmungsgrad empfangsfenster", Name::Tuning),
    ("autotuninglevellocal", Name::Tuning),
    ("congestion control provider", Name::Control),
    ("congestionprovider", Name::Control),
    ("berlastungssteuerungsanbieter", Name::Control),
    ("berlastungssteuerungsanbieter\"", Name::Control),
    ("settingname", Name::Template),
    ("receive-side scaling state", Name::Known),
    ("zustand der empfangsseitigen skalierung", Name::Known),
    ("ecn capability", Name::Known),
    ("ecncapability", Name::Known),
    ("ecn-funktion", Name::Known),
];

fn is_title(line: &str) -> bool {
    TITLES.iter().any(|title| line.starts_with(title))
}

const TITLES: [&str; 6] = [
    "TCP Global Parameters",
    "TCP Supplemental Parameters",
    "TCP global default template",
    "Globale TCP-",
    "Zus\u{e4}tzliche TCP-Parameter",
    "netsh int tcp show ",
];

/// `Initial RTO                         : 1000`: any other setting, the colon of which is one of a column.
fn is_other(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, value)| {
        let is_column = name.ends_with(' ') && (value.starts_with(' ') || value.is_empty());
        is_column && name.split_whitespace().count() <= MOST_WORDS && value.split_whitespace().count() <= 3
    })
}

/// Of the name of a setting.
const MOST_WORDS: usize = 8;

fn tuning(value: &str) -> Option<WindowTuning> {
    match value.to_lowercase().as_str() {
        "disabled" => Some(WindowTuning::Disabled),
        "highlyrestricted" => Some(WindowTuning::HighlyRestricted),
        "restricted" => Some(WindowTuning::Restricted),
        "normal" | "experimental" => Some(WindowTuning::Normal),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(text: &str) -> Option<(WindowsTcp, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new())?;
        let [Shown::Host(HostFact::WindowsTcp(tcp))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        Some((tcp.clone(), found.lines))
    }

    #[test]
    fn the_level_and_the_congestion_control_are_read() {
        let english = "TCP Global Parameters\n----------------------------------------------\n\
                       Receive-Side Scaling State          : enabled\nReceive Window Auto-Tuning Level    : highlyrestricted\n\
                       Add-On Congestion Control Provider  : ctcp\nECN Capability                      : disabled\n\
                       Initial RTO                         : 3000\n\nWe changed it: nothing happened.\n";
        let (found, lines) = tcp(english).expect("settings");
        assert_eq!(
            (found.autotuning, found.congestion_control.as_deref()),
            (Some(WindowTuning::HighlyRestricted), Some("ctcp"))
        );
        assert_eq!(lines, 7);
        let german = "Globale TCP-Parameter\n--------\nZustand der empfangsseitigen Skalierung          : enabled\n\
                      Autom. Abstimmungsgrad Empfangsfenster    : disabled\n\
                      Add-On \"\u{dc}berlastungssteuerungsanbieter\"  : default\nECN-Funktion                      : disabled\n\n\
                      Zus\u{e4}tzliche TCP-Parameter\n--------\n\u{dc}berlastungssteuerungsanbieter         : cubic\n";
        let (found, lines) = tcp(german).expect("settings");
        assert_eq!(
            (found.autotuning, found.congestion_control.as_deref()),
            (Some(WindowTuning::Disabled), Some("cubic"))
        );
        assert_eq!(lines, 10);
    }

    #[test]
    fn of_templates_that_of_far_hosts_counts() {
        let text = "SettingName                   : InternetCustom\nMinRto(ms)                    : 300\nCongestionProvider            : CUBIC\n\
                    AutoTuningLevelEffective      : Local\nAutoTuningLevelLocal          : Restricted\nEcnCapability                 : Disabled\n\n\
                    SettingName                   : DatacenterCustom\nCongestionProvider            : DCTCP\nAutoTuningLevelLocal          : Normal\n";
        let (found, lines) = tcp(text).expect("settings");
        assert_eq!(
            (found.autotuning, found.congestion_control.as_deref()),
            (Some(WindowTuning::Restricted), Some("cubic"))
        );
        assert_eq!(lines, 10);
        assert_eq!(tcp("Receive Window Auto-Tuning Level: it was off on the server\n"), None);
        assert_eq!(tcp("ECN Capability : enabled\n"), None, "nothing that is said");
    }
}
