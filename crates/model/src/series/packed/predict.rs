//! One column from others.
//!
//! A prediction is a sum of products of columns over a divisor. It is written into the file with the column that it
//! predicts, so a reader needs no table of them, and a newer writer can predict better.

use super::layout::id;
use crate::series::field::Field;

/// A prediction: (Σ times · factor · factor …) / divisor, in wrapping signed 64-bit arithmetic. Division by zero gives
/// zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Prediction {
    /// What is added up; nothing predicts zero.
    pub(super) terms: Vec<Term>,
    /// The column that divides, or [`id::NONE`].
    pub(super) divisor: u16,
}

/// A product of columns and a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// Number by which the product is multiplied.
    pub(super) times: i32,
    /// Ids of the columns.
    pub(super) factors: Vec<u16>,
}

impl Prediction {
    /// Predicts zero.
    pub(super) const fn none() -> Self {
        Self { terms: Vec::new(), divisor: id::NONE }
    }

    /// Predicts what grows by `step` a row.
    pub(super) fn line(step: i32) -> Self {
        Self { terms: vec![Term { times: step, factors: vec![id::ROW] }], divisor: id::NONE }
    }

    /// Ids of all columns that are needed, [`id::ROW`] and [`id::NONE`] left out.
    pub(super) fn needs(&self) -> impl Iterator<Item = u16> {
        let factors = self.terms.iter().flat_map(|term| term.factors.iter().copied());
        factors.chain([self.divisor]).filter(|id| *id != id::ROW && *id != id::NONE)
    }

    /// The predicted values of `rows` rows; `None` where `column` has not all columns that are needed.
    pub(super) fn values<'a>(&self, rows: usize, column: impl Fn(u16) -> Option<&'a [i64]>) -> Option<Vec<i64>> {
        let mut sums = vec![0_i64; rows];
        for term in &self.terms {
            let mut products = vec![i64::from(term.times); rows];
            for factor in &term.factors {
                if *factor == id::ROW {
                    products.iter_mut().zip(0_i64..).for_each(|(product, row)| *product = product.wrapping_mul(row));
                } else {
                    let values = column(*factor)?;
                    products
                        .iter_mut()
                        .zip(values)
                        .for_each(|(product, value)| *product = product.wrapping_mul(*value));
                }
            }
            sums.iter_mut().zip(products).for_each(|(sum, product)| *sum = sum.wrapping_add(product));
        }
        if self.divisor != id::NONE {
            let divisors = column(self.divisor)?;
            for (sum, divisor) in sums.iter_mut().zip(divisors) {
                *sum = if *divisor == 0 { 0 } else { sum.wrapping_div(*divisor) };
            }
        }
        Some(sums)
    }
}

/// The predictions worth trying for `field`, by how Linux keeps the counters (net/ipv4/tcp.c `tcp_get_info` and
/// tcp_input.c, 6.18). Whichever is used, values come back exactly.
pub(super) fn candidates(field: Field) -> Vec<Prediction> {
    use Field as F;
    match field {
        // A receiver's application takes what came; a sender's hands over what is sent.
        F::AppBytes => vec![
            sum(&[(1, &[F::BytesReceived])]),
            sum(&[(1, &[F::BytesSent]), (-1, &[F::BytesRetrans]), (1, &[F::Notsent])]),
        ],
        // Every segment but those without payload carries data.
        F::DataSegsOut => vec![sum(&[(1, &[F::SegsOut])])],
        F::DataSegsIn => vec![sum(&[(1, &[F::SegsIn])])],
        // Payload goes in whole segments.
        F::BytesSent => vec![
            sum(&[(1, &[F::DataSegsOut, F::SndMss])]),
            sum(&[(1, &[F::AppBytes]), (1, &[F::BytesRetrans]), (-1, &[F::Notsent])]),
        ],
        F::BytesRetrans => vec![sum(&[(1, &[F::TotalRetrans, F::SndMss])])],
        F::BytesReceived => vec![sum(&[(1, &[F::DataSegsIn, F::RcvMss])])],
        // What acknowledgements deliver is sent anew: the clock of TCP.
        F::SegsOut => vec![sum(&[(1, &[F::Delivered])])],
        F::SegsIn => vec![sum(&[(1, &[F::Delivered])]), sum(&[(1, &[F::SegsOut])])],
        // Sent and not delivered is in flight.
        F::Unacked => {
            vec![sum(&[(1, &[F::DataSegsOut]), (-1, &[F::TotalRetrans]), (-1, &[F::Delivered]), (1, &[F::Sacked])])]
        }
        F::BytesAcked => {
            vec![
                sum(&[(1, &[F::BytesSent]), (-1, &[F::BytesRetrans]), (-1, &[F::Unacked, F::SndMss])]),
                sum(&[(1, &[F::Delivered, F::SndMss])]),
                sum(&[(1, &[F::BytesSent]), (-1, &[F::BytesRetrans])]),
            ]
        }
        // Handed over and not sent waits in the buffer.
        F::Notsent => vec![sum(&[(1, &[F::AppBytes]), (-1, &[F::BytesSent]), (1, &[F::BytesRetrans])])],
        // A bulk sender is always busy, and last heard data when it connected. Both count in the kernel's ticks.
        F::BusyTime => vec![sum(&[(1000, &[F::LastDataRecv])])],
        F::RwndLimited | F::SndbufLimited => vec![sum(&[(1, &[F::BusyTime])])],
        // `tcp_update_pacing_rate`: 120 % of window over round trip, 200 % in slow start.
        F::PacingRate => [1_200_000, 2_000_000]
            .map(|times| Prediction { divisor: of(F::Rtt), ..sum(&[(times, &[F::SndCwnd, F::SndMss])]) })
            .into(),
        _ => vec![],
    }
}

fn sum(terms: &[(i32, &[Field])]) -> Prediction {
    let term = |(times, factors): &(i32, &[Field])| Term {
        times: *times,
        factors: factors.iter().map(|field| of(*field)).collect(),
    };
    Prediction { terms: terms.iter().map(term).collect(), divisor: id::NONE }
}

/// The id of a field's column.
pub(super) const fn of(field: Field) -> u16 {
    field as u16
}
