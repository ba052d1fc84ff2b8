//! Worked pages of the documentation: their blocks of code, which tests apply and evaluate.

/// A fenced block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What stands behind the fence: `diff`, `toml rule`.
    pub label: String,
    /// The text between the fences.
    pub text: String,
}

/// The fenced blocks of a page, in order.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(label), None) => open = Some(Block { label: label.to_owned(), text: String::new() }),
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// The one block with a label.
#[must_use]
pub fn block(page: &str, label: &str) -> Option<String> {
    blocks(page).into_iter().find(|block| block.label == label).map(|block| block.text)
}

/// All diffs of a page, as one patch.
#[must_use]
pub fn patch(page: &str) -> String {
    blocks(page).into_iter().filter(|block| block.label == "diff").map(|block| block.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_their_label() {
        let page = "a\n```diff\n+b\n```\nc\n```toml rule\nd\n```\n```diff\n-e\n```\n";
        assert_eq!(patch(page), "+b\n-e\n");
        assert_eq!(block(page, "toml rule").as_deref(), Some("d\n"));
        assert_eq!(block(page, "json"), None);
    }
}
