//! Which of several definitions wins.

use model::host::provenance::{Definition, Origin, Setting};

use super::sysctl_d::{MAIN_FILE, one_blank};

/// What TuneD applies after its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterTuned {
    /// Files of sysctls once more (`reapply_sysctl` of tuned-main.conf).
    SysctlFiles,
    Nothing,
}

/// Puts the definitions of one setting together, given in the order in which they are applied, masked ones first.
pub(super) fn setting(definitions: Vec<Definition>, after: AfterTuned, running: Option<&str>) -> Setting {
    let winner = winner(&definitions, after);
    let after_sysctl_system = last(&definitions, is_sysctl).or(winner);
    let running_differs = winner.zip(running).map(|(index, running)| !same(&definitions[index].value, running));
    Setting { winner, winner_after_sysctl_system: after_sysctl_system, running_differs, definitions }
}

/// Who holds after boot. `systemd-sysctl` does not read `/etc/sysctl.conf` by that name.
///
/// Model: every host boots with systemd. One that runs `sysctl --system` instead has what that leaves.
fn winner(definitions: &[Definition], after: AfterTuned) -> Option<usize> {
    let of_files = last(definitions, |definition| is_sysctl(definition) && definition.file != MAIN_FILE);
    let of_tuned = last(definitions, |definition| definition.origin == Origin::Tuned);
    if of_tuned.is_some() {
        // Model: TuneD reads these directories by its own order of precedence, which differs for two files of the same
        // name in both of them.
        let again = |definition: &Definition| is_sysctl(definition) && is_reapplied(&definition.file);
        return last(definitions, again).filter(|_| after == AfterTuned::SysctlFiles).or(of_tuned);
    }
    let of_connections: Vec<usize> = indices(definitions, |definition| definition.origin == Origin::NetworkManager);
    if let [first, rest @ ..] = &of_connections[..] {
        // Which of several connections comes up is decided by priorities and times.
        let agree = rest.iter().all(|other| definitions[*other].value == definitions[*first].value);
        return agree.then_some(*first);
    }
    // The kernel command line holds for its own parameters and for modules compiled in; modprobe puts it last, too.
    of_files
        .or_else(|| last(definitions, |definition| definition.origin == Origin::CommandLine))
        .or_else(|| last(definitions, |definition| definition.origin == Origin::Modprobe))
}

/// What TuneD reads again after its own settings (tuned/plugins/plugin_sysctl.py, `SYSCTL_CONFIG_DIRS`).
fn is_reapplied(file: &str) -> bool {
    file == MAIN_FILE || file.starts_with("/run/sysctl.d/") || file.starts_with("/etc/sysctl.d/")
}

fn is_sysctl(definition: &Definition) -> bool {
    definition.origin == Origin::Sysctl
}

/// The last of those that are applied; a name that is written out wins against every pattern.
fn last(definitions: &[Definition], of: impl Fn(&Definition) -> bool) -> Option<usize> {
    let all = indices(definitions, of);
    let written_out = all.iter().rev().find(|index| definitions[**index].pattern.is_none());
    written_out.or(all.last()).copied()
}

fn indices(definitions: &[Definition], of: impl Fn(&Definition) -> bool) -> Vec<usize> {
    let applied = definitions.iter().enumerate().filter(|(_, definition)| !definition.masked && of(definition));
    applied.map(|(index, _)| index).collect()
}

/// Whether two values are the same for the kernel: word by word, as text or as numbers.
fn same(defined: &str, running: &str) -> bool {
    let (defined, running) = (one_blank(defined), one_blank(running));
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (defined, running) = (words(&defined), words(&running));
    defined.len() == running.len()
        && defined.iter().zip(&running).all(|(one, other)| {
            one == other || one.parse::<i128>().ok().zip(other.parse::<i128>().ok()).is_some_and(|(a, b)| a == b)
        })
}
