//! Names and short texts that a step may carry. Each has a grammar; what does not fit it cannot be made, also not by
//! reading it from a stranger. None can hold a slash, a blank or a control character, so none leads to another file.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct NameError {
    /// The text; of a long one the beginning.
    pub text: String,
    /// What was expected.
    pub expected: &'static str,
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $fits:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "String", into = "String")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        pub struct $name(String);

        impl $name {
            /// Reads one.
            ///
            /// # Errors
            /// For a text that is none.
            pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                let fits: fn(&str) -> bool = $fits;
                if fits(&text) {
                    return Ok(Self(text));
                }
                Err(NameError { text: text.chars().take(SHOWN).collect(), expected: $expected })
            }

            /// The name as text, which has passed the check.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text!(
    /// The name of a network device (`dev_valid_name`, net/core/dev.c).
    DeviceName,
    "the name of a network device: up to 15 characters, no slash, colon or blank",
    foreign::device::is_name
);
text!(
    /// A network namespace: a name of `ip netns` or Docker, or `pid:N` of a process in it.
    NamespaceName,
    "the name of a network namespace: letters, digits, `_`, `-`, `.`, `@`, or pid:N",
    |text| match text.strip_prefix("pid:") {
        Some(number) => number.bytes().all(|byte| byte.is_ascii_digit()) && number.parse::<u32>().is_ok_and(|pid| pid > 0),
        None => is_word(text, 255, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@')),
    }
);
text!(
    /// A sysctl, with dots; a dot in a device's name is written as a slash.
    SysctlKey,
    "a sysctl that this program writes (net.ipv4.tcp_rmem and so on; see docs/helper.md)",
    super::sysctl::may_be_written
);
text!(
    /// The kernel's name of a device's feature, such as `rx-gro-hw`.
    FeatureName,
    "the name of a feature, such as rx-gro-hw",
    |text| is_word(text, 31, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_'))
);
text!(
    /// A frequency governor, such as `performance`.
    GovernorName,
    "the name of a frequency governor, such as performance",
    |text| is_word(text, 15, |byte| byte.is_ascii_lowercase() || byte == b'_')
);
text!(
    /// A kernel module of congestion control or of a queueing discipline.
    ModuleName,
    "a module of congestion control or queueing, tcp_NAME or sch_NAME",
    |text| {
        let rest = text.strip_prefix("tcp_").or_else(|| text.strip_prefix("sch_")).unwrap_or_default();
        is_word(rest, 32, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    }
);
text!(
    /// Processors as a list, such as `0-15,32`.
    CpuList,
    "a list of CPUs, such as 0-15,32",
    |text| text.len() <= 1_024 && text.split(',').all(is_range)
);
text!(
    /// Processors as a mask, such as `ffff` or `00000001,00000000`.
    CpuMask,
    "a mask of CPUs in hexadecimal, such as ffff",
    |text| {
        let is_word = |word: &str| (1..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        text.len() <= 2_304 && text.split(',').all(is_word)
    }
);
text!(
    /// How a bond chooses, as ip-link(8) names it.
    BondPolicy,
    "one of layer2, layer3+4, layer2+3, encap2+3, encap3+4, vlan+srcmac",
    |text| BOND_POLICIES.contains(&text)
);
text!(
    /// A destination with the length of its prefix, such as `192.0.2.0/24`.
    Prefix,
    "a destination with the length of its prefix, such as 192.0.2.0/24 or ::/0",
    |text| prefix(text).is_some()
);

impl Prefix {
    /// Address and length.
    #[must_use]
    pub fn parts(&self) -> (std::net::IpAddr, u8) {
        // What does not parse cannot be made.
        prefix(&self.0).unwrap_or((std::net::Ipv6Addr::UNSPECIFIED.into(), 0))
    }
}

impl CpuMask {
    /// The mask as the kernel writes it: words of eight digits, the highest first, none of them needless.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let words = self.0.split(',').map(|word| u32::from_str_radix(word, 16).unwrap_or_default());
        words.skip_while(|&word| word == 0).collect()
    }
}

/// The number of a class or of what holds it: `1:1`, `8001:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct ClassId {
    /// That of the discipline.
    pub major: u16,
    /// That within it; 0 is the discipline itself.
    pub minor: u16,
}

impl TryFrom<String> for ClassId {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let half = |text: &str| match text {
            "" => Some(0),
            digits if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => u16::from_str_radix(digits, 16).ok(),
            _ => None,
        };
        let read = text.split_once(':').and_then(|(major, minor)| Some((half(major)?, half(minor)?)));
        let Some((major, minor)) = read.filter(|&(major, _)| major != 0 && major != u16::MAX) else {
            let expected = "the number of a class, two hexadecimal numbers such as 1:1";
            return Err(NameError { text: text.chars().take(SHOWN).collect(), expected });
        };
        Ok(Self { major, minor })
    }
}

impl From<ClassId> for String {
    fn from(id: ClassId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            0 => write!(f, "{:x}:", self.major),
            minor => write!(f, "{:x}:{minor:x}", self.major),
        }
    }
}

/// Names of ip-link(8) in the order of the kernel's numbers (include/uapi/linux/if_bonding.h, `BOND_XMIT_POLICY_…`).
pub const BOND_POLICIES: [&str; 6] = ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"];

fn is_word(text: &str, longest: usize, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(allowed) && !matches!(text, "." | "..")
}

fn is_range(text: &str) -> bool {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| digits)
    };
    match text.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)).is_some_and(|(first, last)| first <= last),
        None => number(text).is_some(),
    }
}

fn prefix(text: &str) -> Option<(std::net::IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address: std::net::IpAddr = address.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let length = length.parse().ok().filter(|&length: &u8| length <= longest)?;
    Some((address, length))
}

/// Characters of a wrong text that an error shows.
const SHOWN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_to_another_file() {
        for text in ["..", ".", "a/b", "", "a b", "a\n", "../../etc/passwd", "a\0b", "/run/netns/x"] {
            assert!(DeviceName::new(text).is_err(), "{text:?}");
            assert!(NamespaceName::new(text).is_err(), "{text:?}");
            assert!(FeatureName::new(text).is_err() && GovernorName::new(text).is_err(), "{text:?}");
            assert!(ModuleName::new(format!("tcp_{text}")).is_err(), "{text:?}");
        }
        assert!(DeviceName::new("eth0.100").is_ok() && DeviceName::new("a-name-too-long-").is_err());
        assert!(NamespaceName::new("pid:17").is_ok());
        for text in ["pid:0", "pid:", "pid:+1", "pid:1/../2", "pid:99999999999"] {
            assert!(NamespaceName::new(text).is_err(), "{text}");
        }
        assert!(ModuleName::new("tcp_bbr").is_ok() && ModuleName::new("vfio").is_err());
    }

    #[test]
    fn processors_prefixes_and_classes_have_their_grammar() {
        assert!(CpuList::new("0-15,32").is_ok());
        for text in ["", "1-", "3-1", "0 1", "0,,1", "+1", "99999"] {
            assert!(CpuList::new(text).is_err(), "{text}");
        }
        assert_eq!(CpuMask::new("00000000,0000000f").unwrap().words(), [15]);
        assert!(CpuMask::new("(a mask of the node's cores)").is_err() && CpuMask::new("123456789").is_err());
        assert_eq!(Prefix::new("2001:db8::/32").unwrap().parts().1, 32);
        assert!(Prefix::new("192.0.2.0/33").is_err() && Prefix::new("default").is_err());
        let class = |text: &str| ClassId::try_from(text.to_owned());
        assert_eq!(class("8001:2").unwrap().to_string(), "8001:2");
        assert_eq!(class("1:").unwrap(), ClassId { major: 1, minor: 0 });
        assert!(class("ffff:1").is_err() && class("root").is_err() && class(":1").is_err() && class("1:+2").is_err());
    }

    #[test]
    fn what_is_read_from_a_stranger_is_checked_too() {
        assert!(serde_json::from_str::<DeviceName>("\"eth0\"").is_ok());
        let error = serde_json::from_str::<DeviceName>("\"../eth0\"").unwrap_err().to_string();
        assert!(error.contains("`../eth0` is not the name of a network device"), "{error}");
    }
}
