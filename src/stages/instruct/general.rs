//! General instructions: which are selected, and which exchanges of a role are most similar to one (Appendix D, 3 and
//! 4).

use std::num::NonZeroUsize;

use rand::seq::SliceRandom as _;

use super::asks::Exchange;
use super::params::Params;
use super::role::Role;
use crate::schema::{Instruction, Language, Reject, RejectReason, Stage};
use crate::seed::seeded;
use crate::text::bm25::Index;
use crate::text::duplicates::{Keep, duplicates};
use crate::text::{is_han, length};

/// An instruction for roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneralInstruction {
    /// Its id.
    pub id: String,
    /// Its language.
    pub language: Language,
    /// The instruction.
    pub text: String,
    /// The plain answer.
    pub answer: String,
}

/// Selects instructions, sorted by language and id, and rejects the others: too long with the answer, similar to an
/// earlier one, or not sampled.
///
/// Near-duplicates are resolved in the order of the texts, so that the order of files and lines does not matter.
#[must_use]
pub fn select_instructions(
    params: &Params,
    instructions: &[Instruction],
    seed: u64,
    threads: NonZeroUsize,
) -> (Vec<GeneralInstruction>, Vec<Reject>) {
    let mut rejects = Vec::new();
    let reject =
        |id: &str, reason, detail: String| Reject::new(Stage::Instruct, format!("general/{id}"), reason, detail);
    let mut selected = Vec::new();
    for language in Language::ALL {
        let max_length = usize::try_from(*params.max_instruction.get(language)).unwrap_or(usize::MAX);
        let mut fit: Vec<GeneralInstruction> = Vec::new();
        for general in instructions.iter().map(read).filter(|general| general.language == language) {
            let size = length(&general.text, language) + length(&general.answer, language);
            if size >= max_length {
                let detail = format!("its length with the answer is {size}, which must be less than {max_length}");
                rejects.push(reject(&general.id, RejectReason::LongInstruction, detail));
            } else {
                fit.push(general);
            }
        }
        fit.sort_by(|a, b| (&a.text, &a.id).cmp(&(&b.text, &b.id)));
        let texts: Vec<&str> = fit.iter().map(|general| general.text.as_str()).collect();
        let found = duplicates(&texts, Keep::Threshold(*params.instruction_threshold.get(language)), threads);
        let mut kept = Vec::new();
        for (general, verdict) in fit.iter().zip(&found.verdicts) {
            match verdict.nearest {
                Some(nearest) if !verdict.kept => {
                    let detail = format!("it is similar to `general/{}` ({:.2})", fit[nearest].id, verdict.similarity);
                    rejects.push(reject(&general.id, RejectReason::Duplicate, detail));
                }
                _ => kept.push(general.clone()),
            }
        }
        let max_count = usize::try_from(*params.max_instructions.get(language)).unwrap_or(usize::MAX);
        if kept.len() > max_count {
            kept.shuffle(&mut seeded(seed, &["instruct", "general", language.code()]));
            for general in kept.drain(max_count..) {
                rejects.push(reject(&general.id, RejectReason::NotSampled, format!("only {max_count} are sampled")));
            }
        }
        kept.sort_by(|a, b| a.id.cmp(&b.id));
        selected.append(&mut kept);
    }
    (selected, rejects)
}

fn read(instruction: &Instruction) -> GeneralInstruction {
    let text = instruction.text();
    let language = instruction.language.unwrap_or_else(|| {
        // The text to work on, below the instruction or in quotes, may be in another language.
        let asked = unquoted(&instruction.instruction);
        let asked = if asked.chars().any(char::is_alphabetic) { &asked } else { &text };
        let (letters, han) = asked.chars().fold((0, 0), |(letters, han), c| {
            (letters + usize::from(c.is_alphabetic() && !is_han(c)), han + usize::from(is_han(c)))
        });
        if 4 * han > letters { Language::Zh } else { Language::En }
    });
    let hash = || blake3::hash(text.as_bytes()).to_hex()[..12].to_owned();
    let id = if instruction.id.trim().is_empty() { hash() } else { instruction.id.trim().to_owned() };
    GeneralInstruction { id, language, answer: instruction.answer.trim().to_owned(), text }
}

/// Returns a text without its quoted parts; an unclosed quote is kept.
fn unquoted(text: &str) -> String {
    let mut unquoted_text = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(opening) = rest.find(['“', '"', '「', '『']) {
        let quote = rest[opening..].chars().next().expect("`find` returned the start of a quote");
        let close = match quote {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            other => other,
        };
        let within = &rest[opening + quote.len_utf8()..];
        let Some(end) = within.find(close) else { break };
        unquoted_text.push_str(&rest[..opening]);
        unquoted_text.push(' ');
        rest = &within[end + close.len_utf8()..];
    }
    unquoted_text + rest
}

/// The exchanges of a role, indexed for search.
pub(super) struct Exchanges {
    pairs: Vec<(String, String)>,
    index: Index,
}

impl Exchanges {
    pub(super) fn new(role: &Role) -> Self {
        let pairs = role.exchanges();
        let texts: Vec<String> = pairs.iter().map(|(utterance, answer)| format!("{utterance} {answer}")).collect();
        Self { index: Index::new(&texts), pairs }
    }

    /// Whether the role has no exchanges.
    pub(super) const fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the `n` exchanges most similar to an instruction, the best one last, where a model pays most attention.
    /// If fewer share a word with it, others evenly spread over the dialogue are added: they still show how the role
    /// speaks.
    pub(super) fn nearest(&self, instruction: &str, n: u32) -> Vec<Exchange> {
        let n = usize::try_from(n).unwrap_or(usize::MAX).min(self.pairs.len());
        let mut indices: Vec<usize> = self.index.nearest(instruction, n).into_iter().map(|(index, _)| index).collect();
        let step = self.pairs.len().div_ceil(n.max(1)).max(1);
        let others = (0..self.pairs.len()).step_by(step).chain(0..self.pairs.len());
        for index in others {
            if indices.len() >= n {
                break;
            }
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
        let exchange = |index: usize| {
            let (utterance, answer) = self.pairs[index].clone();
            Exchange { utterance, answer }
        };
        indices.into_iter().rev().map(exchange).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByLanguage;
    use crate::stages::instruct::role::tests::{act, role};

    fn instruction(text: &str, answer: &str) -> Instruction {
        Instruction {
            id: String::new(),
            instruction: text.to_owned(),
            input: None,
            answer: answer.to_owned(),
            language: None,
        }
    }

    fn selected(params: &Params, instructions: &[Instruction]) -> (Vec<String>, Vec<RejectReason>) {
        let (selected, rejects) = select_instructions(params, instructions, 7, NonZeroUsize::MIN);
        let texts = selected.into_iter().map(|general| format!("{} {}", general.language, general.text)).collect();
        (texts, rejects.into_iter().map(|reject| reject.reason).collect())
    }

    #[test]
    fn appendix_d_3_an_instruction_is_below_100_words_with_its_answer() {
        let answer = |words: usize| "word ".repeat(words);
        let (kept, rejects) = selected(
            &Params::default(),
            &[instruction("Say a word", &answer(96)), instruction("Count again now", &answer(97))],
        );
        assert_eq!((kept, rejects), (vec!["en Say a word".to_owned()], vec![RejectReason::LongInstruction]));
        let (kept, rejects) = selected(&Params::default(), &[instruction("写字", &"字".repeat(199))]);
        assert_eq!((kept.len(), rejects), (0, vec![RejectReason::LongInstruction]));
    }

    #[test]
    fn appendix_d_3_instructions_are_deduplicated_in_any_order() {
        let instructions = [
            instruction("Name three rivers of Europe.", "Rhine, Loire, Po."),
            instruction("Name three rivers of Europe!", "Elbe, Don, Po."),
            instruction("Why is the sky blue?", "Air scatters blue light."),
            instruction("说出三条欧洲的河。", "莱茵河、卢瓦尔河、波河。"),
        ];
        let (kept, rejects) = selected(&Params::default(), &instructions);
        assert_eq!((kept.len(), rejects), (3, vec![RejectReason::Duplicate]));
        let mut other = instructions.clone();
        other.reverse();
        assert_eq!(selected(&Params::default(), &other).0, kept);
    }

    #[test]
    fn the_language_is_that_of_the_instruction() {
        for (text, expected) in [
            ("把“The early bird catches the worm.”译成中文。", Language::Zh),
            ("Translate “早起的鸟儿有虫吃，晚起的鸟儿没虫吃。” into English.", Language::En),
            ("“早起的鸟儿”", Language::Zh),
            ("\"Ay\" or \"no\"?", Language::En),
            ("Say “so", Language::En),
        ] {
            assert_eq!(read(&instruction(text, "So.")).language, expected, "{text}");
        }
    }

    #[test]
    fn appendix_d_3_at_most_max_instructions_are_used() {
        let instructions = [
            instruction("Why is the sky blue?", "Air."),
            instruction("Name a river.", "The Po."),
            instruction("Spell cat.", "C, A, T."),
        ];
        let params = Params { max_instructions: ByLanguage { en: 2, zh: 2 }, ..Params::default() };
        let (kept, rejects) = selected(&params, &instructions);
        assert_eq!((kept.len(), rejects), (2, vec![RejectReason::NotSampled]));
    }

    #[test]
    fn section_3_2_the_most_similar_exchanges_come_last() {
        let acts = [act(&[
            "Bo: Is the lamp lit?",
            "Ann: The lamp is lit and the oil is low.",
            "Bo: Did you sell the boat?",
            "Ann: I sold the boat to the miller.",
            "Bo: Are you well?",
            "Ann: Well enough.",
        ])];
        let exchanges = Exchanges::new(&role("Ann", Language::En, &acts));
        let nearest = exchanges.nearest("How would you sell a boat?", 2);
        assert_eq!(nearest.len(), 2);
        assert_eq!(nearest[1].answer, "I sold the boat to the miller.");
        assert_eq!(exchanges.nearest("Zebra?", 2).len(), 2, "unrelated exchanges fill up");
        assert_eq!(exchanges.nearest("Zebra?", 9).len(), 3);
    }
}
