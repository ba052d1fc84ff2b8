//! docs/rules.md, from the rules and the vocabulary.

use std::fmt::Write;

use crate::rule::{Rule, Rules};

/// The page as Markdown.
#[must_use]
pub fn markdown(rules: &Rules) -> String {
    let mut page = String::from(HEAD);
    for (category, title) in CATEGORIES {
        let of_category: Vec<&Rule> = rules.all().iter().filter(|rule| rule.category == category).collect();
        if of_category.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {title}\n");
        for rule in of_category {
            add_rule(&mut page, rule);
        }
    }
    page.push_str(FACTS);
    for entry in rules.language().vocabulary().entries() {
        let _ = writeln!(page, "| `{}` | {} | {} |", entry.name, entry.is, entry.from);
    }
    page
}

/// One rule in full, as text for people.
#[must_use]
pub fn explained(rule: &Rule) -> String {
    let mut text = format!(
        "{}: {}\n{}, {}, for each {}",
        rule.id,
        rule.title,
        rule.category,
        rule.severity.word(),
        rule.per.word()
    );
    let roles: Vec<&str> = rule.roles.iter().map(|role| role.word()).collect();
    if !roles.is_empty() {
        let _ = write!(text, ", for {}", roles.join(", "));
    }
    let _ = writeln!(text, " ({})", rule.file);
    let mut part = |name: &str, content: &str| {
        let _ = writeln!(text, "\n{name}\n  {}", content.trim().replace('\n', "\n  "));
    };
    if let Some(when) = &rule.when {
        part("applies when", when.source());
    }
    part("fires when", rule.condition.source());
    part("why", &rule.why);
    if let Some(want) = &rule.want {
        part("wanted", want.source());
    }
    part("disruption of the fix", rule.disruption.words());
    for (name, content) in [("caveat", &rule.caveat), ("unlike elsewhere", &rule.corrected)] {
        if let Some(content) = content {
            part(name, content);
        }
    }
    part("explains", &rule.explains.join(", ").replace('_', " "));
    part("sources", &rule.sources.iter().map(|source| cited(source)).collect::<Vec<_>>().join("\n"));
    text
}

fn add_rule(page: &mut String, rule: &Rule) {
    let roles: Vec<&str> = rule.roles.iter().map(|role| role.word()).collect();
    let roles = if roles.is_empty() { String::new() } else { format!(" For {}.", roles.join(", ")) };
    let _ = write!(
        page,
        "\n### {}\n\n**{}** ({}, for each {}).{roles} {}\n\n```cel\n",
        rule.id,
        rule.title,
        rule.severity.word(),
        rule.per.word(),
        rule.why
    );
    if let Some(when) = &rule.when {
        let _ = writeln!(page, "// applies when\n{}\n// fires when", when.source().trim());
    }
    let _ = writeln!(page, "{}", rule.condition.source().trim());
    if let Some(want) = &rule.want {
        let _ = writeln!(page, "// wanted\n{}", want.source().trim());
    }
    let _ = writeln!(page, "```\n\nDisruption of the fix: {}.", rule.disruption.words());
    if let Some(caveat) = &rule.caveat {
        let _ = writeln!(page, "Caveat: {caveat}");
    }
    if let Some(corrected) = &rule.corrected {
        let _ = writeln!(page, "Unlike elsewhere: {corrected}");
    }
    let sources: Vec<String> = rule.sources.iter().map(|source| cited(source)).collect();
    let _ =
        writeln!(page, "Explains: {}. Sources: {}.", rule.explains.join(", ").replace('_', " "), sources.join("; "));
}

/// A source with its short name written out.
fn cited(source: &str) -> String {
    let (short, section) = source.split_once(' ').unwrap_or((source, ""));
    match SOURCES.iter().find(|(known, _)| *known == short) {
        Some((_, document)) if section.is_empty() => (*document).to_owned(),
        Some((_, document)) => format!("{document}: {section}"),
        None => source.to_owned(),
    }
}

/// Whether the short name of a source is known.
#[must_use]
pub fn is_known_source(source: &str) -> bool {
    SOURCES.iter().any(|(known, _)| source.split_once(' ').map_or(source, |(short, _)| short) == *known)
}

const HEAD: &str = "# Rules of the audit

Generated from `crates/audit/rules/*.toml` and `crates/audit/vocabulary.toml`; `UPDATE_RULES=1 cargo test -p audit` writes it.

`linerate host audit` asks each of these rules about a host. A rule fires, passes, does not apply, or is unknown because a fact
is missing; a missing fact is never a pass. Conditions are CEL ([why](decisions/0009-rules.md)). `--rules DIR` reads a site's own
`*.toml` files beside these; a rule with the name of one below replaces it.

Severities: *critical* nearly always costs nine tenths of the rate or more; *high* can cost half of it, or hides the cause;
*medium* is worth fixing in a maintenance window; *low* is advice to be tried first; *info* explains.

Beside CEL's own there are numbers with names (`Kbit`, `Mbit`, `Gbit`; `KiB`, `MiB`, `GiB`; `ms` in microseconds) and functions:
`rate(counter)` and `increase(counter)` since the snapshot before, `least`, `greatest`, `ceil_pow2`, `ceil_div`, `abs`,
`near(a, b, share)`, `sum_of(list)`, `max_of(list)`, `ramp_us(initial window, MSS, RTT, rate)` and `mathis_bps(MSS, RTT, lost share)`.
";

const FACTS: &str = "
## Facts

`*` stands for any name, `[]` for the elements of a list. Rates are in bits per second, sizes in bytes, times in microseconds.

| Fact | What it is | Where it is read |
| --- | --- | --- |
";

const CATEGORIES: [(&str, &str); 13] = [
    ("buffers", "Buffers"),
    ("tcp", "TCP"),
    ("pacing", "Pacing"),
    ("nic", "NICs"),
    ("mtu", "Sizes of packets"),
    ("cpu", "CPUs"),
    ("host", "The host around the network"),
    ("storage", "Disks"),
    ("loss", "Who lost the packets"),
    ("drops", "Drop counters"),
    ("path", "The path"),
    ("method", "The test itself"),
    ("drift", "Change and difference"),
];

const SOURCES: [(&str, &str); 57] = [
    ("LHN", "LHN incident of 2020, post-mortem"),
    ("DC24", "Data challenge 2024, observations"),
    ("AMLIGHT", "Handling microbursts at AmLight, part 2"),
    ("OSG2013", "Networking Potpourri, OSG all hands meeting 2013"),
    ("NRAO", "NRAO NAASC, poor download performance"),
    ("FD100", "ESnet fasterdata, 40G/100G network tuning"),
    ("FDPACE", "ESnet fasterdata, packet pacing"),
    ("FDIRQ", "ESnet fasterdata, interrupt binding"),
    ("FDHOST", "ESnet fasterdata, host tuning"),
    ("FDFW", "ESnet fasterdata, firewalls and router ACLs"),
    ("PSU", "ESnet case study, Penn State and VTTI"),
    ("IPS", "Linux 6.12, ip-sysctl.rst"),
    ("SYSNET", "Linux 6.12, admin-guide/sysctl/net.rst"),
    ("SCALE", "Linux, networking/scaling.rst"),
    ("ETHNL", "Linux 6.12, ethtool-netlink.rst"),
    ("SFF8472", "SFF-8472 rev 12.4, SFF-8636 rev 2.10a, CMIS 5.0"),
    ("FEAT", "Linux 6.12, netdev-features.rst"),
    ("GROHW", "Linux commits fb1f5f79ae96 and 1054aee82321"),
    ("SNDBUF", "Linux, tcp_sndbuf_expand and bbr_sndbuf_expand"),
    ("RFC7323", "RFC 7323, window scale option"),
    ("OSG", "osg-htc/networking, fasterdata-tuning.sh v1.3.10"),
    ("OSGDOC", "osg-htc/networking, packet-pacing.md"),
    ("BLT", "bltierney/fasterdata-tuning, fasterdata_tuning.py"),
    ("PSTK", "perfsonar/toolkit, configure_sysctl and configure_nic_parameters"),
    ("PS1370", "perfsonar/project issue 1370"),
    ("PS657", "perfsonar/project issue 657"),
    ("TUNED", "tuned, profiles/network-throughput/tuned.conf"),
    ("TUNED409", "tuned issue 409"),
    ("TUNED660", "tuned issue 660"),
    ("BPFT", "oracle/bpftune, documentation"),
    ("BPFT93", "oracle/bpftune issue 93"),
    ("MLNX", "Mellanox/mlnx-tools, mlnx_tune and sysctl_perf_tuning"),
    ("RHDROP", "Red Hat solution 657483"),
    ("RHEL9", "RHEL 9, tuning the network performance"),
    ("SD9748", "systemd issues 9748, 9143, 9880"),
    ("RHECN", "lnykryn/systemd-rhel pull 240"),
    ("SD28696", "systemd issue 28696"),
    ("NMS1759", "nmstate issue 1759"),
    ("MOBY", "moby issues 41902, 42714, 37373, 37214"),
    ("METAL", "metal-stack/metal-images pull 429"),
    ("IPERF", "esnet/iperf issues 219, 296, 841, 897"),
    ("DAQ", "NVIDIA/daqiri issue 250"),
    ("WLCG", "WLCG challenge on host tuning 2026"),
    ("INDIS24", "INDIS 2024, Recent Linux Improvements that Impact TCP Throughput"),
    ("CILIUM", "Cilium performance tuning guide, BIG TCP"),
    ("MTU8139", "linuxaleph, jumbo frames to a KVM guest; 8139cp driver"),
    ("TCFQ", "tc-fq(8)"),
    ("ATMO", "vexxhost/atmosphere issue 3891"),
    ("K8S", "kubernetes issue 74151; openshift/cluster-node-tuning-operator pull 566"),
    ("INTELPSTATE", "Linux, admin-guide/pm/intel_pstate.rst"),
    ("SYSKERNEL", "Linux 6.12, admin-guide/sysctl/kernel.rst"),
    ("SYSVM", "Linux 6.12, admin-guide/sysctl/vm.rst"),
    ("ADJTIMEX", "adjtimex(2)"),
    ("FDSTOR", "ESnet fasterdata, storage of data transfer nodes"),
    ("FDPCI", "ESnet fasterdata, PCIe tuning"),
    ("SCITAGS", "scitags.org, technical specification"),
    ("LAB", "measured on Linux 6.18"),
];
