//! Names of network devices, as the kernel has them.

/// Whether the kernel takes it for the name of a device: 1 to 15 bytes, no slash, colon or blank, not `.` or `..`
/// (`dev_valid_name`, net/core/dev.c). The kernel lets control characters pass; no host has them in good faith, so they
/// are refused as well.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let fits = |letter: char| !letter.is_whitespace() && !matches!(letter, '/' | ':') && !crate::terminal::acts(letter);
    (1..=LONGEST).contains(&text.len()) && !matches!(text, "." | "..") && text.chars().all(fits)
}

/// `IFNAMSIZ` of include/uapi/linux/if.h, less the byte that ends the name.
const LONGEST: usize = 15;

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn the_kernels_rules_hold_and_no_name_acts() {
        for name in ["lo", "eth0.100", "enp65s0f0np0", "br-1a2b3c4d5e6f", "$(id)", "日本"] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", ".", "..", "a b", "a\nb", "eth0:1", "a/b", "sixteen-letters-", "a\u{1b}[2J", "a\u{a0}b"] {
            assert!(!is_name(text), "{text:?}");
        }
    }
}
