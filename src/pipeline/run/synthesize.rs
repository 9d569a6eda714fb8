//! The road through `synthesize`: established characters, and those that are made up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::records::Records;
use super::super::{RunError, Stage};
use super::{Road, Tasks};
use crate::event::Event;
use crate::schema::{Book, Character, CharacterType, Language};
use crate::stages::synthesize::{MOST_FURTHER, Nth, Synthesized, established};
use crate::stages::{simulate, synthesize};
use crate::store::PoolIndex;

impl Road {
    /// Adds made-up characters to the others, but for those that are too much like one of them. Returns how many were left out,
    /// by the stage or here.
    fn join(&self, made: Synthesized, characters: &mut Vec<Character>, records: &mut Records) -> u32 {
        let mut left_out = made.left_out;
        self.reject(records, made.rejects);
        for character in made.characters {
            match synthesize::resembles(&character, characters) {
                Some(resemblance) => {
                    left_out += 1;
                    self.reject(records, [resemblance.reject(&character)]);
                }
                None => characters.push(character),
            }
        }
        left_out
    }

    /// Adds the made-up characters of worlds, by language and world. Returns the worlds that lack some, and how many.
    fn join_all(
        &self,
        mut made: Vec<(Language, u32, Synthesized)>,
        characters: &mut Vec<Character>,
        records: &mut Records,
    ) -> Vec<(Language, u32, u32)> {
        made.sort_by_key(|(language, world, _)| (*language, *world));
        let left_out =
            made.into_iter().map(|(language, world, made)| (language, world, self.join(made, characters, records)));
        left_out.filter(|(.., left_out)| *left_out > 0).collect()
    }

    /// Makes up so many characters of a world.
    async fn made_up(
        &self,
        language: Language,
        nth: Nth,
        count: u32,
    ) -> Result<(Language, u32, Synthesized), RunError> {
        let models = self.models.synthesizers.get(language);
        let (params, seed) = (&self.loaded.file.synthesize, self.loaded.file.seed);
        // No name is forbidden beforehand: a further book or character must not change those made up so far.
        let made = synthesize::synthesize(models, params, seed, language, nth, count, &[]).await?;
        Ok((language, nth.world, made))
    }

    /// Returns the established characters: those of files first, then those picked out of the pool, book by book.
    fn established(
        &self,
        books: &[Book],
        scenes: &PoolIndex,
        records: &mut Records,
    ) -> Result<Vec<Character>, RunError> {
        let params = &self.loaded.file.synthesize;
        for note in &self.loaded.notes {
            self.reporter.report(Event::Note(note.clone()));
        }
        let mut characters = self.loaded.characters.clone();
        for book in books.iter().filter(|_| params.established.has_pool()) {
            let most = params.established_per_book as usize;
            let picked = established::pick(&book.slug, &scenes.of_book(&book.slug)?, most, &self.loaded.characters);
            self.reject(records, picked.rejects);
            for character in picked.characters {
                let simulate = &self.loaded.file.simulate;
                if simulate.own_book.is_none() && simulate::meets_own_book(simulate, &character, scenes.heads()) {
                    let Character { name, book, .. } = &character;
                    self.reporter.report(Event::Note(format!(
                        "`{name}` meets scenes of its own book `{}`, as no other has one of its language; \
                         `simulate.own_book = false` forbids it",
                        book.as_deref().unwrap_or_default()
                    )));
                }
                characters.push(character);
            }
        }
        Ok(characters)
    }

    /// Takes the established characters and makes up the others.
    pub(super) async fn synthesize(
        self: &Arc<Self>,
        books: &[Book],
        scenes: &PoolIndex,
        records: &mut Records,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.synthesize;
        let limit = self.options.limit.unwrap_or(u32::MAX);
        let mut characters: Vec<Character> = Vec::new();
        for character in self.established(books, scenes, records)? {
            let same = |other: &&Character| other.language == character.language;
            if characters.iter().filter(same).count() < limit as usize {
                characters.push(character);
            }
        }
        let wanted = |language: Language| {
            if self.models.synthesizers.get(language).is_empty() { 0 } else { (*params.count.get(language)).min(limit) }
        };
        let total: u64 = Language::ALL.iter().map(|&language| u64::from(wanted(language))).sum();
        self.start(Stage::Synthesize, Some(total));
        let done = Arc::new(AtomicU64::new(0));
        let mut made = Tasks::new(&self.desk);
        for language in Language::ALL {
            let mut left = wanted(language);
            for world in 0.. {
                if left == 0 {
                    break;
                }
                let count = left.min(params.characters_per_world.max(1));
                left -= count;
                let (road, done) = (Arc::clone(self), Arc::clone(&done));
                made.spawn(async move {
                    let made = road.made_up(language, Nth::planned(world), count).await?;
                    let done = done.fetch_add(count.into(), Ordering::Relaxed) + u64::from(count);
                    road.advance(Stage::Synthesize, done, Some(total));
                    Ok(made)
                });
            }
        }
        // All planned worlds first: whoever is made anew takes no planned one's place.
        let mut missing = self.join_all(made.all().await, &mut characters, records);
        for further in 1..=MOST_FURTHER {
            if missing.is_empty() || made.failed() {
                break;
            }
            for (language, world, left_out) in missing {
                let road = Arc::clone(self);
                made.spawn(async move { road.made_up(language, Nth { world, further }, left_out).await });
            }
            missing = self.join_all(made.all().await, &mut characters, records);
        }
        made.ended()?;
        for (language, world, left_out) in missing {
            let note = format!(
                "{left_out} characters of world {world} ({language}) are missing: whoever was made up for them, also \
                 {MOST_FURTHER} times anew, was left out; the rejected ones say why"
            );
            self.reporter.report(Event::Note(note));
        }
        characters.sort_by(|a, b| a.id.cmp(&b.id));
        let count = |kind| characters.iter().filter(|character| character.kind == kind).count();
        let (established, synthesized) = (count(CharacterType::Established), count(CharacterType::Synthesized));
        self.end(Stage::Synthesize, format!("{synthesized} made-up and {established} established characters"));
        records.characters = characters;
        Ok(())
    }
}
