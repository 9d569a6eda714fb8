//! The limitations of the data set, and how much of the books' own text it contains.

use std::fmt::Write as _;

use super::markdown::cell;
use super::metadata::CardMetadata;
use crate::stages::export::Params;
use crate::stages::export::quote_limits::QuoteLimits;

pub(super) fn limitations(params: &Params, metadata: &CardMetadata) -> String {
    let mut text = "## Limitations\n\n".to_owned();
    let offline: Vec<String> = metadata
        .parts
        .iter()
        .filter(|part| part.is_offline())
        .map(|part| format!("{} ({})", cell(&part.part), cell(&part.model)))
        .collect();
    if !offline.is_empty() {
        let _ = writeln!(
            text,
            "- These parts were filled by the rule-based offline engine, not by a language model: {}. What it wrote \
             and judged shows the format of the benchmark and does not measure role-play.",
            offline.join(", ")
        );
    }
    text.push_str(&own_text(params, metadata));
    text.push_str(
        "- `dimension`, `score` and `rationale` are verdicts of a model and have its biases, for example towards \
         longer replies or its own style.\n\
         - The profiles, motivations and situations of `scenes` are each derived from one passage of a book, and may \
         contradict other passages.\n\n",
    );
    text
}

/// Describes how much of the books' own text the rows contain, and under which licences.
fn own_text(params: &Params, metadata: &CardMetadata) -> String {
    let mut text = String::from("- ");
    if !params.include_book_text {
        text.push_str(
            "The books' own text was left out: the words of `scenes.dialogue`, `characters.lines`, `roles.dialogue` \
             and `roles.catchphrases` are null. `start` and `end` of an utterance are its offsets, in code points of \
             the decoded book, so anyone who has the book can restore the text. ",
        );
    }
    match QuoteLimits::longest(params) {
        Some(longest) => {
            let _ = write!(
                text,
                "No row contains a passage of more than {longest} code points of a book; `[…]` marks where a longer \
                 one was cut. "
            );
        }
        None => text.push_str("`scenes` and other tables contain quotations from the books. "),
    }
    if metadata.books.iter().any(|book| book.license.is_none()) {
        text.push_str("Not all licences are stated: check that you have the right to publish this data set.\n");
    } else {
        text.push_str("The licences are those stated in the pipeline file.\n");
    }
    if let Some(canary) = &params.canary {
        let _ = writeln!(
            text,
            "- This data set is for evaluation and should not be in training corpora. Each row contains the canary \
             `{}`.",
            canary.replace(['`', '\n', '\r'], " ")
        );
    }
    text
}
