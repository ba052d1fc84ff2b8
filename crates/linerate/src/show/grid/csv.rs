//! The grid as lines for spreadsheets (RFC 4180).

use diagnose::grid::{Cell, Grids};

use model::target::TargetSource;

use super::cells;

/// A line for each pair of each grid.
pub fn text(grids: &Grids) -> String {
    let mut text = "what,network,from,to,state,grade,part,goodput_bps,should_bps,relative_to,predicted_bps,reason,lost_packets,sent_packets\r\n".to_owned();
    for grid in &grids.grids {
        let what = format!("{:?}", grid.what).to_lowercase();
        let network = grid.network.as_deref().unwrap_or_default();
        for (from, to, cell) in cells(grid) {
            let line = match cell {
                Cell::Same => continue,
                Cell::NotPlanned => ["not_planned", "", "", "", "", "", "", "", "", ""].map(str::to_owned),
                Cell::Failed { reason } => ["failed", "", "", "", "", "", "", reason, "", ""].map(str::to_owned),
                Cell::NotJudged { goodput, reason } => {
                    let goodput = goodput.bps().to_string();
                    ["not_judged", "", "", &goodput, "", "", "", reason, "", ""].map(str::to_owned)
                }
                Cell::Measured(found) => {
                    let rate =
                        |rate: Option<units::DataRate>| rate.map(|rate| rate.bps().to_string()).unwrap_or_default();
                    let (grade, part) = (found.grade.letter().to_string(), found.part.to_string());
                    let predicted = rate(found.predicted.as_ref().map(|foreseen| foreseen.goodput));
                    let measured = "measured".to_owned();
                    let source = found.relative_to.map(TargetSource::name).unwrap_or_default().to_owned();
                    let (goodput, should) = (rate(found.goodput), rate(found.should));
                    let [lost, sent] = found.loss.map_or_else(<[String; 2]>::default, |loss| {
                        [loss.lost, loss.sent].map(|count| count.get().to_string())
                    });
                    [measured, grade, part, goodput, should, source, predicted, String::new(), lost, sent]
                }
            };
            let fields = [what.as_str(), network, from, to].into_iter().chain(line.iter().map(String::as_str));
            text.push_str(&fields.map(field).collect::<Vec<_>>().join(","));
            text.push_str("\r\n");
        }
    }
    text
}

/// A field, between quotes where it needs them. What a spreadsheet would take for a formula is none: names of hosts begin
/// with letters, and reasons come from peers.
fn field(text: &str) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if text.contains(['"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_reason_of_a_peer_becomes_neither_a_column_nor_a_formula() {
        assert_eq!(super::field("lost, \"gone\""), "\"lost, \"\"gone\"\"\"");
        assert_eq!(super::field("=HYPERLINK(1)\r\n"), "'=HYPERLINK(1)  ");
    }
}
