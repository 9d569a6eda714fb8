//! Chinese turns: what the narration and the talk around each piece of speech say of its speaker.

use std::collections::BTreeMap;

use super::super::given::Given;
use super::super::people::{Draft, Found, SURE};
use super::super::quotations::Span;
use super::super::speakers::{Cue, Turn, Verdict};
use super::super::tables::CHINESE;
use super::super::{Gender, Paragraph, flatten};
use super::names::{Mention, Names, role, sentence_end};
use super::tags::{Nominal, Tag, before, behind};

/// How much more a name in the narration before counts for a pronoun than for speech without a tag.
const PRONOUN: f32 = 1.6;

/// Narration of more characters than this between two turns parts conversations.
const APART: usize = 500;

/// The turns of a book, with what they are made of.
pub(super) struct Scene<'a> {
    text: &'a [char],
    chars: &'a [char],
    paragraphs: &'a [Paragraph],
    spans: &'a [Span],
    names: &'a Names,
    cast: Vec<Draft>,
    /// Whether the book tells she from he, so that 他 is a man.
    modern: bool,
    roles: BTreeMap<String, usize>,
    /// Nouns for people that the book sets right before a name, each with that person.
    known: BTreeMap<Vec<char>, usize>,
    pub(super) turns: Vec<Turn>,
    /// By turn: who is called or named at the head of its speech.
    called: Vec<Vec<usize>>,
}

impl<'a> Scene<'a> {
    /// Gathers the turns.
    pub(super) fn read(
        text: &'a [char],
        chars: &'a [char],
        paragraphs: &'a [Paragraph],
        spans: &'a [Span],
        names: &'a Names,
        mut cast: Vec<Draft>,
        given: &Given,
    ) -> Self {
        let modern = text.iter().filter(|&&c| c == '她').count() > 4;
        let mut known = appositions(text, names);
        let roles = given.roles(&mut cast);
        known.retain(|phrase, person| given.allows(&phrase.iter().collect::<String>(), &cast[*person]));
        let (turns, called) = (Vec::new(), Vec::new());
        let mut scene = Self { text, chars, paragraphs, spans, names, cast, modern, roles, known, turns, called };
        let mut first = 0;
        while first < spans.len() {
            let paragraph = spans[first].paragraph;
            let mut end = first + 1;
            while end < spans.len() && spans[end].paragraph == paragraph {
                end += 1;
            }
            scene.paragraph(first, end);
            first = end;
        }
        scene
    }

    /// Returns the gender of everybody.
    pub(super) fn genders(&self) -> Vec<Gender> {
        self.cast.iter().map(Draft::gender).collect()
    }

    fn paragraph(&mut self, first: usize, end: usize) {
        let paragraph = &self.paragraphs[self.spans[first].paragraph];
        let (start, stop) = (paragraph.start as usize, paragraph.end as usize);
        let mut used = false;
        let mut at = start;
        for quote in first..end {
            let span = self.spans[quote];
            let next = if quote + 1 < end { self.spans[quote + 1].outer_start } else { stop };
            let narration = (at, span.outer_start);
            let blank = self.text[narration.0..narration.1].iter().all(|c| c.is_whitespace());
            let tag = if blank && quote == first {
                self.tail(span.paragraph).and_then(|(from, to)| before(self.text, self.names, from, to, true))
            } else if used {
                None
            } else {
                before(self.text, self.names, narration.0, narration.1, false)
            };
            let led = matches!(tag, Some(Tag::Says(_) | Tag::Goes(_)));
            // Behind speech that was led in, narration belongs to what comes next.
            let after = if led { None } else { behind(self.text, self.names, span.outer_end, next) };
            let hands_on = quote + 1 < end
                && matches!(self.text[..next].iter().rev().find(|c| !c.is_whitespace()), Some('：' | ':'));
            let short = !self.text[span.outer_end..next].iter().any(|&c| sentence_end(c));
            let after = after.filter(|after| !(hands_on && matches!(after, Tag::Says(_)) && quote > first && !short));
            let joined = quote > first && (used || !led && !blank) || span.continues;
            used = matches!(after, Some(Tag::Says(_)));
            self.quotation(quote, joined, blank && quote > first, tag, after, narration);
            at = span.outer_end;
        }
    }

    /// Returns the narration at the end of the paragraph before one, unless a border stands there.
    fn tail(&self, paragraph: usize) -> Option<(usize, usize)> {
        let before = &self.paragraphs[paragraph.checked_sub(1)?];
        if before.border {
            return None;
        }
        let end = before.end as usize;
        let spoken = self.spans.partition_point(|span| span.paragraph < paragraph);
        let start = spoken
            .checked_sub(1)
            .map(|at| self.spans[at])
            .filter(|span| span.paragraph + 1 == paragraph)
            .map_or(before.start as usize, |span| span.outer_end);
        (start < end).then_some((start, end))
    }

    fn quotation(
        &mut self,
        quote: usize,
        joined: bool,
        bare: bool,
        lead: Option<Tag>,
        after: Option<Tag>,
        narration: (usize, usize),
    ) {
        let span = self.spans[quote];
        let mut turn = Turn {
            first: quote,
            end: quote + 1,
            cue: Cue::None,
            acts: Gender::Unknown,
            weights: Vec::new(),
            fresh: false,
            same: -2.0,
            alternate: 1.2,
        };
        let mut goes = false;
        for tag in [lead, after].into_iter().flatten() {
            match tag {
                Tag::Says(who) => {
                    if turn.cue == Cue::None || matches!(turn.cue, Cue::Pronoun(_)) {
                        turn.cue = self.cue(&who, &mut turn.weights);
                        if let Cue::Role(_, person) = turn.cue
                            && self.cast[person].sure
                        {
                            turn.weights.push((person, SURE));
                        }
                    }
                }
                Tag::Goes(who) => {
                    goes = true;
                    turn.cue = Cue::Pronoun(Gender::Unknown);
                    if let Some(Nominal::Name(name, _)) = who {
                        turn.weights.push((self.names.people[name], 1.5));
                    }
                }
                Tag::Acts(Nominal::Name(name, _)) => turn.weights.push((self.names.people[name], 2.0)),
                Tag::Acts(Nominal::Pronoun(gender)) if self.modern && turn.cue == Cue::None => turn.acts = gender,
                Tag::Acts(Nominal::Role(phrase, _, gender)) if turn.cue == Cue::None => {
                    turn.acts = gender;
                    if let Some(&person) = self.known.get(&phrase) {
                        turn.weights.push((person, 1.5));
                    }
                }
                Tag::Acts(_) => {}
            }
        }
        let called = self.talk(&mut turn);
        let conflict = matches!((self.turns.last().map(|turn| turn.cue), turn.cue), (Some(Cue::Named(a)), Cue::Named(b)) if a != b);
        if joined
            && !conflict
            && !goes
            && let Some(last) = self.turns.last_mut()
        {
            last.end = turn.end;
            last.weights.append(&mut turn.weights);
            if matches!(last.cue, Cue::None | Cue::Pronoun(_)) && turn.cue != Cue::None {
                last.cue = turn.cue;
            }
            if let Some(list) = self.called.last_mut() {
                list.extend(called);
            }
            return;
        }
        self.surroundings(&mut turn, span.paragraph, narration);
        if goes {
            // A verb of speech without a subject: whoever spoke goes on, unless narration has brought in somebody else.
            let length = narration.1 - narration.0;
            turn.same = if self.turns.last().is_some_and(|last| self.spans[last.end - 1].paragraph == span.paragraph) {
                if length < 12 { 3.0 } else { 1.0 }
            } else {
                0.0
            };
            turn.alternate = 0.0;
        } else if bare {
            turn.same = -1.5;
        }
        self.turns.push(turn);
        self.called.push(called);
    }

    fn cue(&mut self, who: &Nominal, weights: &mut Vec<(usize, f32)>) -> Cue {
        match who {
            Nominal::Name(name, at) => {
                let person = self.names.people[*name];
                // `那僧` is a form of `僧`.
                if self.cast[person].role
                    && let Some(c @ ('那' | '这')) = at.checked_sub(1).map(|i| self.text[i])
                {
                    let form: String = std::iter::once(c).chain(self.names.list[*name].printed.chars()).collect();
                    self.cast[person].add(&form, 1);
                }
                let form = &self.names.list[*name].form;
                if let Some(&other) = self.known.get(form).filter(|&&other| other != person) {
                    weights.push((other, 2.5));
                    let printed = self.names.list[*name].printed.clone();
                    self.cast[other].add(&printed, 1);
                    return Cue::Role(self.cast[other].gender(), other);
                }
                Cue::Named(person)
            }
            Nominal::Pronoun(gender) => Cue::Pronoun(if self.modern { *gender } else { Gender::Unknown }),
            Nominal::Narrator => {
                let person = self.role("我", Gender::Unknown);
                self.cast[person].name = Some("叙述者".to_owned());
                Cue::Named(person)
            }
            Nominal::Role(phrase, at, gender) => {
                if let Some(&person) = self.known.get(phrase) {
                    weights.push((person, 2.5));
                    let printed: String = self.chars[*at..*at + phrase.len()].iter().collect();
                    self.cast[person].add(&printed, 1);
                    return Cue::Role(*gender, person);
                }
                let printed: String = self.chars[*at..*at + phrase.len()].iter().collect();
                let person = self.role(&printed, *gender);
                // A noun for anybody may mean somebody named; any other names its own bearer.
                let generic = *gender != Gender::Unknown || CHINESE.generic_either.has(phrase);
                let new = at.checked_sub(1).is_some_and(|i| matches!(self.text[i], '个' | '位' | '名' | '一'));
                let shown = at.checked_sub(1).is_some_and(|i| matches!(self.text[i], '那' | '这' | '老'));
                let own = if !generic || new {
                    4.0
                } else if shown || self.modern {
                    0.0
                } else {
                    1.5
                };
                weights.push((person, own));
                Cue::Role(*gender, person)
            }
        }
    }

    /// Returns the person that a noun stands for where no named one fits; `那僧` and `僧` are the same.
    fn role(&mut self, phrase: &str, gender: Gender) -> usize {
        let cast = &mut self.cast;
        let person = *self.roles.entry(phrase.to_owned()).or_insert_with(|| {
            let fixed = (gender != Gender::Unknown).then_some(gender);
            cast.push(Draft { role: true, fixed, ..Draft::default() });
            cast.len() - 1
        });
        self.cast[person].add(phrase, 1);
        person
    }

    /// Returns the mentions that begin between two offsets.
    fn mentions(&self, start: usize, end: usize) -> &'a [Mention] {
        let mentions = &self.names.mentions;
        let from = mentions.partition_point(|mention| mention.start < start);
        let to = from + mentions[from..].partition_point(|mention| mention.start < end);
        &mentions[from..to]
    }

    /// Weighs the names within the speech; returns who is called by name.
    fn talk(&self, turn: &mut Turn) -> Vec<usize> {
        let mut called = Vec::new();
        for quote in turn.first..turn.end {
            let span = self.spans[quote];
            for mention in self.mentions(span.start, span.end) {
                let person = self.names.people[mention.name];
                let opens = mention.start == span.start
                    || sentence_end(self.text[mention.start - 1])
                    || self.text[mention.start - 1] == '，';
                let closes = self
                    .text
                    .get(mention.end)
                    .is_none_or(|&c| matches!(c, '，' | '！' | '。' | '？' | '—' | '…' | ',' | '!' | '．'));
                // `我周进`: the speaker names himself.
                let own = mention.start > span.start && self.text[mention.start - 1] == '我';
                if own {
                    turn.weights.push((person, 2.0));
                } else if opens && closes && mention.end < span.end {
                    called.push(person);
                    turn.weights.push((person, -4.0));
                } else {
                    turn.weights.push((person, -1.0));
                }
            }
        }
        called
    }

    /// Weighs what stands before a turn: the turn before, the narration since, a border.
    fn surroundings(&self, turn: &mut Turn, paragraph: usize, narration: (usize, usize)) {
        let from = self.spans[turn.first].outer_start;
        let Some(last) = self.turns.last() else {
            turn.fresh = true;
            self.about(turn, paragraph, from);
            return;
        };
        let last_span = self.spans[last.end - 1];
        let between = paragraph - last_span.paragraph;
        if between == 0 {
            turn.same = -0.5;
            turn.alternate = 0.6;
        } else {
            let border = self.paragraphs[last_span.paragraph..paragraph].iter().any(|paragraph| paragraph.border);
            let told: usize = self.paragraphs[last_span.paragraph + 1..paragraph]
                .iter()
                .map(|paragraph| (paragraph.end - paragraph.start) as usize)
                .sum();
            turn.fresh = border || told > APART || between > 6;
            if between > 1 || narration.1 > narration.0 + 4 {
                turn.same = -0.8;
                turn.alternate = 0.5;
            }
            if turn.fresh {
                turn.same = -0.3;
                turn.alternate = 0.0;
                self.about(turn, paragraph, from);
                return;
            }
        }
        if let Some(called) = self.called.last() {
            for &person in called.iter().take(3) {
                turn.weights.push((person, 1.6));
            }
        }
        let share = if matches!(turn.cue, Cue::Pronoun(_) | Cue::Role(..)) { PRONOUN } else { 1.0 };
        self.narrated(turn, last_span.outer_end, from, share);
    }

    /// Weighs who is named in the paragraphs before a conversation's beginning.
    fn about(&self, turn: &mut Turn, paragraph: usize, from: usize) {
        let mut since = paragraph;
        while since > 0 && paragraph - since < 6 && !self.paragraphs[since - 1].border {
            since -= 1;
        }
        let share = if matches!(turn.cue, Cue::Pronoun(_) | Cue::Role(..)) { PRONOUN } else { 0.8 };
        self.narrated(turn, self.paragraphs[since].start as usize, from, share);
    }

    /// Weighs who is named between two offsets: the nearer, the more; who acts, the more.
    fn narrated(&self, turn: &mut Turn, start: usize, end: usize, share: f32) {
        let mut weights: BTreeMap<usize, f32> = BTreeMap::new();
        let mut quote = self.spans.partition_point(|span| span.outer_end <= start);
        let mentions = self.mentions(start, end);
        let recent = &mentions[mentions.len().saturating_sub(24)..];
        for (place, mention) in recent.iter().enumerate() {
            while quote < self.spans.len() && self.spans[quote].outer_end <= mention.start {
                quote += 1;
            }
            let spoken = self.spans.get(quote).is_some_and(|span| span.outer_start <= mention.start);
            let acting =
                mention.start > 0 && super::names::clause_end(self.text[mention.start - 1]) || mention.start == start;
            #[expect(clippy::cast_precision_loss, reason = "at most 24")]
            let fade = 1.0 / (1.0 + (recent.len() - 1 - place) as f32 * 0.25);
            let weight = if spoken {
                0.2
            } else if acting {
                1.1
            } else {
                0.6
            };
            let entry = weights.entry(self.names.people[mention.name]).or_default();
            *entry = entry.max(weight * fade * share);
        }
        turn.weights.extend(weights);
    }

    /// Returns everybody and whose each quotation is.
    pub(super) fn finish(self, verdicts: Vec<Verdict>) -> (Vec<Draft>, Vec<Found>) {
        let mut found = vec![Found::default(); self.spans.len()];
        for (turn, verdict) in self.turns.iter().zip(verdicts) {
            for (quote, found) in found.iter_mut().enumerate().take(turn.end).skip(turn.first) {
                *found = Found {
                    speaker: verdict.speaker,
                    kind: verdict.kind,
                    confidence: verdict.confidence,
                    action: verdict.speaker.and_then(|_| self.action(quote)),
                };
            }
        }
        (self.cast, found)
    }

    /// Returns what the speaker does behind a piece of speech, where a sentence of narration without a verb of speech stands alone.
    fn action(&self, quote: usize) -> Option<String> {
        let span = self.spans[quote];
        let end = self
            .spans
            .get(quote + 1)
            .filter(|next| next.paragraph == span.paragraph)
            .map_or(self.paragraphs[span.paragraph].end as usize, |next| next.outer_start);
        let narration = &self.text[span.outer_end..end];
        let stop = narration.iter().position(|&c| sentence_end(c))?;
        let short = (2..60).contains(&stop) && narration[stop + 1..].iter().all(|c| c.is_whitespace());
        let spoken = matches!(self.text[span.end - 1], '。' | '！' | '？' | '…' | '．' | '!' | '?');
        let silent =
            !narration[..stop].split(|&c| super::names::clause_end(c)).any(|clause| CHINESE.ends_in_speech(clause));
        (short && spoken && silent).then(|| flatten(&self.chars[span.outer_end..=span.outer_end + stop]))
    }
}

/// Returns the noun that a name is given to: `那女子叫X`, `一个老汉……便是X`.
fn introduced(text: &[char], at: usize) -> Option<Vec<char>> {
    let start = (at.saturating_sub(40)..at).rev().find(|&i| sentence_end(text[i]))? + 1;
    let before = &text[start..at];
    let clause = before.iter().rposition(|&c| super::names::clause_end(c)).map_or(0, |i| i + 1);
    let named =
        ["名叫", "名唤", "叫做", "唤作", "叫"].iter().any(|verb| before.ends_with(&verb.chars().collect::<Vec<_>>()));
    let equals = ["便是", "正是", "乃是", "就是", "是"]
        .iter()
        .any(|verb| before[clause..].starts_with(&verb.chars().collect::<Vec<_>>()));
    let apposed = equals && clause > 0;
    if !named && !apposed {
        return None;
    }
    let scope = if named { before.len() } else { clause };
    for i in (0..scope).rev() {
        for length in (2..=4.min(scope - i)).rev() {
            if role(&before[i..i + length]) {
                return Some(before[i..i + length].to_vec());
            }
        }
    }
    None
}

/// Returns the nouns that stand right before a name, as in `弓兵X`, where they mostly mean that person.
fn appositions(text: &[char], names: &Names) -> BTreeMap<Vec<char>, usize> {
    let mut votes: BTreeMap<Vec<char>, BTreeMap<usize, u32>> = BTreeMap::new();
    let mut last: Option<&Mention> = None;
    for mention in &names.mentions {
        let form = &names.list[mention.name].form;
        let person = names.people[mention.name];
        if let Some(other) = last.filter(|other| other.end == mention.start) {
            let noun = &names.list[other.name].form;
            if CHINESE.surnames.head(noun) == 0 && CHINESE.surnames.head(form) > 0 && names.people[other.name] != person
            {
                *votes.entry(noun.clone()).or_default().entry(person).or_default() += 1;
            }
        }
        last = Some(mention);
        if role(form) {
            continue;
        }
        if let Some(noun) = introduced(text, mention.start) {
            *votes.entry(noun).or_default().entry(person).or_default() += 2;
        }
        let before = &text[mention.start.saturating_sub(4)..mention.start];
        let length =
            CHINESE.roles.tail(before).max(CHINESE.generic_female.tail(before)).max(CHINESE.generic_male.tail(before));
        if length > 1 && before.len() >= length {
            let noun = before[before.len() - length..].to_vec();
            *votes.entry(noun).or_default().entry(names.people[mention.name]).or_default() += 1;
        }
    }
    votes
        .into_iter()
        .filter_map(|(noun, people)| {
            let total: u32 = people.values().sum();
            let (person, count) =
                people.into_iter().max_by_key(|&(person, count)| (count, std::cmp::Reverse(person)))?;
            (count * 4 > total * 3).then_some((noun, person))
        })
        .collect()
}
