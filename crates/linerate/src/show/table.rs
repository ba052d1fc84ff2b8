//! Tables: columns side by side, without lines around them.

use comfy_table::{ContentArrangement, Table, presets};

/// The table as text: the first column begins at the left edge, two blanks stand between columns.
pub fn text(mut table: Table) -> String {
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_at_the_left_edge() {
        let mut table = Table::new();
        table.set_header(["RUN", "PEER"]).add_row(["01ARZ3", "dtn1"]);
        assert_eq!(text(table), "RUN     PEER\n01ARZ3  dtn1\n");
    }
}
