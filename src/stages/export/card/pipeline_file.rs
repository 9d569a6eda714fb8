//! The pipeline file of the run, without addresses of servers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::markdown::fenced;
use super::metadata::CardMetadata;

pub(super) fn pipeline_file(metadata: &CardMetadata) -> String {
    let mut text = "## Pipeline file\n\n".to_owned();
    if !metadata.overrides.is_empty() {
        let list: Vec<String> = metadata.overrides.iter().map(|change| without_urls(change)).collect();
        let _ = write!(text, "Changes from the command line:\n\n{}\n", fenced("toml", &list.join("\n")));
    }
    text.push_str(&fenced("toml", &without_urls(&metadata.pipeline)));
    text
}

/// Replaces every value of `base_url` and every address in a comment of a TOML text, because the card may be published
/// and server addresses must not be.
fn without_urls(toml: &str) -> String {
    static URL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(\bbase_url["']?\s*=\s*)("""(?s:.*?)"""|'''(?s:.*?)'''|\[(?:[^\]"'#]|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*\]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"',}\]#]+)"#,
        )
        .expect("the pattern is constant and tested")
    });
    static COMMENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)(?:^|\s)#.*$").expect("the pattern is constant and tested"));
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"https?://[^\s"'`]+"#).expect("the pattern is constant and tested"));
    let left = URL.replace_all(toml, r#"${1}"(left out)""#);
    let comment = |comment: &Captures<'_>| ADDRESS.replace_all(&comment[0], "(left out)").into_owned();
    COMMENT.replace_all(&left, comment).into_owned()
}

#[cfg(test)]
mod tests {
    use super::without_urls;

    #[test]
    fn urls_are_removed() {
        for (toml, expected) in [
            ("base_url='http://h'", "base_url=\"(left out)\""),
            (
                "m = { base_url = \"http://h/\\\"x\", model = \"q\" }",
                "m = { base_url = \"(left out)\", model = \"q\" }",
            ),
            ("\"base_url\" = \"\"\"http://h\"\"\"", "\"base_url\" = \"(left out)\""),
            ("models.a.base_url=http://h", "models.a.base_url=\"(left out)\""),
            ("model = \"base_url\"", "model = \"base_url\""),
            ("base_url = [\"http://a/v1\", 'http://[::1]']\nseed = 1", "base_url = \"(left out)\"\nseed = 1"),
            ("base_url = [\n  \"http://a\", # it's ours\n  \"http://b\",\n]\n", "base_url = \"(left out)\"\n"),
            ("# base_url = \"http://me:pw@h/v1\"", "# base_url = \"(left out)\""),
            ("seed = 1 # asked at https://me:pw@10.9.9.9/v1, once", "seed = 1 # asked at (left out) once"),
            ("source = \"https://example.org/#one\"", "source = \"https://example.org/#one\""),
        ] {
            assert_eq!(without_urls(toml), expected);
        }
    }
}
