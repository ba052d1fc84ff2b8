//! Patterns of sysctls: `*`, `?` and `[…]` stand within one part of a name (glob(7)).

/// Whether `name` has characters that stand for others.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether the sysctl `name` is meant by `pattern`. Both are written with points; points of a device's name as slashes.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (mut patterns, mut names) = (pattern.split('.'), name.split('.'));
    loop {
        match (patterns.next(), names.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if part_matches(pattern.as_bytes(), part.as_bytes()) => {}
            _ => return false,
        }
    }
}

/// Steps back to the last `*` only, so that the time is the product of the lengths at most.
fn part_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut last_star = None;
    while position < text.len() {
        match one(&pattern[at..], text[position]) {
            One::Star => {
                last_star = Some((at + 1, position));
                at += 1;
            }
            One::Fits(length) => {
                at += length;
                position += 1;
            }
            One::Not => {
                let Some((after, start)) = last_star else { return false };
                last_star = Some((after, start + 1));
                (at, position) = (after, start + 1);
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

enum One {
    Star,
    Fits(usize),
    Not,
}

/// What the beginning of `pattern` says about one character.
fn one(pattern: &[u8], byte: u8) -> One {
    match pattern {
        [b'*', ..] => One::Star,
        [b'?', ..] => One::Fits(1),
        [b'[', inner @ ..] => match inner.iter().skip(1).position(|&end| end == b']') {
            Some(end) => {
                let members = &inner[..=end];
                let (negated, members) = match members {
                    [b'!' | b'^', rest @ ..] if !rest.is_empty() => (true, rest),
                    all => (false, all),
                };
                if in_set(members, byte) == negated { One::Not } else { One::Fits(end + 3) }
            }
            None if byte == b'[' => One::Fits(1),
            None => One::Not,
        },
        [first, ..] if *first == byte => One::Fits(1),
        _ => One::Not,
    }
}

fn in_set(mut members: &[u8], byte: u8) -> bool {
    loop {
        match members {
            [low, b'-', high, rest @ ..] => {
                if (*low..=*high).contains(&byte) {
                    return true;
                }
                members = rest;
            }
            [member, rest @ ..] => {
                if *member == byte {
                    return true;
                }
                members = rest;
            }
            [] => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_within_one_part_of_a_name() {
        let cases = [
            ("net.ipv4.conf.*.rp_filter", "net.ipv4.conf.eth0.rp_filter", true),
            ("net.ipv4.conf.*.rp_filter", "net.ipv4.conf.eth0/100.rp_filter", true),
            ("net.ipv4.conf.*.rp_filter", "net.ipv4.conf.rp_filter", false),
            ("net.*", "net.ipv4.conf", false),
            ("net.ipv?.conf", "net.ipv4.conf", true),
            ("net.ipv[46].conf", "net.ipv6.conf", true),
            ("net.ipv[!4].conf", "net.ipv4.conf", false),
            ("net.ipv[3-5].conf", "net.ipv4.conf", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("a[", "a[", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
