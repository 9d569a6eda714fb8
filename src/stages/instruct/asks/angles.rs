//! The topics of calls on a description.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::schema::{ByLanguage, Language};

static ANGLES: LazyLock<AngleFile> = LazyLock::new(|| embedded_toml!("angles.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AngleFile {
    angles: Vec<ByLanguage<Angle>>,
}

/// The topic of a call on the description, with a direct question about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Angle {
    topic: String,
    question: String,
}

/// Returns the topic of the n-th call on a description: first each angle alone, then each combined with another one.
/// The first 400 topics are all different.
#[must_use]
pub(in crate::stages::instruct) fn angle(n: u32, language: Language) -> String {
    let angles = &ANGLES.angles;
    let (round, at) = (n as usize / angles.len(), n as usize % angles.len());
    let text = |angle: &'static ByLanguage<Angle>| angle.get(language).topic.as_str();
    let first = text(&angles[at]);
    match (round % angles.len(), language) {
        (0, _) => first.to_owned(),
        (round, Language::En) => {
            format!("{first}; and what that has to do with this: {}", text(&angles[(at + round) % angles.len()]))
        }
        (round, Language::Zh) => {
            format!("{first}；以及这跟下面的有什么相干：{}", text(&angles[(at + round) % angles.len()]))
        }
    }
}

/// Returns the direct questions about a call's topic.
pub(crate) fn direct_questions(topic: &str, language: Language) -> Vec<&'static str> {
    let angles = ANGLES.angles.iter().map(|angle| angle.get(language));
    angles.filter(|angle| topic.contains(&angle.topic)).map(|angle| angle.question.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stages::instruct::params::Params;

    #[test]
    fn appendix_c_all_calls_about_a_role_have_different_angles() {
        let params = Params::default();
        assert!(params.agnostic_calls as usize <= ANGLES.angles.len(), "each of the paper's calls has one angle");
        for language in Language::ALL {
            let angles: BTreeSet<String> = (0..400).map(|n| angle(n, language)).collect();
            assert_eq!(angles.len(), 400, "{language}");
            assert!(params.max_agnostic_calls < 400);
            assert_eq!(direct_questions(&angle(3, language), language).len(), 1, "{language}");
            assert_eq!(direct_questions(&angle(23, language), language).len(), 2, "{language}");
        }
        assert!(
            angle(2, Language::En).starts_with("the people") && angle(22, Language::Zh).starts_with("最亲近的人；")
        );
    }
}
