//! What the two ends of a connection agreed on when it began.

use model::series::StreamSamples;
use model::series::field::Field;

use super::Observation;

/// By the bits that the sender's kernel has for it (`tcpi_options`).
pub(super) fn agreed(senders: &[&StreamSamples]) -> impl Iterator<Item = Observation> {
    let options = senders.iter().find_map(|stream| stream.column(Field::Options)?.last().copied());
    let seen = |options: u64| {
        OPTIONS.iter().filter_map(move |option| {
            let (state, says) =
                if options & option.bit != 0 { ("agreed", option.agreed) } else { ("missing", option.missing) };
            Observation::of(option.sign, state, says)
        })
    };
    options.into_iter().flat_map(seen)
}

/// An option of TCP, and the sign that asks for it.
struct Agreement {
    sign: &'static str,
    bit: u64,
    agreed: &'static str,
    missing: &'static str,
}

/// `TCPI_OPT_*` (include/uapi/linux/tcp.h).
const OPTIONS: [Agreement; 2] = [
    Agreement {
        sign: "window-scale",
        bit: 4,
        agreed: "both ends agreed on a window scale",
        missing: "no window scale was agreed on: the window ends at 64 KiB",
    },
    Agreement {
        sign: "sack",
        bit: 2,
        agreed: "both ends agreed on selective acknowledgements",
        missing: "no selective acknowledgements were agreed on: nothing tells which segments are missing",
    },
];
