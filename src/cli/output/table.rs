//! Plain-text tables whose columns are as wide as their widest cell.

/// Formats rows of cells; the first `left_aligned` columns are left-aligned, the others right-aligned.
pub(crate) fn table(rows: &[Vec<String>], left_aligned: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let blanks = " ".repeat(width - width_of(cell));
            if column < left_aligned { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the width in terminal columns: two for a Chinese character.
fn width_of(text: &str) -> usize {
    let is_wide = |c: char| {
        matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
            | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{20000}'..='\u{3fffd}')
    };
    text.chars().map(|c| 1 + usize::from(is_wide(c))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["ask", "model", "calls"], ["simulate/direct", "作者", "1,234"], ["x", "", "7"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        insta::assert_snapshot!(table(&rows, 2), @r"
        ask              model  calls
        simulate/direct  作者   1,234
        x                           7
        ");
    }
}
