//! Finds the title and the author of a book in its text.

/// Returns the title: a named field at the top of the text, or else the first line if it can be a title, or else the
/// file's stem.
pub(super) fn title(text: &str, stem: &str, is_heading: impl Fn(&str) -> bool) -> String {
    let head = || text.lines().map(str::trim).take(40);
    let fallback = || stem.replace(['_', '-'], " ").trim().to_owned();
    for line in head() {
        let lower = line.to_ascii_lowercase();
        for field in ["title:", "标题:", "标题：", "書名：", "书名：", "书名:"] {
            if lower.starts_with(field) {
                let value = line[field.len()..].trim().trim_matches(['"', '\'', '*', '_', '“', '”']);
                if !value.is_empty() {
                    return value.to_owned();
                }
            }
        }
    }
    let Some(first) = head().find(|line| !line.is_empty()) else { return fallback() };
    if let Some((_, rest)) = first.split_once('《')
        && let Some((name, _)) = rest.split_once('》')
    {
        return name.to_owned();
    }
    let first = first.trim_start_matches('#').trim();
    let prose = first.chars().count() > 60
        || first.ends_with([',', ';', ':', '，', '；', '：', '。', '”', '"', '」', '-', '.', '．'])
        || first.starts_with(['“', '"', '「', '-', '*', '=', '<']);
    if first.is_empty() || prose || is_heading(first) { fallback() } else { first.to_owned() }
}

/// Returns the author from a named field such as `Author:` in the first 40 lines.
pub(super) fn author(text: &str) -> Option<String> {
    text.lines().take(40).filter(|line| line.len() < 200).find_map(|line| {
        let line = line.trim();
        let field = ["Author:", "author:", "作者:", "作者："].into_iter().find(|field| line.starts_with(field))?;
        let value = line[field.len()..].trim().trim_matches(['"', '\'', '*', '_', '“', '”']);
        (!value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn titles_come_from_fields_then_first_lines_then_the_stem() {
        let heading = |line: &str| line.starts_with("Chapter");
        for (text, expected) in [
            ("Some notice\nTitle: The Glass Weir\n\nTHE END", "The Glass Weir"),
            ("---\ntitle: \"Low Tide\"\n---\n", "Low Tide"),
            ("\n\nTHE GLASS WEIR\n\nby nobody", "THE GLASS WEIR"),
            ("# 河灯\n\n正文。", "河灯"),
            ("《河灯》无名氏\n", "河灯"),
            ("Chapter 1\n\nIt rained.", "my book"),
            ("It rained all day.\n", "my book"),
            ("", "my book"),
        ] {
            assert_eq!(title(text, "my_book", heading), expected, "{text}");
        }
    }
}
