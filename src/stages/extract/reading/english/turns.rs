//! English turns: what the narration and the talk around each piece of speech say of its speaker.

use std::collections::BTreeMap;

use super::super::given::Given;
use super::super::people::{Draft, Found, SURE};
use super::super::quotations::Span;
use super::super::speakers::{Cue, Turn, Verdict, decide};
use super::super::tables::{DETERMINER, ROLE, TITLE_GIVEN};
use super::super::{Gender, Paragraph, flatten};
use super::names::{Names, shortens};
use super::tags::{Nominal, Tag, before, behind, nominal};
use super::tokens::{NONE, Tokens};

/// How much more a name in the narration before counts for a pronoun than for speech without a tag.
const PRONOUN: f32 = 1.6;

/// Narration of more words and marks than this between two turns parts conversations.
const APART: usize = 300;

/// A stretch of narration, as tokens.
type Stretch = (usize, usize);

/// The turns of a book, with what they are made of.
pub(super) struct Scene<'a> {
    chars: &'a [char],
    paragraphs: &'a [Paragraph],
    spans: &'a [Span],
    book: &'a Tokens,
    names: &'a Names,
    cast: Vec<Draft>,
    /// Phrases with a role noun, each with the person that it stands for where no named one fits.
    roles: BTreeMap<String, usize>,
    /// Phrases with a role noun that the book sets beside a name, each with that person.
    known: BTreeMap<String, usize>,
    /// The last name of each person that has one.
    surnames: BTreeMap<usize, u32>,
    pub(super) turns: Vec<Turn>,
    /// By turn: who is called by name in it, as (name, person).
    called: Vec<Vec<(usize, usize)>>,
    actions: Vec<Option<String>>,
}

impl<'a> Scene<'a> {
    /// Gathers the turns.
    pub(super) fn read(
        chars: &'a [char],
        paragraphs: &'a [Paragraph],
        spans: &'a [Span],
        book: &'a Tokens,
        names: &'a Names,
        cast: Vec<Draft>,
        given: &Given,
    ) -> Self {
        let mut scene = Self {
            chars,
            paragraphs,
            spans,
            book,
            names,
            cast,
            roles: BTreeMap::new(),
            known: BTreeMap::new(),
            surnames: BTreeMap::new(),
            turns: Vec::new(),
            called: Vec::new(),
            actions: vec![None; spans.len()],
        };
        scene.known = scene.appositions();
        scene.roles = given.roles(&mut scene.cast);
        scene.known.retain(|phrase, person| given.allows(phrase, &scene.cast[*person]));
        for (name, person) in names.list.iter().zip(&names.people) {
            let given = name.words.len() < 2
                && name.title.is_none_or(|title| book.words[title as usize].class & TITLE_GIVEN != 0);
            if let (Some(person), Some(&last), false) = (person, name.words.last(), given) {
                scene.surnames.entry(*person).or_insert(last);
            }
        }
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

    /// Returns what people are said to be: `Hale, the old clerk`; `Hale, who was a clerk`; `the clerk, Hale`.
    fn appositions(&self) -> BTreeMap<String, usize> {
        let mut votes: BTreeMap<String, BTreeMap<usize, u32>> = BTreeMap::new();
        let book = self.book;
        for mention in &self.names.mentions {
            let Some(person) = self.names.people[mention.name] else { continue };
            if mention.possessive || book.list[mention.first].quote != NONE {
                continue;
            }
            if let Some(title) = self.names.list[mention.name].title {
                let title = &book.words[title as usize];
                if title.class & ROLE != 0 {
                    *votes.entry(format!("the {}", title.text)).or_default().entry(person).or_default() += 1;
                }
            }
            let mut at = mention.end;
            let comma = book.list.get(at).is_some_and(|token| token.mark == ',');
            at += usize::from(comma);
            at += usize::from(book.text(at) == "who");
            let copula = matches!(book.text(at), "was" | "is");
            at += usize::from(copula);
            if !comma && !copula || book.class(at) & DETERMINER == 0 {
                continue;
            }
            if let Some((Nominal::Role(phrase, _, false), after)) = nominal(book, self.names, at, book.list.len()) {
                let ends =
                    book.list.get(after).is_none_or(|token| token.word == NONE || copula || book.text(after) == "who");
                if ends && book.list[after - 1].quote == NONE {
                    *votes.entry(phrase).or_default().entry(person).or_default() += 3;
                }
            }
        }
        votes
            .into_iter()
            .filter_map(|(phrase, people)| {
                let total: u32 = people.values().sum();
                let (person, count) =
                    people.into_iter().max_by_key(|&(person, count)| (count, std::cmp::Reverse(person)))?;
                (count > 1 && count * 4 > total * 3).then_some((phrase, person))
            })
            .collect()
    }

    /// Returns the stretches of narration before, between and behind the quotations `[first, end)` of a paragraph.
    fn stretches(&self, first: usize, end: usize) -> Vec<Stretch> {
        let paragraph = self.spans[first].paragraph;
        let (from, to) = (self.book.starts[paragraph], self.book.starts[paragraph + 1]);
        let mut stretches = Vec::with_capacity(end - first + 1);
        let mut at = from;
        for span in &self.spans[first..end] {
            let stop = at + self.book.list[at..to].partition_point(|token| token.start < span.outer_start);
            stretches.push((at, stop));
            at = stop + self.book.list[stop..to].partition_point(|token| token.start < span.outer_end);
        }
        stretches.push((at, to));
        stretches
    }

    /// Returns the narration at the end of the paragraph before one, unless a border stands there.
    fn tail(&self, paragraph: usize) -> Option<Stretch> {
        let before = paragraph.checked_sub(1)?;
        if self.paragraphs[before].border {
            return None;
        }
        let (from, to) = (self.book.starts[before], self.book.starts[before + 1]);
        let start = (from..to).rev().find(|&i| self.book.list[i].quote != NONE).map_or(from, |i| i + 1);
        (start < to).then_some((start, to))
    }

    fn paragraph(&mut self, first: usize, end: usize) {
        let paragraph = self.spans[first].paragraph;
        let stretches = self.stretches(first, end);
        let mut says: Vec<Option<Nominal>> = vec![None; end - first];
        let mut acts: Vec<Option<Nominal>> = vec![None; end - first];
        let mut used = false;
        for k in 0..end - first {
            let last = self.chars[self.spans[first + k].end - 1];
            let comma = last != '.';
            if !used {
                let (at, to) = stretches[k];
                let tag = if at == to && k == 0 {
                    self.tail(paragraph).and_then(|(at, to)| match before(self.book, self.names, at, to, false) {
                        Some(Tag::Acts(_)) | None => None,
                        says => says,
                    })
                } else {
                    before(self.book, self.names, at, to, true)
                };
                match tag {
                    Some(Tag::Says(who)) => says[k] = Some(who),
                    Some(Tag::Acts(who)) => acts[k] = Some(who),
                    None => {}
                }
            }
            let (at, to) = stretches[k + 1];
            used = false;
            match behind(self.book, self.names, at, to, comma) {
                Some(Tag::Says(who)) => {
                    // A sentence that leads to the next speech is left to it.
                    let leads = !comma && k + 2 < stretches.len() && self.book.list[to - 1].mark == ',';
                    if !leads || says[k].is_none() && k == 0 {
                        says[k] = Some(who);
                        used = true;
                    }
                }
                Some(Tag::Acts(who)) => {
                    acts[k].get_or_insert(who);
                }
                None => {}
            }
        }
        let mut start = 0;
        for k in 1..=end - first {
            let parts = k == end - first || self.apart(&says[start..k], says[k].as_ref());
            if parts {
                self.turn(first, start, k, &says, &acts, &stretches);
                start = k;
            }
        }
    }

    /// Whether a piece of speech is somebody else's than those before it in the paragraph.
    fn apart(&self, before: &[Option<Nominal>], now: Option<&Nominal>) -> bool {
        let Some(now) = now else { return false };
        let person = |who: &Nominal| match who {
            Nominal::Name(name) => self.names.people[*name],
            _ => None,
        };
        let gender = |who: &Nominal| match who {
            Nominal::Name(name) => {
                self.names.people[*name].map_or(Gender::Unknown, |person| self.cast[person].gender())
            }
            Nominal::Pronoun(gender) | Nominal::Role(_, gender, _) => *gender,
            Nominal::Narrator => Gender::Unknown,
        };
        before.iter().flatten().any(|before| {
            let named = matches!((person(before), person(now)), (Some(a), Some(b)) if a != b);
            let sexes = matches!(
                (gender(before), gender(now)),
                (Gender::Female, Gender::Male) | (Gender::Male, Gender::Female)
            );
            let told = (*before == Nominal::Narrator) != (*now == Nominal::Narrator);
            named || sexes || told
        })
    }

    /// Adds the turn of the quotations `first + start .. first + end`, or joins it to the one that it goes on with.
    fn turn(
        &mut self,
        first: usize,
        start: usize,
        end: usize,
        says: &[Option<Nominal>],
        acts: &[Option<Nominal>],
        stretches: &[Stretch],
    ) {
        let cue = self.cue(&says[start..end]);
        let span = self.spans[first + start];
        let paragraph = span.paragraph;
        let mut turn = Turn {
            first: first + start,
            end: first + end,
            cue,
            acts: Gender::Unknown,
            weights: Vec::new(),
            fresh: false,
            same: -2.5,
            alternate: 1.2,
        };
        for who in acts[start..end].iter().flatten() {
            match who {
                Nominal::Name(name) => {
                    if let Some(person) = self.names.people[*name] {
                        turn.weights.push((person, 3.0));
                    }
                }
                Nominal::Pronoun(gender) if turn.cue == Cue::None => turn.acts = *gender,
                Nominal::Role(phrase, gender, _) if turn.cue == Cue::None => {
                    turn.acts = *gender;
                    if let Some(&own) = self.roles.get(phrase) {
                        turn.weights.push((own, 1.5));
                    }
                }
                _ => {}
            }
        }
        self.action(first + start, first + end, stretches, (start, end));
        if let Cue::Role(_, person) = turn.cue
            && !self.cast[person].role
        {
            turn.weights.push((person, 2.5));
        }
        if let Cue::Role(_, person) = turn.cue
            && self.cast[person].sure
        {
            turn.weights.push((person, SURE));
        }
        for who in says[start..end].iter().flatten() {
            if let Nominal::Role(phrase, gender, true) = who {
                self.kin(&mut turn, phrase, *gender);
            }
        }
        let called = self.talk(&mut turn);
        if span.continues
            && start == 0
            && let Some(last) = self.turns.last_mut()
        {
            last.end = turn.end;
            last.weights.append(&mut turn.weights);
            if !matches!(last.cue, Cue::Named(_)) && turn.cue != Cue::None {
                last.cue = turn.cue;
            }
            if let Some(names) = self.called.last_mut() {
                names.extend(called);
            }
            return;
        }
        self.surroundings(&mut turn, paragraph, start, stretches);
        self.turns.push(turn);
        self.called.push(called);
    }

    /// Makes one cue of the tags of a turn.
    fn cue(&mut self, says: &[Option<Nominal>]) -> Cue {
        let mut cue = Cue::None;
        for who in says.iter().flatten() {
            let found = match who {
                Nominal::Name(name) => self.names.people[*name].map_or(Cue::None, Cue::Named),
                Nominal::Pronoun(gender) => Cue::Pronoun(*gender),
                Nominal::Narrator => Cue::Named(self.role("I", Gender::Unknown)),
                Nominal::Role(phrase, gender, _) => Cue::Role(*gender, self.role(phrase, *gender)),
            };
            let rank = |cue: &Cue| match cue {
                Cue::None => 0,
                Cue::Pronoun(Gender::Unknown) => 1,
                Cue::Pronoun(_) => 2,
                Cue::Role(..) => 3,
                Cue::Named(_) => 4,
            };
            if rank(&found) > rank(&cue) {
                cue = found;
            }
        }
        cue
    }

    /// Returns the person that a phrase stands for where no named one fits.
    fn role(&mut self, phrase: &str, gender: Gender) -> usize {
        if let Some(&person) = self.known.get(phrase) {
            self.cast[person].add(phrase, 1);
            return person;
        }
        let cast = &mut self.cast;
        let person = *self.roles.entry(phrase.to_owned()).or_insert_with(|| {
            let fixed = (gender != Gender::Unknown).then_some(gender);
            let name = (phrase == "I").then(|| "the narrator".to_owned());
            cast.push(Draft { role: true, fixed, name, ..Draft::default() });
            cast.len() - 1
        });
        self.cast[person].add(phrase, 1);
        person
    }

    /// Weighs who may be `her mother` or `his wife`: the nearest with the fitting title, above all one who shares a surname with
    /// somebody about.
    fn kin(&self, turn: &mut Turn, phrase: &str, gender: Gender) {
        if let Cue::Role(_, own) = turn.cue
            && self.cast[own].role
        {
            turn.weights.push((own, -1.5));
        }
        let word = phrase.rsplit(' ').next().unwrap_or_default();
        let elder = matches!(
            word,
            "mother"
                | "father"
                | "wife"
                | "husband"
                | "lady"
                | "aunt"
                | "uncle"
                | "mamma"
                | "mama"
                | "papa"
                | "ladyship"
                | "lordship"
        );
        let end = self.spans[turn.first].outer_start;
        let tokens = &self.book.list;
        let to = self.names.mentions.partition_point(|mention| tokens[mention.first].start < end);
        let recent = &self.names.mentions[to.saturating_sub(60)..to];
        let mut seen: Vec<usize> = Vec::new();
        for mention in recent.iter().rev() {
            let Some(person) = self.names.people[mention.name] else { continue };
            if seen.contains(&person) || self.cast[person].gender() != gender {
                continue;
            }
            seen.push(person);
            let titles: &[&str] = match (word, gender) {
                ("ladyship" | "lordship", _) => &["Lady ", "Lord "],
                (_, Gender::Female) => &["Mrs", "Lady "],
                _ => &["Mr.", "Mr ", "Sir ", "Lord "],
            };
            let fits = self.cast[person].forms.keys().any(|form| titles.iter().any(|title| form.starts_with(title)));
            if fits != elder {
                continue;
            }
            let family = elder
                && self.surname(person).is_some_and(|surname| {
                    recent.iter().any(|other| {
                        self.names.people[other.name]
                            .is_some_and(|other| other != person && self.surname(other) == Some(surname))
                    })
                });
            turn.weights.push((person, if family { 2.5 } else { 1.0 }));
            if seen.len() > 4 {
                break;
            }
        }
    }

    /// Returns the last name of a person, where a form of the name shows it.
    fn surname(&self, person: usize) -> Option<u32> {
        self.surnames.get(&person).copied()
    }

    /// Weighs the names within the speech; returns who is called by name.
    fn talk(&self, turn: &mut Turn) -> Vec<(usize, usize)> {
        let mut called = Vec::new();
        for quote in turn.first..turn.end {
            let span = self.spans[quote];
            for mention in self.mentions(span.start, span.end) {
                let Some(person) = self.names.people[mention.name] else { continue };
                if mention.vocative {
                    called.push((mention.name, person));
                    turn.weights.push((person, -5.0));
                } else {
                    turn.weights.push((person, -1.2));
                }
            }
        }
        called
    }

    /// Returns the mentions that begin between two offsets.
    fn mentions(&self, start: usize, end: usize) -> &'a [super::names::Mention] {
        let tokens = &self.book.list;
        let mentions = &self.names.mentions;
        let from = mentions.partition_point(|mention| tokens[mention.first].start < start);
        let to = from + mentions[from..].partition_point(|mention| tokens[mention.first].start < end);
        &mentions[from..to]
    }

    /// Weighs what stands before a turn: the turn before, the narration since, a border.
    fn surroundings(&self, turn: &mut Turn, paragraph: usize, start: usize, stretches: &[Stretch]) {
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
            turn.alternate = 0.5;
        } else {
            let border = self.paragraphs[last_span.paragraph..paragraph].iter().any(|paragraph| paragraph.border);
            let narration = self.book.starts[paragraph] - self.book.starts[last_span.paragraph + 1];
            turn.fresh = border || narration > APART || between > 6;
            if between > 1 {
                turn.same = -1.0;
                turn.alternate = 0.5;
            } else if start == 0 && stretches[0].1 > stretches[0].0 {
                turn.same = -1.5;
            }
            if turn.fresh {
                turn.same = -0.3;
                turn.alternate = 0.0;
                self.about(turn, paragraph, from);
                return;
            }
        }
        // Who was called is likely to answer.
        if let Some(called) = self.called.last() {
            for &(_, person) in called.iter().take(3) {
                turn.weights.push((person, 1.6));
            }
        }
        let share = if matches!(turn.cue, Cue::Pronoun(_)) { PRONOUN } else { 1.0 };
        self.narrated(turn, last_span.outer_end, from, share);
    }

    /// Weighs who is named in the paragraphs before a conversation's beginning.
    fn about(&self, turn: &mut Turn, paragraph: usize, from: usize) {
        let mut since = paragraph;
        while since > 0 && paragraph - since < 6 && !self.paragraphs[since - 1].border {
            since -= 1;
        }
        let share = if matches!(turn.cue, Cue::Pronoun(_)) { PRONOUN } else { 0.8 };
        self.narrated(turn, self.paragraphs[since].start as usize, from, share);
    }

    /// Weighs who is named in narration between two offsets: the nearer, the more; who acts, the more.
    fn narrated(&self, turn: &mut Turn, start: usize, end: usize, share: f32) {
        let mut weights: BTreeMap<usize, f32> = BTreeMap::new();
        let mentions = self.mentions(start, end);
        for (age, mention) in mentions.iter().rev().enumerate().take(24) {
            let token = self.book.list[mention.first];
            let Some(person) = self.names.people[mention.name] else { continue };
            #[expect(clippy::cast_precision_loss, reason = "at most 24")]
            let fade = 1.0 / (1.0 + age as f32 * 0.25);
            let acting = token.initial || mention.first > 0 && self.book.list[mention.first - 1].mark == ',';
            let weight = match (token.quote == NONE, mention.possessive) {
                (false, _) => 0.2,
                (true, true) => 0.3,
                (true, false) if acting => 1.1,
                (true, false) => 0.6,
            };
            let entry = weights.entry(person).or_default();
            *entry = entry.max(weight * fade * share);
        }
        turn.weights.extend(weights);
    }

    /// Keeps what the speaker does beside the speech, where a sentence of narration stands alone in the paragraph.
    fn action(&mut self, first: usize, end: usize, stretches: &[Stretch], pieces: (usize, usize)) {
        for k in pieces.0..pieces.1 {
            let (at, to) = stretches[k + 1];
            if to <= at + 1 || to - at > 30 || self.book.list[to - 1].mark != '.' {
                continue;
            }
            let whole = self.chars[self.spans[first + k - pieces.0].end - 1] != ',';
            let opens = self.book.list[at].capital;
            let speech = matches!(behind(self.book, self.names, at, to, false), Some(Tag::Says(_)));
            if whole && opens && !speech && first + k - pieces.0 < end {
                let (from, until) = (self.book.list[at].start, self.book.list[to - 1].end);
                self.actions[first + k - pieces.0] = Some(flatten(&self.chars[from..until]));
            }
        }
    }

    /// Returns pairs of names that the talk shows to be one person's: who is called by the one answers by the other.
    pub(super) fn links(&self, verdicts: &[Verdict]) -> Vec<(usize, usize)> {
        let mut votes: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (i, called) in self.called.iter().enumerate() {
            let Some(next) = self.turns.get(i + 1).filter(|next| !next.fresh) else { continue };
            let Cue::Named(answers) = next.cue else { continue };
            if verdicts[i].speaker == Some(answers) {
                continue;
            }
            for &(name, person) in called {
                if person != answers {
                    *votes.entry(name).or_default().entry(answers).or_default() += 1;
                }
            }
        }
        let mut links = Vec::new();
        let genders = self.genders();
        for (name, answers) in votes {
            let total: u32 = answers.values().sum();
            let Some((&person, &count)) =
                answers.iter().max_by_key(|&(person, count)| (*count, std::cmp::Reverse(*person)))
            else {
                continue;
            };
            if self.cast[person].role || count * 2 <= total {
                continue;
            }
            let Some(own) = self.names.people[name] else { continue };
            let apart = matches!(
                (genders[own], genders[person]),
                (Gender::Female, Gender::Male) | (Gender::Male, Gender::Female)
            );
            // Whoever speaks under the name is somebody else, unless a word of the names says that they belong together.
            let spoken: u32 = self.turns.iter().map(|turn| u32::from(turn.cue == Cue::Named(own))).sum();
            let kindred = self.kindred(name, person);
            let family = self.names.list[name].title.is_some_and(|title| {
                self.book.words[title as usize].class & TITLE_GIVEN == 0 || self.wed(own) == Some(false)
            });
            if self.wed(own) != self.wed(person) && self.wed(own).is_some() && self.wed(person).is_some() {
                continue;
            }
            if !apart
                && (kindred && spoken <= count && (!family || spoken == 0)
                    || spoken == 0 && count > 2 && count * 4 > total * 3)
            {
                let other = (0..self.names.list.len())
                    .filter(|&other| self.names.people[other] == Some(person))
                    .max_by_key(|&other| (self.names.list[other].count, std::cmp::Reverse(other)));
                links.extend(other.map(|other| (name, other)));
            }
        }
        links
    }

    /// Whether somebody is a Mrs. or a Miss, where the book says so.
    fn wed(&self, person: usize) -> Option<bool> {
        let has = |title: &str| self.cast[person].forms.keys().any(|form| form.starts_with(title));
        match (has("Mrs"), has("Miss ")) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Whether a name shares a word, or the beginning of one, with a form of a person's.
    fn kindred(&self, name: usize, person: usize) -> bool {
        let own = &self.names.list[name].words;
        self.names.list.iter().zip(&self.names.people).filter(|(_, of)| **of == Some(person)).any(|(other, _)| {
            other.words.iter().any(|word| {
                own.iter().any(|mine| {
                    word == mine
                        || shortens(&self.book.words[*mine as usize].text, &self.book.words[*word as usize].text)
                })
            })
        })
    }

    /// Returns who stands behind the phrases that mostly mean one person.
    fn learn(&self, verdicts: &[Verdict]) -> BTreeMap<usize, usize> {
        let mut votes: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (turn, verdict) in self.turns.iter().zip(verdicts) {
            if let (Cue::Role(_, own), Some(speaker)) = (turn.cue, verdict.speaker)
                && self.cast[own].given.is_none()
            {
                *votes.entry(own).or_default().entry(speaker).or_default() += 1;
            }
        }
        let mut learnt = BTreeMap::new();
        for (own, speakers) in votes {
            // `his wife` is as many people as there are husbands.
            let definite = self.cast[own].forms.keys().any(|form| form.starts_with("the "));
            let total: u32 = speakers.values().sum();
            let best = speakers
                .iter()
                .filter(|&(&person, _)| person != own)
                .max_by_key(|&(person, count)| (*count, std::cmp::Reverse(*person)));
            if let Some((&person, &count)) = best
                && definite
                && count > 2
                && count * 3 > total * 2
                && !self.cast[person].role
            {
                learnt.insert(own, person);
            }
        }
        learnt
    }

    /// Returns everybody and whose each quotation is.
    pub(super) fn finish(mut self, mut verdicts: Vec<Verdict>) -> (Vec<Draft>, Vec<Found>) {
        let learnt = self.learn(&verdicts);
        if !learnt.is_empty() {
            for turn in &mut self.turns {
                if let Cue::Role(_, own) = turn.cue
                    && let Some(&person) = learnt.get(&own)
                {
                    turn.weights.push((person, 2.5));
                }
            }
            for (&own, &person) in &learnt {
                for (form, count) in std::mem::take(&mut self.cast[own].forms) {
                    self.cast[own].add(&form, 1);
                    self.cast[person].add(&form, count);
                }
            }
            verdicts = decide(&self.turns, &self.genders());
        }
        let mut found = vec![Found::default(); self.spans.len()];
        for (turn, verdict) in self.turns.iter().zip(verdicts) {
            for (quote, found) in found.iter_mut().enumerate().take(turn.end).skip(turn.first) {
                *found = Found {
                    speaker: verdict.speaker,
                    kind: verdict.kind,
                    confidence: verdict.confidence,
                    action: self.actions[quote].take().filter(|_| verdict.speaker.is_some()),
                };
            }
        }
        (self.cast, found)
    }
}
