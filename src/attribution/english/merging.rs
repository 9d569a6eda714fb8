//! Merges English names that belong to one person: on evidence, never by a surname alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::groups::Groups;
use super::names::{Mention, Name, title_gender};
use super::tokens::{NONE, Tokens};
use crate::attribution::Gender;
use crate::attribution::tables::{ENGLISH, PARTICLE, TITLE_GIVEN};

/// Professional titles whose bearers are also called Mr.
const PROFESSIONS: [&str; 17] = [
    "doctor",
    "captain",
    "colonel",
    "major",
    "general",
    "lieutenant",
    "sergeant",
    "inspector",
    "detective",
    "professor",
    "reverend",
    "judge",
    "squire",
    "admiral",
    "commander",
    "constable",
    "superintendent",
];

/// Returns the canonical form of a title: abbreviations in full, foreign titles in English.
pub(super) fn canonical(title: &str) -> &str {
    match title {
        "dr" => "doctor",
        "capt" | "cap'n" => "captain",
        "prof" => "professor",
        "col" => "colonel",
        "gen" => "general",
        "lt" => "lieutenant",
        "sgt" => "sergeant",
        "maj" => "major",
        "adm" => "admiral",
        "cmdr" => "commander",
        "rev" => "reverend",
        "st" => "saint",
        // With the same surname, these denote the same person in different languages.
        "mister" | "herr" | "monsieur" | "signor" | "senor" => "mr",
        "missis" | "missus" | "mme" | "madame" | "frau" | "signora" | "senora" => "mrs",
        "mlle" | "mademoiselle" | "fraulein" | "signorina" => "miss",
        "auntie" => "aunt",
        other => other,
    }
}

/// State of the merge.
pub(super) struct Merger<'a> {
    book: &'a Tokens,
    names: &'a [Name],
    mentions: &'a [Mention],
    /// By name: whether the book shows that it is a person's.
    person: &'a [bool],
    groups: Groups,
    /// Pairs of names that occur in one sentence of narration, and so belong to different people.
    companions: HashSet<(usize, usize)>,
    /// Names of two or more words, by last word.
    by_last: HashMap<u32, Vec<usize>>,
    /// Number of mentions of each last word, in names that also have a title or a first name.
    heard: HashMap<u32, u32>,
    /// By name: whether it is a first name that was merged with a full name.
    given: Vec<bool>,
}

impl<'a> Merger<'a> {
    /// Merges the names. Also returns the names that several people share, each with their groups.
    pub(super) fn merge(
        book: &'a Tokens,
        names: &'a [Name],
        mentions: &'a [Mention],
        person: &'a [bool],
    ) -> (Groups, Vec<(usize, Vec<usize>)>) {
        let signs = names.iter().map(|name| title_bits(book, name)).collect();
        let counts = names.iter().map(|name| (name.female, name.male)).collect();
        let mut merger = Self {
            book,
            names,
            mentions,
            person,
            groups: Groups::new(signs, counts),
            companions: names_in_one_sentence(book, mentions),
            by_last: HashMap::new(),
            heard: HashMap::new(),
            given: vec![false; names.len()],
        };
        for name in names {
            let Some(&last) = name.words.last().filter(|_| name.words.len() > 1 || name.title.is_some()) else {
                continue;
            };
            *merger.heard.entry(last).or_default() += name.count;
        }
        let mut fulls: Vec<usize> = (0..names.len()).filter(|&i| names[i].words.len() > 1).collect();
        fulls.sort_by_key(|&i| (std::cmp::Reverse(names[i].count), i));
        merger.merge_full_names(&fulls);
        merger.merge_initials(&fulls);
        merger.merge_first_names(&fulls);
        merger.merge_surnames();
        let shared = merger.merge_daughters();
        merger.merge_short_forms();
        merger.merge_spoken_short_forms();
        (merger.groups, shared)
    }

    fn text(&self, word: u32) -> &'a str {
        &self.book.words[word as usize].text
    }

    fn title(&self, name: usize) -> &'a str {
        self.names[name].title.map_or("", |title| canonical(self.text(title)))
    }

    /// Whether a name has no title, or one that a first name may follow.
    fn may_take_first_name(&self, name: usize) -> bool {
        self.names[name].title.is_none_or(|title| self.book.words[title as usize].class & TITLE_GIVEN != 0)
    }

    fn occur_together(&self, a: usize, b: usize) -> bool {
        self.companions.contains(&(a.min(b), a.max(b)))
    }

    /// Merges full names with the same words, with a first name and its short form, or where one contains the other.
    fn merge_full_names(&mut self, fulls: &[usize]) {
        let mut by_words: HashMap<&[u32], Vec<usize>> = HashMap::new();
        let letter = |book: &Tokens, word: u32| book.words[word as usize].text.chars().count() == 1;
        for &i in fulls {
            let words = self.names[i].words.as_slice();
            if letter(self.book, words[0]) {
                continue;
            }
            let same = by_words.entry(words).or_default();
            let twin = same.iter().copied().find(|&other| self.groups.agree(i, other));
            same.push(i);
            if let Some(twin) = twin {
                self.groups.join(twin, i);
                continue;
            }
            self.by_last.entry(words[words.len() - 1]).or_default().push(i);
        }
        let mut lasts: Vec<(&u32, &Vec<usize>)> = self.by_last.iter().collect();
        lasts.sort();
        let mut pairs = Vec::new();
        for (_, bearers) in lasts {
            for (k, &a) in bearers.iter().enumerate().take(20) {
                for &b in bearers.iter().skip(k + 1).take(20) {
                    let (first, second) = (self.text(self.names[a].words[0]), self.text(self.names[b].words[0]));
                    if ENGLISH.shortens(first, second) || ENGLISH.shortens(second, first) {
                        pairs.push((a, b));
                    }
                }
            }
        }
        for &i in fulls.iter().filter(|&&i| self.names[i].words.len() > 2) {
            for piece in self.names[i].words.windows(2) {
                let particle = self.book.words[piece[0] as usize].class & PARTICLE != 0;
                if let Some(other) = by_words.get(piece).filter(|_| !particle).and_then(|same| same.first()) {
                    pairs.push((*other, i));
                }
            }
        }
        for (a, b) in pairs {
            if self.groups.agree(a, b) && !self.occur_together(a, b) {
                self.groups.join(a, b);
            }
        }
    }

    /// Merges `H. Hale` with the only Hale whose first name has that initial.
    fn merge_initials(&mut self, fulls: &[usize]) {
        for &i in fulls {
            let words = &self.names[i].words;
            let initial = self.text(words[0]);
            if initial.chars().count() != 1 {
                continue;
            }
            let bearers = self.by_last.get(&words[words.len() - 1]).map_or(&[][..], Vec::as_slice);
            let fit: Vec<usize> = bearers
                .iter()
                .copied()
                .filter(|&other| self.text(self.names[other].words[0]).starts_with(initial))
                .collect();
            if let [only] = fit[..] {
                self.groups.join(only, i);
            }
        }
    }

    /// Merges a first name, alone or after a title that first names take, with the full name that begins with it.
    fn merge_first_names(&mut self, fulls: &[usize]) {
        let mut by_first: HashMap<u32, Vec<usize>> = HashMap::new();
        for &i in fulls {
            by_first.entry(self.names[i].words[0]).or_default().push(i);
        }
        let ranked = self.groups_with_rank(fulls);
        let mut titled: HashMap<u32, u32> = HashMap::new();
        for (i, name) in self.names.iter().enumerate() {
            if let ([word], false) = (&name.words[..], self.may_take_first_name(i)) {
                *titled.entry(*word).or_default() += name.count;
            }
        }
        for (i, name) in self.names.iter().enumerate() {
            let [word] = name.words[..] else { continue };
            let Some(bearers) = by_first.get(&word) else { continue };
            let takes_first = self.may_take_first_name(i);
            let mut fit: Vec<usize> = Vec::new();
            for &other in bearers {
                let same_title = name.title.is_some() && self.title(other) == self.title(i);
                let root = self.groups.root(other);
                // A lady is not called by her first name alone.
                let rank = name.title.is_none() && ranked.contains(&root);
                if (takes_first && !rank || same_title)
                    && self.groups.agree(i, other)
                    && !self.is_established_before(i, other)
                    && !fit.iter().any(|&known| self.groups.root(known) == root)
                {
                    fit.push(other);
                }
            }
            // `Hale` is rather Colonel Hale than Hale Morton if the colonel is mentioned more often.
            let surname = name.title.is_none()
                && fit.iter().all(|&other| titled.get(&word).is_some_and(|&count| count > self.names[other].count));
            if surname {
                continue;
            }
            let clear = match fit[..] {
                [] => None,
                [only] => Some(only),
                [a, b, ..] => (self.names[a].count >= 3 * self.names[b].count).then_some(a),
            };
            if let Some(best) = clear {
                self.groups.join(best, i);
                self.given[i] = true;
            }
        }
    }

    /// Returns the groups whose full names mostly have a title of rank.
    fn groups_with_rank(&mut self, fulls: &[usize]) -> HashSet<usize> {
        let mut counts: HashMap<usize, (u32, u32)> = HashMap::new();
        for &i in fulls {
            let rank = matches!(self.title(i), "lady" | "sir" | "queen" | "king" | "prince" | "princess" | "saint");
            let (ranked, all) = counts.entry(self.groups.root(i)).or_default();
            *ranked += if rank { self.names[i].count } else { 0 };
            *all += self.names[i].count;
        }
        counts.into_iter().filter(|&(_, (ranked, all))| ranked * 2 > all).map(|(root, _)| root).collect()
    }

    /// Whether a first name is well established before a rare full name with a rare surname first occurs; that full
    /// name is then someone else's.
    fn is_established_before(&self, first: usize, full: usize) -> bool {
        let (first, full) = (&self.names[first], &self.names[full]);
        let rare = full.words.last().is_some_and(|last| self.heard[last] < first.count);
        if full.count * 5 >= first.count || first.title.is_some() || !rare {
            return false;
        }
        let name = self.mentions[first.first].name;
        let earlier = self.mentions[first.first..full.first.max(first.first)]
            .iter()
            .filter(|mention| mention.name == name)
            .take(12)
            .count();
        earlier > 11 || earlier as u64 * 3 > u64::from(first.count)
    }

    /// Merges names with the same surname whose titles are compatible: `Captain Hale`, `Mr. Hale`, `Hale`.
    fn merge_surnames(&mut self) {
        let mut singles: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, name) in self.names.iter().enumerate() {
            if let [word] = name.words[..]
                && !self.given[i]
                && (self.person[i] || name.title.is_none())
            {
                singles.entry(word).or_default().push(i);
            }
        }
        for (word, forms) in &singles {
            let bearers: Vec<usize> = self.by_last.get(word).cloned().unwrap_or_default();
            let titled: Vec<usize> = forms.iter().copied().filter(|&i| self.names[i].title.is_some()).collect();
            self.merge_titles(&titled, bearers.len());
            for &i in &titled {
                let fit = self.compatible(i, &bearers);
                // Wife and daughter share the surname; only dialogue can show which of them is meant.
                let wife = self.title(i) == "mrs";
                if let [only] = fit[..]
                    && (!wife || self.title(only) == "mrs")
                    && !self.occur_together(only, i)
                {
                    self.groups.join(only, i);
                }
            }
            let bare = forms.iter().copied().find(|&i| self.names[i].title.is_none());
            let Some(bare) = bare else { continue };
            let mut fit = self.compatible(bare, &titled);
            fit.sort_by_key(|&i| std::cmp::Reverse(self.names[i].count));
            // In most books, a bare surname means a man.
            let men: Vec<usize> = fit.iter().copied().filter(|&i| self.groups.gender(i) != Gender::Female).collect();
            let choice = match (&men[..], &fit[..]) {
                ([only], _) | ([], [only]) => Some(*only),
                ([a, b, ..], _) if self.names[*a].count >= 4 * self.names[*b].count => Some(*a),
                ([], []) => match self.compatible(bare, &bearers)[..] {
                    [only] => Some(only),
                    _ => None,
                },
                _ => None,
            };
            if let Some(choice) = choice {
                self.groups.join(choice, bare);
            }
        }
    }

    /// Returns those of `others` that are compatible with a name, one per group.
    fn compatible(&mut self, name: usize, others: &[usize]) -> Vec<usize> {
        let mut fit: Vec<usize> = Vec::new();
        for &other in others {
            let root = self.groups.root(other);
            if self.groups.agree(name, other) && !fit.iter().any(|&known| self.groups.root(known) == root) {
                fit.push(other);
            }
        }
        fit
    }

    /// Merges names with one surname and equivalent titles, and Mr. with the only professional title.
    fn merge_titles(&mut self, titled: &[usize], bearers: usize) {
        for (k, &a) in titled.iter().enumerate() {
            for &b in &titled[k + 1..] {
                if self.title(a) == self.title(b) {
                    self.groups.join(a, b);
                }
            }
        }
        let mr: Vec<usize> = titled.iter().copied().filter(|&i| self.title(i) == "mr").collect();
        let others: Vec<usize> = titled.iter().copied().filter(|&i| PROFESSIONS.contains(&self.title(i))).collect();
        if let ([mr, ..], Some(&other)) = (&mr[..], others.first())
            && others.iter().all(|&i| self.title(i) == self.title(other))
            && bearers < 2
            && !self.occur_together(*mr, other)
            && self.groups.agree(*mr, other)
        {
            self.groups.join(*mr, other);
        }
    }

    /// Merges `Miss Hale` with the daughter of that surname; of several daughters, with the one who is never called
    /// Miss with her first name. Returns the names that several people share, each with their groups.
    fn merge_daughters(&mut self) -> Vec<(usize, Vec<usize>)> {
        let mut shared = Vec::new();
        let mut younger: HashSet<usize> = HashSet::new();
        for k in 0..self.names.len() {
            if self.title(k) == "miss" && (self.given[k] || self.names[k].words.len() > 1) {
                younger.insert(self.groups.root(k));
            }
        }
        for i in 0..self.names.len() {
            let [word] = self.names[i].words[..] else { continue };
            if self.title(i) != "miss" || self.given[i] {
                continue;
            }
            let own = self.groups.root(i);
            let bearers: Vec<usize> = self.by_last.get(&word).cloned().unwrap_or_default();
            let mut daughters: Vec<usize> = Vec::new();
            for other in bearers {
                let root = self.groups.root(other);
                if root != own
                    && self.groups.gender(other) != Gender::Male
                    && self.groups.agree(i, other)
                    && !daughters.contains(&root)
                {
                    daughters.push(root);
                }
            }
            if daughters.len() > 1 {
                shared.push((i, daughters.clone()));
                daughters.retain(|root| !younger.contains(root));
                daughters.sort_unstable_by_key(|&root| std::cmp::Reverse(self.names[root].count));
                if let [first, second, ..] = daughters[..]
                    && self.names[first].count > self.names[second].count * 2
                {
                    daughters.truncate(1);
                }
            }
            if let [only] = daughters[..]
                && !self.occur_together(only, i)
            {
                self.groups.join(only, i);
            }
        }
        shared
    }

    /// Merges a short form with the only character who is called by the full first name alone.
    fn merge_short_forms(&mut self) {
        let bare: Vec<usize> = (0..self.names.len())
            .filter(|&i| self.names[i].words.len() == 1 && self.names[i].title.is_none() && self.person[i])
            .collect();
        let roots: Vec<usize> = (0..self.names.len()).map(|i| self.groups.root(i)).collect();
        let apart: HashSet<(usize, usize)> =
            self.companions.iter().map(|&(a, b)| (roots[a].min(roots[b]), roots[a].max(roots[b]))).collect();
        for &i in &bare {
            let short = self.text(self.names[i].words[0]);
            let mut fit: Vec<usize> = Vec::new();
            for &other in &bare {
                if ENGLISH.shortens(short, self.text(self.names[other].words[0])) {
                    let root = self.groups.root(other);
                    if !fit.contains(&root) {
                        fit.push(root);
                    }
                }
            }
            if let [only] = fit[..]
                && self.groups.agree(only, i)
                && !apart.contains(&(roots[only].min(roots[i]), roots[only].max(roots[i])))
            {
                self.groups.join(only, i);
            }
        }
    }

    /// Merges short forms that occur mainly in dialogue with the name that they shorten.
    fn merge_spoken_short_forms(&mut self) {
        for i in 0..self.names.len() {
            let name = &self.names[i];
            let [word] = name.words[..] else { continue };
            if !self.may_take_first_name(i) || name.narrated * 4 > name.count {
                continue;
            }
            let short = self.text(word);
            let mut fit: Vec<usize> = Vec::new();
            for (k, other) in self.names.iter().enumerate() {
                let Some(&first) = other.words.first() else { continue };
                let surname = other.words.len() == 1 && !self.may_take_first_name(k);
                if self.person[k]
                    && !surname
                    && first != word
                    && other.narrated * 2 > other.count
                    && other.count > name.count
                    && may_shorten(short, self.text(first))
                    && self.groups.agree(i, k)
                {
                    let root = self.groups.root(k);
                    if !fit.contains(&root) {
                        fit.push(root);
                    }
                }
            }
            if let [only] = fit[..] {
                self.groups.join(only, i);
            }
        }
    }
}

/// Returns the pairs of names that occur in one sentence of narration, and so belong to different people.
pub(super) fn names_in_one_sentence(book: &Tokens, mentions: &[Mention]) -> HashSet<(usize, usize)> {
    let mut pairs = HashSet::new();
    for window in mentions.windows(4) {
        let first = window[0];
        for second in &window[1..] {
            let between = &book.list[first.end..second.first];
            let near = between.len() > 1
                && between.len() < 12
                && book.list[first.first].quote == NONE
                && !between.iter().any(|token| token.initial() || token.quote != NONE);
            if near && first.name != second.name {
                pairs.insert((first.name.min(second.name), first.name.max(second.name)));
            }
        }
    }
    pairs
}

/// Returns the evidence of a name's title as bits: 1 female, 2 male, 4 Mrs., 8 Miss.
fn title_bits(book: &Tokens, name: &Name) -> u8 {
    let Some(title) = name.title else { return 0 };
    let sex = match title_gender(book, title) {
        Gender::Female => 1,
        Gender::Male => 2,
        Gender::Unknown => 0,
    };
    match canonical(&book.words[title as usize].text) {
        "mrs" => sex | 4,
        "miss" => sex | 8,
        _ => sex,
    }
}

/// Whether a name may be a short form of another: not longer by more than one letter, with the same beginning or a
/// clear part of it.
pub(super) fn may_shorten(short: &str, long: &str) -> bool {
    let stem = ["sie", "sy", "zie", "zy", "kie", "ky", "ie", "ey", "y", "s", ""]
        .iter()
        .find_map(|ending| short.strip_suffix(ending).filter(|stem| stem.chars().count() > 2))
        .unwrap_or(short);
    let doubled = stem.chars().rev().take(2).collect::<Vec<_>>();
    let stem = match doubled[..] {
        [a, b] if a == b && stem.chars().count() > 3 => &stem[..stem.len() - a.len_utf8()],
        _ => stem,
    };
    // `Nellie`: the part before the ending, of at least three letters, anywhere in the longer name.
    stem.chars().count() > 2
        && short.chars().count() <= long.chars().count() + 1
        && (long.starts_with(stem) || stem.chars().count() > 2 && long.contains(stem))
}
