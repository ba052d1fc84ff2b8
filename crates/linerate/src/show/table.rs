//! Tables: columns side by side, without lines around them; under each other where they are wider than the terminal.

use comfy_table::{Cell, ContentArrangement, Row, Table, presets};

use super::wrap;

/// The table as text: the first column begins at the left edge, two blanks stand between columns. Where standard output is
/// a terminal that is narrower, each row has its cells under each other.
pub fn text(table: Table) -> String {
    fitting(table, wrap::terminal_width())
}

/// The table as [`text`] has it for a terminal of so many columns, or for none.
pub fn fitting(mut table: Table, width: Option<usize>) -> String {
    let beside = side_by_side(&mut table);
    match width.filter(|width| *width < columns_of(&beside)) {
        Some(width) => wrap::fitted(&under_each_other(&table), width),
        None => beside,
    }
}

/// The table in lines as long as they come.
pub fn side_by_side(table: &mut Table) -> String {
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt() + "\n"
}

/// Columns of the longest line.
pub fn columns_of(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Each row as a line with its first cell, and an indented one for each of the others that is not empty, behind the heading
/// of its column.
fn under_each_other(table: &Table) -> String {
    let headings: Vec<String> = table.header().map(|header| cells(header).collect()).unwrap_or_default();
    let widest = headings.iter().skip(1).map(|heading| heading.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in table.row_iter() {
        for (index, cell) in cells(row).enumerate().filter(|(index, cell)| *index == 0 || !cell.is_empty()) {
            let heading = headings.get(index).map_or("", String::as_str);
            let line = match index {
                0 => format!("{heading} {cell}"),
                _ => format!("  {heading:widest$}  {cell}"),
            };
            text.push_str(if index == 0 { line.trim() } else { line.trim_end() });
            text.push('\n');
        }
    }
    text
}

/// What stands in the cells of a row, each in one line.
fn cells(row: &Row) -> impl Iterator<Item = String> {
    row.cell_iter().map(Cell::content).map(|content| content.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_at_the_left_edge() {
        let mut table = Table::new();
        table.set_header(["RUN", "PEER"]).add_row(["01ARZ3", "dtn1"]);
        assert_eq!(fitting(table, None), "RUN     PEER\n01ARZ3  dtn1\n");
    }

    #[test]
    fn a_table_that_is_wider_than_the_terminal_has_its_cells_under_each_other() {
        let table = || {
            let mut table = Table::new();
            table.set_header(["", "A", "OUTCOME"]).add_row(["run", "01ARZ3", "complete"]).add_row([
                "peer: software",
                "",
                "a text that is longer than the terminal",
            ]);
            table
        };
        let narrow = "run\n  A        01ARZ3\n  OUTCOME  complete\npeer: software\n  OUTCOME  a text that is longer\n    \
                      than the terminal\n";
        assert_eq!(fitting(table(), Some(32)), narrow);
        assert_eq!(fitting(table(), Some(80)), fitting(table(), None));
    }
}
