//! Reviews of answers by rules: empty entries, repeated lines, similar names, and length.

use std::collections::BTreeSet;

use crate::llm::{Offline, OfflineAnswer};
use crate::schema::Language;
use crate::stages::synthesize::names::clash;
use crate::stages::synthesize::{Review, Reviewed, Verdict};

impl OfflineAnswer for Review {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Reviewed {
        let faults = measured(self.language, &self.output);
        let verdict = if faults.is_empty() { Verdict::Good } else { Verdict::Refine };
        Reviewed { faults, verdict }
    }
}

/// Minimum number of letters (Chinese: characters) of an answer.
const SHORTEST: usize = 40;

fn measured(language: Language, output: &str) -> Vec<String> {
    let say = |en: String, zh: String| if language == Language::En { en } else { zh };
    let mut faults = Vec::new();
    let letters = output.chars().filter(|c| c.is_alphabetic()).count();
    if letters < SHORTEST {
        faults.push(say(format!("too short: {letters} letters"), format!("太短：只有{letters}个字")));
    }
    let (mut seen, mut names) = (BTreeSet::new(), Vec::<&str>::new());
    for line in output.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            if let Some(other) = names.iter().find(|other| clash(name, other)) {
                faults.push(say(
                    format!("the names {other} and {name} are too alike"),
                    format!("名字太像：{other}、{name}"),
                ));
            }
            names.push(name);
            continue;
        }
        if let Some(key) = line.strip_suffix([':', '：']) {
            faults.push(say(format!("nothing is said under `{key}`"), format!("“{key}”一项是空的")));
        }
        // Short lines, such as a gender, may be repeated.
        if line.chars().count() > 12 && !seen.insert(line) {
            faults.push(say(format!("said twice: {line}"), format!("重复：{line}")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurable_faults_are_found() {
        let long = "A place that goes on for long enough to be called a place.";
        for (output, count) in [
            (long.to_owned(), 0),
            ("short".to_owned(), 1),
            (format!("{long}\n{long}"), 1),
            (format!("{long}\nage:"), 1),
            (format!("# Orrie\n{long}\n# Orrie Dace\nage: 40"), 1),
        ] {
            let faults = measured(Language::En, &output);
            assert_eq!(faults.len(), count, "{output}: {faults:?}");
        }
        let faults = measured(Language::Zh, "# 沐知微\n年龄：\n");
        assert_eq!(faults, ["太短：只有5个字", "“年龄”一项是空的"]);
    }
}
