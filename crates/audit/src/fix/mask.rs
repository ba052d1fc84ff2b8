//! Masks of CPUs, as the kernel writes them: words of 32 bits in hexadecimal, the highest first (lib/vsprintf.c,
//! bitmap_string).

/// The mask of a list such as `0-3,8`; [`None`] where it is none. An empty list is a mask without a CPU.
#[must_use]
pub fn of_list(list: &str) -> Option<String> {
    let mut words = vec![0u32];
    for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last > MOST_CPUS || first > last {
            return None;
        }
        words.resize(words.len().max(last / 32 + 1), 0);
        for cpu in first..=last {
            words[cpu / 32] |= 1 << (cpu % 32);
        }
    }
    let words: Vec<String> = match words.as_slice() {
        [only] => vec![format!("{only:x}")],
        several => several.iter().rev().map(|word| format!("{word:08x}")).collect(),
    };
    Some(words.join(","))
}

/// `CONFIG_NR_CPUS` is at most this on any architecture (arch/x86/Kconfig of 6.18, NR_CPUS_RANGE_END).
const MOST_CPUS: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::of_list;

    #[test]
    fn lists_become_words_of_32_bits() {
        let cases = [("", "0"), ("0", "1"), ("0-3,8", "10f"), ("31", "80000000"), ("32", "00000001,00000000")];
        for (list, mask) in cases {
            assert_eq!(of_list(list).as_deref(), Some(mask), "{list}");
        }
        for wrong in ["3-1", "a", "0-", "0-99999999"] {
            assert_eq!(of_list(wrong), None, "{wrong}");
        }
    }
}
