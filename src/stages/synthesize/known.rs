//! The ask `synthesize/known`: whether readers would mistake an invented character for a known figure (FURINA,
//! Appendix A).

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sheet::Sheet;
use crate::llm::{Ask, AskError, Model};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Draw, Language, Message, slug};

/// Asks which known figures a character resembles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindKnownFigures {
    /// The language of the prompt.
    pub language: Language,
    /// The character's name.
    pub name: String,
    /// The full sheet as text.
    pub sheet: String,
}

/// Whom a person is like: the comparisons before the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FigureComparison {
    /// The known figures that come nearest, nearest first; empty when none comes to mind.
    #[schemars(length(max = 3))]
    pub figures: Vec<KnownFigure>,
    /// Whether readers would take the person for the first of them.
    pub verdict: Origin,
}

/// A figure that many readers know, of a book, a film, a game or history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFigure {
    /// What it is called.
    pub name: String,
    /// Where it is known from.
    pub work: String,
    /// What both have that few others have.
    pub shared: String,
    /// What sets them apart.
    pub different: String,
}

/// Where a person comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Nobody's but its maker's.
    Original,
    /// The first figure under another name, or under its own.
    Borrowed,
}

impl FindKnownFigures {
    /// Creates the ask for a sheet.
    pub(super) fn new(sheet: &Sheet, language: Language) -> Self {
        Self { language, name: sheet.name.trim().to_owned(), sheet: sheet.text(language) }
    }

    /// Returns an answer if the character has the name of a figure in `known.toml`.
    pub(crate) fn namesake(&self) -> Option<FigureComparison> {
        let lists = [(Language::En, &KNOWN.en), (Language::Zh, &KNOWN.zh)];
        let names = lists.into_iter().filter(|(language, _)| *language == self.language).flat_map(|(_, names)| names);
        let known = names.into_iter().find(|known| slug(&self.name) == slug(known))?;
        let figure = KnownFigure {
            name: known.clone(),
            work: String::new(),
            shared: if self.language == Language::En { "the name" } else { "名字" }.to_owned(),
            different: String::new(),
        };
        Some(FigureComparison { figures: vec![figure], verdict: Origin::Borrowed })
    }
}

/// Names of known figures, which are rejected without asking a model.
#[derive(Debug, Deserialize)]
struct Known {
    en: Vec<String>,
    zh: Vec<String>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| embedded_toml!("known.toml"));

impl Ask for FindKnownFigures {
    const NAME: &'static str = "synthesize/known";
    type Answer = FigureComparison;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let render = |part| prompts.render(Self::NAME, self.language, part, self);
        Ok(vec![Message::system(render("system")?), Message::user(render("user")?)])
    }

    fn check(&self, answer: &FigureComparison) -> Result<(), String> {
        match (answer.verdict, answer.figures.first()) {
            (Origin::Borrowed, None) => Err("`borrowed` needs the figure that it is borrowed from".to_owned()),
            (Origin::Borrowed, Some(figure)) if figure.name.trim().is_empty() || figure.shared.trim().is_empty() => {
                Err("the first figure needs its `name` and what is `shared`".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Returns a fault text that names the known figure that a character resembles, or none if it is original.
///
/// The draw is `<draw>/known` in every round, so that the same sheet is asked about only once. A refusal or a bad reply
/// counts as original.
pub(super) async fn borrowed(
    model: &Model,
    sheet: &Sheet,
    language: Language,
    draw: Draw,
) -> Result<Option<String>, AskError> {
    let ask = FindKnownFigures::new(sheet, language);
    let found = match ask.namesake() {
        Some(found) => found,
        None => match model.ask(&ask, &draw).await {
            Ok(found) => found,
            Err(AskError::Refused { .. } | AskError::BadReply { .. }) => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    let figure = found.figures.first().filter(|_| found.verdict == Origin::Borrowed);
    Ok(figure.map(|KnownFigure { name, work, shared, .. }| {
        let (own, work) = (&ask.name, work.trim());
        match language {
            Language::En if work.is_empty() => format!("{own} would be taken for {name}: {shared}"),
            Language::En => format!("{own} would be taken for {name} ({work}): {shared}"),
            Language::Zh if work.is_empty() => format!("{own}会被当成{name}：{shared}"),
            Language::Zh => format!("{own}会被当成{name}（{work}）：{shared}"),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::synthesize::names::clash;

    #[test]
    fn a_famous_name_is_recognized_without_a_model() {
        let namesake = |name: &str, language| {
            let ask = FindKnownFigures { language, name: name.to_owned(), sheet: String::new() };
            ask.namesake().map(|found| found.figures[0].name.clone())
        };
        assert_eq!(namesake("SHERLOCK HOLMES", Language::En).as_deref(), Some("Sherlock Holmes"));
        assert_eq!(namesake("孙悟空", Language::Zh).as_deref(), Some("孙悟空"));
        assert_eq!(namesake("Orrie Dace", Language::En), None);
        for (name, language) in [("沐知微", Language::Zh), ("赵云帆", Language::Zh), ("Emma", Language::En)] {
            assert_eq!(namesake(name, language), None, "a part of a name does not count");
        }
    }

    #[test]
    fn a_verdict_needs_a_reason() {
        let ask = FindKnownFigures { language: Language::En, name: "Orrie".to_owned(), sheet: String::new() };
        let figure = |shared: &str| KnownFigure {
            name: "Captain Ahab".to_owned(),
            work: "Moby-Dick".to_owned(),
            shared: shared.to_owned(),
            different: String::new(),
        };
        for (figures, verdict, right) in [
            (vec![], Origin::Original, true),
            (vec![figure("a grudge against one animal")], Origin::Original, true),
            (vec![figure("a grudge against one animal")], Origin::Borrowed, true),
            (vec![figure(" ")], Origin::Borrowed, false),
            (vec![], Origin::Borrowed, false),
        ] {
            assert_eq!(ask.check(&FigureComparison { figures, verdict }).is_ok(), right);
        }
    }

    #[test]
    fn names_of_known_figures_do_not_clash() {
        for names in [&KNOWN.en, &KNOWN.zh] {
            assert!(names.len() >= 60);
            for (index, name) in names.iter().enumerate() {
                let other = names[..index].iter().find(|other| clash(name, other));
                assert_eq!(other, None, "{name} is listed twice");
            }
        }
    }
}
