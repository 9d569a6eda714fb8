//! Answers the ask about a boundary between two chunks by rules.

use crate::llm::{Offline, OfflineAnswer};
use crate::schema::Language;
use crate::stages::chunk::{Cut, FindBoundary, FoundBoundary, Paragraph, ends_in_quotation, is_scene_break, window};

impl OfflineAnswer for FindBoundary {
    fn answer_offline(&self, _: &mut Offline<'_>) -> FoundBoundary {
        let paragraphs: Vec<&Paragraph> = self.before.iter().chain(&self.after).collect();
        let features: Vec<Features> = (1..paragraphs.len()).map(|at| features(self, &paragraphs, at)).collect();
        let planned = self.before.len() - 1;
        let border = paragraphs[planned + 1].start;
        let cost = |at: usize| {
            let away = f64::from(paragraphs[at + 1].start.abs_diff(border));
            let window = f64::from(u32::try_from(window(self.language)).unwrap_or(u32::MAX));
            features[at].cost() + 3.0 * away / window
        };
        let best = (0..features.len())
            .min_by(|a, b| {
                // On equal cost, the nearest boundary wins.
                cost(*a).total_cmp(&cost(*b)).then(a.abs_diff(planned).cmp(&b.abs_diff(planned)))
            })
            .unwrap_or(planned);
        let (cuts, reason) = features[planned].reason(self.language);
        let continues = features[best].runs_on();
        FoundBoundary { reason: reason.to_owned(), cuts, opens_with: paragraphs[best + 1].number, continues }
    }
}

/// The features of a position between two paragraphs.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent features with separate weights")]
struct Features {
    /// A quotation is open across it.
    open: bool,
    /// The paragraphs on both sides contain dialogue.
    talk: bool,
    /// There is dialogue within two paragraphs on both sides.
    near_talk: bool,
    /// The paragraph before it ends inside a sentence.
    unended: bool,
    /// The paragraph before it is a heading.
    after_heading: bool,
    /// The paragraph after it is a heading.
    heading: bool,
    /// There is a scene break before it.
    after_scene_break: bool,
    /// There is a scene break after it.
    before_scene_break: bool,
}

impl Features {
    /// Whether a scene continues across the position.
    const fn runs_on(self) -> bool {
        !self.heading && !self.after_scene_break && !self.before_scene_break && (self.open || self.talk || self.unended)
    }

    /// Returns the cost of a boundary at the position; negative where a scene ends. The distance of a whole window costs
    /// 3.
    fn cost(self) -> f64 {
        let weigh = |is: bool, cost: f64| if is { cost } else { 0.0 };
        weigh(self.open, 8.0)
            + weigh(self.unended, 6.0)
            + weigh(self.talk, 4.0)
            + weigh(self.near_talk && !self.talk, 2.0)
            + weigh(self.after_heading, 12.0)
            + weigh(self.heading, -10.0)
            + weigh(self.after_scene_break, -8.0)
            + weigh(self.before_scene_break, -6.0)
    }

    /// Returns what a boundary at the position cuts, and why.
    const fn reason(self, language: Language) -> (Cut, &'static str) {
        let zh = matches!(language, Language::Zh);
        if self.after_heading {
            return (Cut::Trailing, if zh { "标题与正文分开了。" } else { "A heading is parted from its text." });
        }
        if self.heading {
            return (Cut::Nothing, if zh { "新的一章由此开始。" } else { "A chapter begins here." });
        }
        if self.after_scene_break || self.before_scene_break {
            return (Cut::Nothing, if zh { "这里换了一场。" } else { "One scene ends here and another begins." });
        }
        if self.unended {
            return (Cut::Trailing, if zh { "句子还没有完。" } else { "The sentence before it is not over." });
        }
        if self.open {
            return (Cut::Conversation, if zh { "话还没有说完。" } else { "A speech is still open." });
        }
        if self.talk {
            return (Cut::Conversation, if zh { "前后都在交谈。" } else { "The talk before it goes on after it." });
        }
        (Cut::Nothing, if zh { "前后没有未完的对话。" } else { "No talk runs across it." })
    }
}

/// Returns the features of the position before a paragraph.
fn features(ask: &FindBoundary, paragraphs: &[&Paragraph], at: usize) -> Features {
    let (before, after) = (paragraphs[at - 1], paragraphs[at]);
    let talk = |index: usize| {
        paragraphs.get(index).is_some_and(|paragraph| !paragraph.heading && is_talk(ask, &paragraph.text))
    };
    let last = before.text.trim_end_matches(['”', '"', '’', '\'', '」', '』', '）', ')', '*', '_']);
    let ended = last.ends_with(['.', '!', '?', '…', '。', '！', '？', '．', '—', ':', '：']);
    let short = if ask.language == Language::Zh { 20 } else { 50 };
    let is_break = |paragraph: &Paragraph| is_scene_break(&paragraph.text);
    Features {
        open: ends_in_quotation(&before.text),
        talk: talk(at - 1) && talk(at),
        near_talk: (talk(at - 1) || (at >= 2 && talk(at - 2))) && (talk(at) || talk(at + 1)),
        // Lines of verse, of a script and of a letterhead end without punctuation.
        unended: !ended && !before.heading && !is_break(before) && !ask.script && before.text.chars().count() > short,
        after_heading: before.heading,
        heading: after.heading,
        after_scene_break: is_break(before),
        before_scene_break: is_break(after),
    }
}

/// Whether a paragraph contains dialogue.
fn is_talk(ask: &FindBoundary, text: &str) -> bool {
    text.contains(['“', '”', '「', '『', '"']) || text.starts_with(['‘', '\'']) || (ask.script && !is_scene_break(text))
}
