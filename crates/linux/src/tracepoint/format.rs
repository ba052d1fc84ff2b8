//! How the kernel describes the events of a tracepoint (Documentation/trace/events.rst).

use std::collections::BTreeMap;

/// The description of a tracepoint's events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Format {
    /// The number of the tracepoint.
    pub id: u64,
    fields: BTreeMap<String, Field>,
    words: BTreeMap<String, BTreeMap<u64, String>>,
}

/// Where a field is in the bytes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its first byte.
    pub offset: usize,
    /// Its length in bytes.
    pub size: usize,
}

/// A description that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the kernel's description of the event has no {0}")]
pub struct FormatError(&'static str);

impl Format {
    /// Reads a description. Fields that are not understood are left out.
    ///
    /// # Errors
    /// Where it has no number, or no fields.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let mut format = Self::default();
        let mut id = None;
        for line in text.lines() {
            if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some((name, field)) = line.trim().strip_prefix("field:").and_then(field) {
                format.fields.insert(name, field);
            } else if let Some(printing) = line.strip_prefix("print fmt:") {
                format.words = words(printing);
            }
        }
        format.id = id.ok_or(FormatError("number"))?;
        if format.fields.is_empty() { Err(FormatError("fields")) } else { Ok(format) }
    }

    /// Where a field is; none where this kernel's event does not have it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }

    /// What the kernel calls this value of a field.
    #[must_use]
    pub fn word(&self, field: &str, value: u64) -> Option<&str> {
        self.words.get(field)?.get(&value).map(String::as_str)
    }
}

impl Field {
    /// Its bytes in an event.
    #[must_use]
    pub fn bytes(self, event: &[u8]) -> Option<&[u8]> {
        event.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// Its value as a number of up to 64 bits.
    #[must_use]
    pub fn number(self, event: &[u8]) -> Option<u64> {
        let bytes = self.bytes(event)?;
        Some(match *bytes {
            [one] => one.into(),
            [a, b] => u16::from_ne_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }
}

/// What stands behind `field:`, such as `unsigned short protocol; offset:32; size:2; signed:0;`.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?.split_whitespace().last()?;
    let name = declared.split('[').next()?.trim_start_matches('*').to_owned();
    let (mut offset, mut size) = (None, None);
    for part in parts {
        let Some((key, value)) = part.split_once(':') else { continue };
        match key {
            "offset" => offset = value.parse().ok(),
            "size" => size = value.parse().ok(),
            _ => {}
        }
    }
    Some((name, Field { offset: offset?, size: size? }))
}

/// All `__print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, …)`. Values that are no numbers are left out.
fn words(printing: &str) -> BTreeMap<String, BTreeMap<u64, String>> {
    let tables = printing.split("__print_symbolic(").skip(1);
    let read = |table: &str| {
        let (field, rest) = table.split_once(',')?;
        let field = field.trim().strip_prefix("REC->")?.to_owned();
        let end = rest.find(')').unwrap_or(rest.len());
        let entries = rest[..end].split('{').skip(1).filter_map(|entry| {
            let (value, word) = entry.split('}').next()?.split_once(',')?;
            Some((number(value.trim())?, word.trim().trim_matches('"').to_owned()))
        });
        Some((field, entries.collect()))
    };
    tables.filter_map(read).collect()
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/sys/kernel/tracing/events/skb/kfree_skb/format` of Linux 6.18.44, the table of reasons cut off after a few.
    const KFREE_SKB: &str = "name: kfree_skb\nID: 2310\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned short protocol;\toffset:32;\tsize:2;\tsigned:0;\n\
        \tfield:enum skb_drop_reason reason;\toffset:36;\tsize:4;\tsigned:0;\n\
        \tfield:__u8 saddr[4];\toffset:34;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"skbaddr=%p protocol=%u location=%pS reason: %s\", REC->skbaddr, REC->protocol, REC->location, \
        __print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, { 0x4a, \"UNHANDLED_PROTO\" }, { TCP_CLOSE, \"X\" })\n";

    #[test]
    fn fields_and_words_are_found() {
        let format = Format::parse(KFREE_SKB).unwrap();
        assert_eq!((format.id, format.field("reason")), (2310, Some(Field { offset: 36, size: 4 })));
        assert_eq!(format.field("saddr"), Some(Field { offset: 34, size: 4 }));
        assert_eq!(format.field("nonesuch"), None);
        assert_eq!((format.word("reason", 74), format.word("reason", 9)), (Some("UNHANDLED_PROTO"), None));
    }

    #[test]
    fn event_that_is_cut_short_has_no_value() {
        let format = Format::parse(KFREE_SKB).unwrap();
        let mut event = vec![0; 40];
        event[32..34].copy_from_slice(&0x86dd_u16.to_ne_bytes());
        assert_eq!(format.field("protocol").unwrap().number(&event), Some(0x86dd));
        assert_eq!(format.field("protocol").unwrap().number(&event[..33]), None);
        assert_eq!(Field { offset: usize::MAX, size: 8 }.number(&event), None);
    }

    #[test]
    fn description_without_number_or_fields_is_refused() {
        assert!(Format::parse("name: x\nformat:\n").is_err());
        assert!(Format::parse("ID: 7\n\tfield:nonsense\n").is_err());
    }
}
