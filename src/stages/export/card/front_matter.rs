//! The front matter of the card: YAML that the `datasets` library and the Hugging Face Hub read.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::CardMetadata;
use crate::schema::Sample;
use crate::stages::export::Params;
use crate::stages::export::features::{OURS, features};
use crate::stages::export::groups::TableRow as _;
use crate::stages::export::tally::Table;
use crate::stages::export::yaml_text::quoted;

/// Tags that every data set of this program has.
const TAGS: [&str; 3] = ["role-play", "benchmark", "dramaturg"];

/// The licence ids of the Hugging Face Hub, from its documentation of dataset cards.
const LICENCES: &str = "\
    afl-3.0 agpl-3.0 apache-2.0 apple-amlr apple-ascl artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0 \
    bigscience-openrail-m bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5 \
    cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 \
    cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 \
    cdla-permissive-2.0 cdla-sharing-1.0 creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0 \
    etalab-2.0 eupl-1.1 eupl-1.2 fair-noncommercial-research-license gemma gfdl gpl gpl-2.0 gpl-3.0 h-research \
    intel-research isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 lppl-1.3c \
    mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 openrail openrail++ osl-3.0 other pddl postgresql unknown unlicense \
    wtfpl zlib";

/// Returns the Hub's id of a licence, ignoring capitals and the difference between spaces, underscores and hyphens.
fn known(stated: &str) -> Option<&'static str> {
    let identifier = stated.trim().to_lowercase().replace([' ', '_'], "-");
    LICENCES.split(' ').find(|one| *one == identifier)
}

/// Returns the licence of the pipeline file if the Hub has no id for it.
pub(crate) fn own_licence(params: &Params) -> Option<&str> {
    params.license.as_deref().map(str::trim).filter(|stated| !stated.is_empty() && known(stated).is_none())
}

/// Writes the licence: the Hub's id, or `other` with a name and, if the text contains an address, a link.
fn licence(yaml: &mut String, stated: &str) {
    let _ = writeln!(yaml, "license: {}", quoted(known(stated).unwrap_or("other")));
    if known(stated).is_some() || stated.trim().is_empty() {
        return;
    }
    let is_link = |word: &&str| word.contains("https://") || word.contains("http://");
    let link = stated.split_whitespace().find(is_link);
    let link = link.and_then(|word| word.find("http").map(|at| &word[at..]));
    let link = link
        .map(|link| link.trim_end_matches(|c: char| !c.is_ascii() || matches!(c, '.' | ',' | ';' | ')' | '>' | '"')));
    // The Hub accepts lower-case ASCII letters, digits, hyphens and dots. The full text is in the body of the card.
    let words = stated.split_whitespace().filter(|word| !is_link(word)).collect::<Vec<_>>().join(" ").to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    name.truncate(60);
    let name = name.trim_matches(['-', '.']);
    let _ = writeln!(yaml, "license_name: {}", quoted(if name.is_empty() { "own" } else { name }));
    if let Some(link) = link {
        let _ = writeln!(yaml, "license_link: {}", quoted(link));
    }
}

/// Returns the front matter, including the `---` lines around it.
pub(crate) fn front(params: &Params, metadata: &CardMetadata, tables: &[Table]) -> String {
    let mut yaml = "---\n".to_owned();
    let _ = writeln!(yaml, "pretty_name: {}", quoted(params.pretty_name.as_deref().unwrap_or(&metadata.name)));
    licence(&mut yaml, params.license.as_deref().unwrap_or("other"));
    list(&mut yaml, "language", languages(tables).into_iter());
    list(&mut yaml, "task_categories", ["text-generation"].into_iter());
    let own = params.tags.iter().map(String::as_str).filter(|tag| !TAGS.contains(tag)).collect::<BTreeSet<_>>();
    list(&mut yaml, "tags", TAGS.into_iter().chain(own));
    let samples = tables.iter().filter(|table| table.config == Sample::CONFIG).map(|table| table.rows).sum();
    list(&mut yaml, "size_categories", [size(samples)].into_iter());
    if tables.is_empty() {
        return yaml + "---\n";
    }
    yaml.push_str("configs:\n");
    for (config, splits) in configs(tables) {
        let _ = writeln!(yaml, "- config_name: {config}");
        if config == Sample::CONFIG {
            yaml.push_str("  default: true\n");
        }
        yaml.push_str("  data_files:\n");
        for table in splits {
            let _ = writeln!(yaml, "  - split: {0}\n    path: {config}/{0}-*.parquet", table.split);
        }
    }
    yaml.push_str("dataset_info:\n");
    for (config, splits) in configs(tables) {
        let _ = writeln!(yaml, "- config_name: {config}\n  features:");
        yaml.push_str(&features(&splits[0].columns, 2).expect(OURS));
        yaml.push_str("  splits:\n");
        for table in splits {
            let (bytes, rows) = (table.bytes.total(), table.rows);
            // The library ignores all splits if one of them lacks either number.
            let _ = writeln!(yaml, "  - name: {}\n    num_bytes: {bytes}\n    num_examples: {rows}", table.split);
        }
    }
    yaml + "---\n"
}

/// Returns the configs in the order of the tables, each with its splits.
pub(crate) fn configs(tables: &[Table]) -> Vec<(&'static str, Vec<&Table>)> {
    let mut configs: Vec<(&'static str, Vec<&Table>)> = Vec::new();
    for table in tables {
        match configs.iter_mut().find(|(config, _)| *config == table.config) {
            Some((_, splits)) => splits.push(table),
            None => configs.push((table.config, vec![table])),
        }
    }
    configs
}

/// Returns the languages of all rows, sorted.
pub(crate) fn languages(tables: &[Table]) -> BTreeSet<&'static str> {
    tables.iter().flat_map(|table| table.tally.languages.iter().copied()).collect()
}

fn list<'a>(yaml: &mut String, key: &str, items: impl Iterator<Item = &'a str>) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return;
    }
    let _ = writeln!(yaml, "{key}:");
    for item in items {
        let _ = writeln!(yaml, "- {}", quoted(item));
    }
}

/// Returns the Hub's size category.
const fn size(rows: usize) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    }
}

#[cfg(test)]
mod tests {
    use super::{front, size};
    use crate::stages::export::Params;
    use crate::stages::export::fixture::{Records, built, metadata, records, tables};
    use crate::stages::export::tally::Table;

    #[test]
    fn the_front_matter_has_the_hubs_keys() {
        let params = Params {
            pretty_name: Some("Two \"ports\": 渡口".into()),
            license: Some("cc0-1.0".into()),
            tags: vec!["novel: short".into(), "benchmark".into()],
            ..Params::default()
        };
        let front = front(&params, &metadata(), &tables(&records()));
        let head = "---
pretty_name: \"Two \\\"ports\\\": 渡口\"
license: \"cc0-1.0\"
language:
- \"en\"
- \"zh\"
task_categories:
- \"text-generation\"
tags:
- \"role-play\"
- \"benchmark\"
- \"dramaturg\"
- \"novel: short\"
size_categories:
- \"n<1K\"
configs:
- config_name: samples
  default: true
  data_files:
  - split: test
    path: samples/test-*.parquet
- config_name: conversations
  data_files:
  - split: test
    path: conversations/test-*.parquet
- config_name: scenes
";
        assert!(front.starts_with(head), "{front}");
        assert!(front.ends_with("\n    num_examples: 3\n---\n"));
        assert_eq!(front.matches("default: true").count(), 1);
    }

    /// Returns the licence lines as a YAML parser reads them. A double-quoted value without a line break is also valid
    /// JSON.
    fn read(license: &str) -> Vec<(String, String)> {
        let front = front(&Params { license: Some(license.into()), ..Params::default() }, &metadata(), &[]);
        let lines = front.lines().filter(|line| line.starts_with("license"));
        let pair = |line: &str| {
            let (key, value) = line.split_once(": ").expect("each line has a key and a value");
            (key.to_owned(), serde_json::from_str(value).expect("the value is quoted"))
        };
        lines.map(pair).collect()
    }

    #[test]
    fn a_licence_has_the_hubs_name_or_is_another_one() {
        for (stated, id) in [("CC0-1.0", "cc0-1.0"), ("Apache 2.0", "apache-2.0"), (" mit ", "mit"), ("other", "other")]
        {
            assert_eq!(read(stated), [("license".to_owned(), id.to_owned())]);
        }
        for (stated, name, link) in [
            ("my own licence: not \"free\" #1", "my-own-licence-not-free-1", None),
            ("Team terms 2.0 (https://example.org/terms).", "team-terms-2.0", Some("https://example.org/terms")),
            ("仅供研究，见 https://example.org/许可", "own", Some("https://example.org/")),
            ("a\nb: - x", "a-b-x", None),
        ] {
            let mut expected = vec![("license", "other"), ("license_name", name)];
            expected.extend(link.map(|link| ("license_link", link)));
            let read = read(stated);
            let read: Vec<(&str, &str)> = read.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            assert_eq!(read, expected, "{stated}");
        }
    }

    #[test]
    fn unset_parameters_have_defaults() {
        let front = front(&Params::default(), &metadata(), &[]);
        assert!(front.starts_with("---\npretty_name: \"fixture\"\nlicense: \"other\"\ntask_categories:\n"), "{front}");
        assert!(!front.contains("configs") && !front.contains("dataset_info") && !front.contains("language"));
    }

    #[test]
    fn dataset_info_lists_every_column_of_every_table() {
        let built = built(&records()).unwrap();
        let tables: Vec<Table> = built.iter().map(|built| built.table.clone()).collect();
        let front = front(&Params::default(), &metadata(), &tables);
        let (_, info) = front.split_once("dataset_info:\n").unwrap();
        let blocks: Vec<&str> = info.split("- config_name: ").skip(1).collect();
        assert_eq!(blocks.len(), tables.len());
        for (block, built) in blocks.iter().zip(&built) {
            let table = &built.table;
            assert!(block.starts_with(&format!("{}\n  features:\n", table.config)));
            let (features, splits) = block.split_once("  splits:\n").unwrap();
            let names: Vec<&str> = features.lines().filter_map(|line| line.strip_prefix("  - name: ")).collect();
            assert_eq!(
                names,
                built.frame.get_column_names().into_iter().map(polars::prelude::PlSmallStr::as_str).collect::<Vec<_>>(),
                "{}",
                table.config
            );
            let split = format!(
                "  - name: {}\n    num_bytes: {}\n    num_examples: {}\n",
                table.split,
                table.bytes.total(),
                built.frame.height()
            );
            assert!(splits.starts_with(&split), "{splits}");
        }
    }

    #[test]
    fn splits_of_one_config_share_its_features() {
        let samples = tables(&Records { samples: records().samples, ..Records::default() }).remove(0);
        let held_out = Table { split: "validation", rows: 1, ..samples.clone() };
        let front = front(&Params::default(), &metadata(), &[samples, held_out]);
        let files = "  - split: test\n    path: samples/test-*.parquet\n  - split: validation\n    path: samples/validation-*.parquet\n";
        assert!(front.contains(files), "{front}");
        let (_, splits) = front.split_once("  splits:\n").unwrap();
        let splits: Vec<&str> = splits.lines().filter(|line| !line.contains("num_bytes")).collect();
        let expected = ["  - name: test", "    num_examples: 3", "  - name: validation", "    num_examples: 1", "---"];
        assert_eq!(splits, expected);
        assert_eq!(front.matches("features:").count(), 1);
    }

    #[test]
    fn size_categories_follow_the_hub() {
        for (rows, expected) in [(0, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (250_000, "100K<n<1M")] {
            assert_eq!(size(rows), expected);
        }
    }
}
