//! The plot-aware pass: asks what a boundary between two chunks cuts, and where it should be. Does not split again; a
//! boundary only moves within the text shown in its ask, and only if both chunks stay within the token limit.

use futures::StreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;
use super::chapters::count;
use super::chunks::{is_border, is_open, paragraph_ends, sentence_ends};
use crate::llm::{Ask, AskError, Model, Offline, OfflineAnswer};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Book, Chunk, Draw, Language, Message, Reject, Stage};

/// The number of boundaries of one book that are asked about concurrently.
const AT_ONCE: usize = 16;

/// How many characters an ask shows on each side of a boundary: about 300 English words or 600 Chinese characters.
const fn window(language: Language) -> usize {
    match language {
        Language::En => 1800,
        Language::Zh => 600,
    }
}

/// Checks each boundary between two adjacent chunks, and moves it to where it does not interrupt the plot, or sets
/// `continues` on the chunk before it.
///
/// The draw is `<id of the chunk before the boundary>/border`. If a call fails, its boundary stays as it is and a
/// reject is recorded; only errors that end the run are returned. The chunks hold the same text as before, each within
/// `max_tokens`.
pub async fn borders<'m>(
    model: impl Fn(Language) -> &'m Model,
    params: &Params,
    book: &Book,
    mut chunks: Vec<Chunk>,
) -> Result<(Vec<Chunk>, Vec<Reject>), AskError> {
    let calls: Vec<_> = chunks
        .windows(2)
        .map(|pair| {
            let (model, draw) = (model(pair[0].language), Draw::Boundary { chunk: pair[0].id() });
            // A boundary where boilerplate was left out between two chunks cannot move.
            let meet = pair[0].end == pair[1].start;
            let ask = if meet { FindBorder::new(book, &pair[0], &pair[1]) } else { None };
            answer(model, ask, draw)
        })
        .collect();
    let answers: Vec<_> = futures::stream::iter(calls).buffered(AT_ONCE).collect().await;
    let mut rejects = Vec::new();
    let mut ended: Option<AskError> = None;
    for (at, answered) in answers.into_iter().enumerate() {
        let Some((ask, answer)) = answered else { continue };
        let [before, after, ..] = &mut chunks[at..] else { continue };
        match answer {
            Ok(answer) => settle(before, after, &ask, &answer, params),
            Err(error) if error.ends_the_run() => {
                // An interruption says less than the error that caused it.
                if matches!(ended, None | Some(AskError::Interrupted)) {
                    ended = Some(error);
                }
            }
            Err(error) => rejects.push(Reject::new(Stage::Chunk, before.id(), error.reason(), error.detail())),
        }
    }
    ended.map_or(Ok((chunks, rejects)), Err)
}

async fn answer(
    model: &Model,
    ask: Option<FindBorder>,
    draw: Draw,
) -> Option<(FindBorder, Result<FoundBorder, AskError>)> {
    let ask = ask?;
    let answer = model.ask(&ask, &draw).await;
    if answer.as_ref().is_err_and(AskError::ends_the_run) {
        // Requests in flight are finished and kept; no new ones start.
        model.session().stop();
    }
    Some((ask, answer))
}

/// Moves the boundary to where the answer puts it. If a chunk would exceed the limit, the boundary stays and the scene
/// is marked as continuing.
fn settle(before: &mut Chunk, after: &mut Chunk, ask: &FindBorder, answer: &FoundBorder, params: &Params) {
    let place = ask.place(answer.opens_with).unwrap_or(before.end);
    let moved = place != before.end && shift(before, after, place, params);
    before.continues = answer.continues || (!moved && answer.cuts != Cut::Nothing);
}

/// Moves the boundary between two chunks to a code point offset. Returns `false` if a chunk would exceed the limit.
fn shift(before: &mut Chunk, after: &mut Chunk, place: u32, params: &Params) -> bool {
    let joined = format!("{}{}", before.text, after.text);
    let Some(skip) = place.checked_sub(before.start) else { return false };
    let Some((cut, _)) = joined.char_indices().nth(skip as usize) else { return false };
    let (first, second) = joined.split_at(cut);
    let (first_tokens, second_tokens) = (params.weigh(first), params.weigh(second));
    if cut == 0 || first_tokens.max(second_tokens) > params.max_tokens {
        return false;
    }
    let mut headings = std::mem::take(&mut before.headings);
    headings.append(&mut after.headings);
    let split = headings.partition_point(|(offset, _)| *offset < place);
    after.chapter = chapter_at(place, second, &headings, split).unwrap_or_else(|| before.chapter.clone());
    after.headings = headings.split_off(split);
    before.headings = headings;
    (before.end, after.start) = (place, place);
    (before.tokens, after.tokens) = (first_tokens, second_tokens);
    second.clone_into(&mut after.text);
    first.clone_into(&mut before.text);
    true
}

/// Returns the innermost heading that a text starts with, or else the last one before it.
fn chapter_at(place: u32, text: &str, headings: &[(u32, String)], split: usize) -> Option<String> {
    let blank = text.len() - text.trim_start().len();
    let mut reach = place + count(&text[..blank]);
    let mut chapter = headings[..split].last();
    for heading in &headings[split..] {
        if heading.0 > reach {
            break;
        }
        // Nested headings are separated by line breaks only.
        reach = heading.0 + count(&heading.1) + 8;
        chapter = Some(heading);
    }
    chapter.map(|(_, title)| title.clone())
}

/// A paragraph near a boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Paragraph {
    /// Its number, from 1.
    number: u32,
    /// Its text on one line.
    text: String,
    /// Its start, in code points of the book.
    #[serde(skip)]
    start: u32,
    /// Whether it contains a heading.
    #[serde(skip)]
    heading: bool,
}

/// Ask: does a boundary between two chunks cut a storyline, a conversation or trailing lines, and where should it be?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindBorder {
    language: Language,
    title: String,
    chapter: String,
    before: Vec<Paragraph>,
    after: Vec<Paragraph>,
    /// The first and last paragraph that may open the next chunk, and the one that opens it as planned.
    first: u32,
    last: u32,
    planned: u32,
    /// Whether the book is a script, in which speech has no quotation marks.
    #[serde(skip)]
    script: bool,
}

/// What a border cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// Nothing: something ends there.
    Nothing,
    /// People who are talking with each other, or a speech.
    Conversation,
    /// One action at one place.
    Storyline,
    /// The last or first lines of something, which stand on the wrong side.
    Trailing,
}

/// What an ask at a border finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundBorder {
    /// What runs across the planned border, or ends there, in one sentence.
    pub reason: String,
    /// What the planned border cuts.
    pub cuts: Cut,
    /// The number of the paragraph that should be the first of the next part.
    pub opens_with: u32,
    /// Whether a scene runs on across that place all the same.
    pub continues: bool,
}

impl FindBorder {
    /// Takes the text around a boundary, at most half of each chunk, so that two boundaries never meet. Returns `None`
    /// if the chunks are not adjacent.
    fn new(book: &Book, before: &Chunk, after: &Chunk) -> Option<Self> {
        if before.end != after.start {
            return None;
        }
        let language = before.language;
        let most = |chunk: &Chunk| window(language).min((chunk.end - chunk.start) as usize / 2);
        let pieces = |chunk: &Chunk, from_end: bool| near(&chunk.text, most(chunk), window(language), from_end);
        let headings: Vec<u32> = before.headings.iter().chain(&after.headings).map(|(offset, _)| *offset).collect();
        let mut number = 0;
        let mut numbered = |chunk: &Chunk, pieces: Vec<(usize, usize)>| {
            let (mut byte, mut point) = (0, chunk.start);
            let numbered: Vec<Paragraph> = pieces
                .into_iter()
                .map(|(start, end)| {
                    point += count(&chunk.text[byte..start]);
                    let length = count(&chunk.text[start..end]);
                    number += 1;
                    let heading = headings.iter().any(|heading| (point..point + length).contains(heading));
                    let paragraph =
                        Paragraph { number, text: one_line(&chunk.text[start..end]), start: point, heading };
                    (byte, point) = (end, point + length);
                    paragraph
                })
                .collect();
            numbered
        };
        let (left, right) = (numbered(before, pieces(before, true)), numbered(after, pieces(after, false)));
        let planned = right.first()?.number;
        let (first, last) = (left.first()?.number + 1, right.last()?.number);
        Some(Self {
            language,
            title: book.title.clone(),
            chapter: after.chapter.clone(),
            before: left,
            after: right,
            first,
            last,
            planned,
            script: book.script,
        })
    }

    /// Returns the start of a paragraph, in code points.
    fn place(&self, number: u32) -> Option<u32> {
        let all = self.before.iter().chain(&self.after);
        all.into_iter().find(|paragraph| paragraph.number == number).map(|paragraph| paragraph.start)
    }
}

/// Returns the byte ranges of the paragraphs next to the end or the start of a text, in order: about `most` characters.
/// Paragraphs longer than a window are split at sentence ends. The last (or first) bytes of the text are always
/// included.
fn near(text: &str, most: usize, window: usize, from_end: bool) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for end in paragraph_ends(text) {
        let paragraph = &text[start..end];
        let mut begun = start;
        if paragraph.len() > window && paragraph.chars().count() > window {
            for sentence in sentence_ends(paragraph) {
                if text[begun..start + sentence].chars().count() * 6 >= window && start + sentence < end {
                    pieces.push((begun, start + sentence));
                    begun = start + sentence;
                }
            }
        }
        pieces.push((begun, end));
        start = end;
    }
    if from_end {
        pieces.reverse();
    }
    let (mut taken, mut length) = (0, 0);
    for (start, end) in &pieces {
        length += text[*start..*end].chars().count();
        if taken > 0 && length > most {
            break;
        }
        taken += 1;
    }
    pieces.truncate(taken);
    if from_end {
        pieces.reverse();
    }
    pieces
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Ask for FindBorder {
    const NAME: &'static str = "chunk/border";
    type Answer = FoundBorder;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![
            Message::system(prompts.render(Self::NAME, self.language, "system", self)?),
            Message::user(prompts.render(Self::NAME, self.language, "user", self)?),
        ])
    }

    fn check(&self, answer: &FoundBorder) -> Result<(), String> {
        if (self.first..=self.last).contains(&answer.opens_with) {
            Ok(())
        } else {
            Err(format!("`opens_with` is {}, not a number from {} to {}", answer.opens_with, self.first, self.last))
        }
    }
}

impl OfflineAnswer for FindBorder {
    fn answer_offline(&self, _: &mut Offline<'_>) -> FoundBorder {
        let paragraphs: Vec<&Paragraph> = self.before.iter().chain(&self.after).collect();
        let features: Vec<Features> = (1..paragraphs.len()).map(|at| self.features(&paragraphs, at)).collect();
        let planned = self.before.len() - 1;
        let border = paragraphs[planned + 1].start;
        let cost = |at: usize| {
            let away = f64::from(paragraphs[at + 1].start.abs_diff(border));
            let window = f64::from(u32::try_from(window(self.language)).unwrap_or(u32::MAX));
            features[at].cost() + 3.0 * away / window
        };
        let best = (0..features.len())
            .min_by(|a, b| {
                // On equal cost, the nearest place wins.
                cost(*a).total_cmp(&cost(*b)).then(a.abs_diff(planned).cmp(&b.abs_diff(planned)))
            })
            .unwrap_or(planned);
        let (cuts, reason) = features[planned].reason(self.language);
        let continues = features[best].runs_on();
        FoundBorder { reason: reason.to_owned(), cuts, opens_with: paragraphs[best + 1].number, continues }
    }
}

/// The features of a place between two paragraphs.
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
    stranded: bool,
    /// The paragraph after it is a heading.
    heading: bool,
    /// There is a scene break before it.
    after_stars: bool,
    /// There is a scene break after it.
    before_stars: bool,
}

impl Features {
    /// Whether a scene continues across the place.
    const fn runs_on(self) -> bool {
        !self.heading && !self.after_stars && !self.before_stars && (self.open || self.talk || self.unended)
    }

    /// Returns the cost of a boundary at the place; negative where a scene ends. The distance of a whole window costs
    /// 3.
    fn cost(self) -> f64 {
        let weigh = |is: bool, cost: f64| if is { cost } else { 0.0 };
        weigh(self.open, 8.0)
            + weigh(self.unended, 6.0)
            + weigh(self.talk, 4.0)
            + weigh(self.near_talk && !self.talk, 2.0)
            + weigh(self.stranded, 12.0)
            + weigh(self.heading, -10.0)
            + weigh(self.after_stars, -8.0)
            + weigh(self.before_stars, -6.0)
    }

    /// Returns what a boundary at the place cuts, and why.
    const fn reason(self, language: Language) -> (Cut, &'static str) {
        let zh = matches!(language, Language::Zh);
        if self.stranded {
            return (Cut::Trailing, if zh { "标题与正文分开了。" } else { "A heading is parted from its text." });
        }
        if self.heading {
            return (Cut::Nothing, if zh { "新的一章由此开始。" } else { "A chapter begins here." });
        }
        if self.after_stars || self.before_stars {
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

impl FindBorder {
    /// Returns the features of the place before a paragraph.
    fn features(&self, paragraphs: &[&Paragraph], at: usize) -> Features {
        let (before, after) = (paragraphs[at - 1], paragraphs[at]);
        let talk = |place: usize| {
            paragraphs.get(place).is_some_and(|paragraph| !paragraph.heading && self.is_talk(&paragraph.text))
        };
        let last = before.text.trim_end_matches(['”', '"', '’', '\'', '」', '』', '）', ')', '*', '_']);
        let ended = last.ends_with(['.', '!', '?', '…', '。', '！', '？', '．', '—', ':', '：']);
        let short = if self.language == Language::Zh { 20 } else { 50 };
        let stars = |paragraph: &Paragraph| is_border(&paragraph.text);
        Features {
            open: is_open(&before.text),
            talk: talk(at - 1) && talk(at),
            near_talk: (talk(at - 1) || (at >= 2 && talk(at - 2))) && (talk(at) || talk(at + 1)),
            // Lines of verse, of a script and of a letterhead end without punctuation.
            unended: !ended && !before.heading && !stars(before) && !self.script && before.text.chars().count() > short,
            stranded: before.heading,
            heading: after.heading,
            after_stars: stars(before),
            before_stars: stars(after),
        }
    }

    fn is_talk(&self, text: &str) -> bool {
        text.contains(['“', '”', '「', '『', '"']) || text.starts_with(['‘', '\'']) || (self.script && !is_border(text))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use futures::future::BoxFuture;
    use proptest::prelude::*;

    use super::*;
    use crate::books::read;
    use crate::llm::{Answered, Budget, Journal, JournalError, OfflineOptions, Record, Session, estimate_tokens};
    use crate::prompt::Prompts;
    use crate::stages::chunk::chunks::chunk;
    use crate::stages::chunk::{PROMPTS, chapters};

    /// A journal that replaces replies by draw: it stores each record with the scripted reply.
    #[derive(Default)]
    struct Script {
        replies: BTreeMap<&'static str, String>,
        records: Mutex<BTreeMap<String, Record>>,
    }

    impl Journal for Script {
        fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
            Ok(self.records.lock().expect("one test").get(key).map(Answered::from))
        }

        fn write(&self, mut record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
            if let Some(reply) = self.replies.get(record.draw.as_str()) {
                record.reply.text.clone_from(reply);
            }
            self.records.lock().expect("one test").insert(record.key.clone(), record);
            Box::pin(async { Ok(()) })
        }
    }

    fn model(script: &Arc<Script>) -> Model {
        let prompts = Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).expect("the templates parse");
        let journal: Arc<dyn Journal> = Arc::clone(script) as _;
        let session = Session::new(7, prompts, journal, Budget::default(), false);
        Model::offline("rules", OfflineOptions::default(), Arc::new(session))
    }

    fn cut(text: &str, max_tokens: u32) -> (Book, Vec<Chunk>, Params) {
        let book = read("a_book.txt", text.as_bytes(), None).expect("reads");
        let params = Params { max_tokens, ..Params::default() };
        let chunks = chunk(&book, &chapters(&book), &params).0;
        (book, chunks, params)
    }

    /// Runs the pass twice; the second run reads the scripted replies.
    async fn scripted(
        text: &str,
        max_tokens: u32,
        replies: &[(&'static str, String)],
    ) -> (Vec<Chunk>, Vec<Chunk>, Vec<Reject>) {
        let (book, planned, params) = cut(text, max_tokens);
        let script = Arc::new(Script { replies: replies.iter().cloned().collect(), ..Script::default() });
        let model = model(&script);
        borders(|_| &model, &params, &book, planned.clone()).await.expect("asks");
        let (chunks, rejects) = borders(|_| &model, &params, &book, planned.clone()).await.expect("asks");
        whole(&planned, &chunks, max_tokens);
        (planned, chunks, rejects)
    }

    /// Asserts that no text is lost or duplicated and that the limit holds.
    fn whole(planned: &[Chunk], chunks: &[Chunk], max_tokens: u32) {
        let join = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>();
        assert_eq!(join(chunks), join(planned));
        assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start));
        for chunk in chunks {
            assert_eq!(chunk.end - chunk.start, count(&chunk.text));
            assert_eq!(chunk.tokens, estimate_tokens(&chunk.text));
            assert!(chunk.tokens <= max_tokens, "{} > {max_tokens}", chunk.tokens);
        }
        let headings = |chunks: &[Chunk]| chunks.iter().flat_map(|chunk| chunk.headings.clone()).collect::<Vec<_>>();
        assert_eq!(headings(chunks), headings(planned));
        assert!(
            chunks
                .iter()
                .all(|chunk| { chunk.headings.iter().all(|(offset, _)| (chunk.start..chunk.end).contains(offset)) })
        );
    }

    fn reply(cuts: &str, opens_with: u32, continues: bool) -> String {
        serde_json::json!({ "reason": "", "cuts": cuts, "opens_with": opens_with, "continues": continues }).to_string()
    }

    /// A long walk with an uninterrupted conversation in the middle.
    fn story(language: Language) -> String {
        let (walk, talk) = match language {
            Language::En => (
                "The road went on by the river, and the mill came no nearer for all that they walked.\n\n",
                "“Is it far?” asked Ann.\n\n“It is as far as it was,” said Ben.\n\n",
            ),
            Language::Zh => (
                "路沿着河往前伸，走了半日，水车还是远远的，一点不见近。\n",
                "“还有多远？”安娘问。\n“方才多远，如今还是多远。”本叔说。\n",
            ),
        };
        format!("{}{}{}", walk.repeat(12), talk.repeat(6), walk.repeat(12))
    }

    #[tokio::test]
    async fn a_border_moves_to_where_the_model_has_it() {
        for (language, max) in [(Language::En, 400), (Language::Zh, 500)] {
            let text = story(language);
            let (_, planned, _) = cut(&text, max);
            assert_eq!(
                planned.len(),
                2,
                "{language}: {:?}",
                planned.iter().map(|chunk| chunk.tokens).collect::<Vec<_>>()
            );
            let (book, ..) = cut(&text, max);
            let ask = FindBorder::new(&book, &planned[0], &planned[1]).expect("neighbours");
            let opens_with = ask.before[ask.before.len() - 3].number;
            let place = ask.place(opens_with).expect("shown");
            let answer = reply("conversation", opens_with, true);
            let (_, chunks, rejects) = scripted(&text, max, &[("a-book/0/border", answer)]).await;
            assert!(rejects.is_empty());
            assert_eq!((chunks[0].end, chunks[0].continues, chunks[1].continues), (place, true, false), "{language}");
            assert_ne!(chunks[0].end, planned[0].end);
        }
    }

    #[tokio::test]
    async fn a_scene_that_spans_three_chunks_runs_on_over_two_borders() {
        for (language, talk) in [
            (Language::En, "“Is it far?” asked Ann.\n\n“It is as far as it was,” said Ben.\n\n"),
            (Language::Zh, "“还有多远？”安娘问。\n“方才多远，如今还是多远。”本叔说。\n"),
        ] {
            let text = talk.repeat(24);
            let tokens = cut(&text, 100_000).1[0].tokens;
            let max = tokens * 2 / 5;
            let (book, planned, _) = cut(&text, max);
            assert_eq!(planned.len(), 3, "{language}");
            let asks: Vec<FindBorder> = planned
                .windows(2)
                .map(|pair| FindBorder::new(&book, &pair[0], &pair[1]).expect("neighbours"))
                .collect();
            // The first boundary moves by one paragraph, the second stays, and the conversation continues across both.
            let replies = [
                ("a-book/0/border", reply("conversation", asks[0].planned - 1, true)),
                ("a-book/1/border", reply("storyline", asks[1].planned, true)),
            ];
            let (_, chunks, rejects) = scripted(&text, max, &replies).await;
            assert!(rejects.is_empty(), "{rejects:?}");
            assert_eq!(
                chunks.iter().map(|chunk| chunk.continues).collect::<Vec<_>>(),
                [true, true, false],
                "{language}"
            );
            assert_eq!(Some(chunks[0].end), asks[0].place(asks[0].planned - 1), "{language}");
            assert_eq!((chunks[1].end, chunks[2].end), (planned[1].end, planned[2].end), "{language}");
            assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), text);
        }
    }

    #[test]
    fn a_border_that_has_to_stay_lets_the_scene_run_on() {
        for language in Language::ALL {
            let text = story(language);
            let (book, planned, mut params) = cut(&text, 500);
            let ask = FindBorder::new(&book, &planned[0], &planned[1]).expect("neighbours");
            // The first chunk is full and cannot take another paragraph.
            params.max_tokens = planned[0].tokens;
            let mut chunks = planned.clone();
            let [before, after, ..] = &mut chunks[..] else { panic!("{chunks:?}") };
            let answer =
                FoundBorder { reason: String::new(), cuts: Cut::Storyline, opens_with: ask.last, continues: false };
            settle(before, after, &ask, &answer, &params);
            assert_eq!(chunks[0].end, planned[0].end, "{language}");
            assert!(chunks[0].continues, "{language}");
        }
    }

    #[tokio::test]
    async fn a_call_that_fails_leaves_its_border_and_a_reject() {
        for language in Language::ALL {
            let bad = reply("conversation", 900, false);
            let (planned, chunks, rejects) = scripted(&story(language), 500, &[("a-book/0/border", bad)]).await;
            assert_eq!(chunks[0].end, planned[0].end);
            assert_eq!(
                (rejects[0].stage.name(), rejects[0].id.as_str(), rejects[0].reason.name()),
                ("chunk", "a-book/0", "bad_reply")
            );
            assert!(rejects[0].detail.contains("opens_with"), "{}", rejects[0].detail);
        }
    }

    /// Asks the offline rules about the boundary marked by `|`. Returns what it cuts, the first characters of the
    /// paragraph that opens the next chunk, and whether the scene continues.
    async fn by_rule(text: &str, headings: &[&str]) -> (Cut, String, bool) {
        let (first, second) = text.split_once('|').expect("a border");
        let text = format!("{first}{second}");
        let (book, mut chunks, _) = cut(&text, 100_000);
        let mut after = chunks[0].clone();
        let border = count(first);
        let mut headings: Vec<(u32, String)> = headings
            .iter()
            .map(|title| (count(&text[..text.find(title).expect("there")]), (*title).to_owned()))
            .collect();
        after.headings = headings.split_off(headings.partition_point(|(offset, _)| *offset < border));
        second.clone_into(&mut after.text);
        (after.start, after.index) = (border, 1);
        chunks[0].headings = headings;
        chunks[0].text = first.to_owned();
        (chunks[0].start, chunks[0].end) = (0, border);
        chunks.push(after);
        let ask = FindBorder::new(&book, &chunks[0], &chunks[1]).expect("neighbours");
        let answer =
            model(&Arc::new(Script::default())).ask(&ask, &Draw::Other("x".to_owned())).await.expect("answers");
        ask.check(&answer).expect("its own check");
        let opens = ask.before.iter().chain(&ask.after).find(|paragraph| paragraph.number == answer.opens_with);
        (answer.cuts, opens.expect("shown").text.chars().take(6).collect(), answer.continues)
    }

    #[tokio::test]
    async fn the_rules_see_what_a_border_cuts() {
        let walk = "The road went on by the river.\n\n";
        let talk = "“Is it far?” asked Ann.\n\n“It is,” said Ben.\n\n";
        let text = format!("{}{talk}|{talk}* * *\n\n{}", walk.repeat(9), walk.repeat(9));
        assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "The ro".to_owned(), false));
        let text = format!("{}|{}", talk.repeat(30), talk.repeat(30));
        assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "“Is it".to_owned(), true));
        let text = format!("{}Chapter 9\n\n|{}", walk.repeat(9), walk.repeat(9));
        assert_eq!(by_rule(&text, &["Chapter 9"]).await, (Cut::Trailing, "Chapte".to_owned(), false));
        let text = format!("{}|Chapter 9\n\n{}", walk.repeat(9), walk.repeat(9));
        assert_eq!(by_rule(&text, &["Chapter 9"]).await, (Cut::Nothing, "Chapte".to_owned(), false));
        let text = format!("{0}“It went on.\n\n|“And on,” said Ben.\n\n{0}", walk.repeat(9));
        assert_eq!(by_rule(&text, &[]).await.0, Cut::Conversation);
        assert_eq!(by_rule(&text, &[]).await.1, "“It we");

        let (walk, talk) = ("路沿着河往前伸，一点不见近。\n", "“还有多远？”安娘问。\n“还远。”本叔说。\n");
        let text = format!("{}{talk}|{talk}＊＊＊\n{}", walk.repeat(9), walk.repeat(9));
        assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "路沿着河往前".to_owned(), false));
        let text = format!("{}|{}", talk.repeat(30), talk.repeat(30));
        assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "“还有多远？".to_owned(), true));
        let text = format!("{}第九回　过河\n|{}", walk.repeat(9), walk.repeat(9));
        assert_eq!(by_rule(&text, &["第九回"]).await, (Cut::Trailing, "第九回 过河".to_owned(), false));
        let broken = "他一边走一边想着那年冬天在渡口遇见的那个撑伞的人和他说过的那一句没头没尾的";
        let text = format!("{}{broken}\n|话。\n{}", walk.repeat(9), walk.repeat(9));
        assert_eq!(by_rule(&text, &[]).await.0, Cut::Trailing);
    }

    #[tokio::test]
    async fn prompts_show_the_border() {
        for language in Language::ALL {
            let text = story(language);
            let (book, chunks, _) = cut(&text, 500);
            let ask = FindBorder::new(&book, &chunks[0], &chunks[1]).expect("neighbours");
            let prompts = Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).expect("the templates parse");
            let user = ask.messages(&prompts).expect("renders")[1].content.clone();
            let (above, below) = user
                .split_once(if language == Language::En { "planned border =" } else { "预定分界 =" })
                .expect("the border is shown");
            assert!(above.contains(&format!("[{}] ", ask.planned - 1)), "{user}");
            assert!(below.contains(&format!("[{}] ", ask.planned)), "{user}");
            let shown = count(&user) as usize;
            assert!(shown < 3 * window(language), "{shown}");
        }
    }

    #[test]
    fn a_moved_border_takes_headings_along() {
        let walk = "The road went on by the river, and the mill came no nearer.\n\n";
        let text = format!("Chapter 1\n\n{0}Chapter 2\n\n{0}", walk.repeat(30));
        let (_, mut chunks, params) = cut(&text, 600);
        let [before, after] = &mut chunks[..] else { panic!("{chunks:?}") };
        let border = before.end;
        assert_eq!((before.chapter.as_str(), after.chapter.as_str()), ("Chapter 1", "Chapter 2"));
        assert!(shift(before, after, border - count(walk), &params));
        assert_eq!((after.chapter.as_str(), after.headings.len(), before.headings.len()), ("Chapter 1", 1, 1));
        assert!(shift(before, after, border, &params));
        assert_eq!(after.chapter, "Chapter 2");
        assert!(shift(before, after, border + count("Chapter 2\n\n"), &params));
        assert_eq!((after.chapter.as_str(), after.headings.len(), before.headings.len()), ("Chapter 2", 0, 2));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_wherever_borders_go(
            parts in proptest::collection::vec("[a-z“”河上。，\n ]{0,120}\n", 8..40),
            max in 60_u32..200,
            picks in proptest::collection::vec(0_u32..60, 40),
        ) {
            let Ok(book) = read("a_book.txt", parts.concat().as_bytes(), None) else { return Ok(()) };
            let params = Params { max_tokens: max, ..Params::default() };
            let planned = chunk(&book, &chapters(&book), &params).0;
            let asks: Vec<Option<FindBorder>> =
                planned.windows(2).map(|pair| FindBorder::new(&book, &pair[0], &pair[1])).collect();
            let mut chunks = planned.clone();
            for (at, ask) in asks.iter().enumerate() {
                let Some(ask) = ask else { continue };
                let opens_with = ask.first + picks[at % picks.len()] % (ask.last + 1 - ask.first);
                let answer =
                    FoundBorder { reason: String::new(), cuts: Cut::Storyline, opens_with, continues: false };
                let [before, after, ..] = &mut chunks[at..] else { unreachable!() };
                settle(before, after, ask, &answer, &params);
            }
            whole(&planned, &chunks, max);
        }
    }
}
