//! The `synthesize` stage of a run: established and made-up characters.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Runner, Tasks};
use crate::event::Event;
use crate::pipeline::error::RunError;
use crate::pipeline::records::Records;
use crate::schema::Stage;
use crate::schema::{Book, Character, Language, SceneHead};
use crate::stages::simulate;
use crate::stages::synthesize::{
    self, Lookalikes, MAX_FURTHER_WORLDS, Resemblance, ResemblanceKind, Synthesized, WorldNumber, established,
};
use crate::store::PoolIndex;

/// Made-up characters by language and world.
type Made = Vec<(Language, u32, Synthesized)>;

impl Runner {
    /// Adds made-up characters, rejecting those too similar to another made-up character or to a book character.
    /// `lookalikes` yields the similar book character of each, if any, in order. Returns the number rejected, by the
    /// stage or here.
    ///
    /// A made-up character that resembles an established one is kept, so that adding a character file never ends an
    /// existing lane. But if an established character has the same id, it takes over the lane.
    fn join(
        &self,
        made: Synthesized,
        lookalikes: &mut impl Iterator<Item = Option<Resemblance>>,
        established: &[Character],
        made_up: &mut Vec<Character>,
        records: &mut Records,
    ) -> u32 {
        let mut dropped = made.dropped;
        self.reject(records, made.rejects);
        for character in made.characters {
            let of_books = lookalikes.next().expect("`lookalikes` has one entry per character");
            let namesake = established.iter().find(|other| other.id == character.id);
            let same_id = namesake.map(|other| Resemblance {
                other: other.name.clone(),
                book: None,
                kind: ResemblanceKind::Name,
            });
            if let Some(resemblance) = of_books.or(same_id).or_else(|| synthesize::resembles(&character, made_up)) {
                dropped += 1;
                self.reject(records, [resemblance.reject(&character)]);
                continue;
            }
            // Established characters picked from a book were already compared as book characters.
            let from_files =
                established.iter().filter(|other| !other.is_picked() && other.language == character.language);
            for other in from_files {
                if let Some(resemblance) = synthesize::resembles(&character, std::slice::from_ref(other)) {
                    let message = resemblance.description(&character);
                    self.reporter.report(Event::Note(format!("{message}, which is defined in a file; both are kept")));
                }
            }
            made_up.push(character);
        }
        dropped
    }

    /// Adds the made-up characters of worlds, by language and world. Returns the worlds that miss characters, and how
    /// many.
    async fn join_all(
        self: &Arc<Self>,
        mut made: Made,
        scenes: &Arc<PoolIndex>,
        established: &[Character],
        made_up: &mut Vec<Character>,
        records: &mut Records,
    ) -> Result<Vec<(Language, u32, u32)>, RunError> {
        made.sort_by_key(|(language, world, _)| (*language, *world));
        let mut lookalikes = self.lookalikes(&made, scenes).await?.into_iter();
        let dropped = made.into_iter().map(|(language, world, made)| {
            (language, world, self.join(made, &mut lookalikes, established, made_up, records))
        });
        Ok(dropped.filter(|(.., dropped)| *dropped > 0).collect())
    }

    /// Returns the similar book character of each made-up character, if any. Only books whose scenes are played count,
    /// so that adding a book to a run with `simulate.books` ends no lane.
    async fn lookalikes(
        self: &Arc<Self>,
        made: &Made,
        scenes: &Arc<PoolIndex>,
    ) -> Result<Vec<Option<Resemblance>>, RunError> {
        let made: Vec<Character> = made.iter().flat_map(|(_, _, made)| &made.characters).cloned().collect();
        if made.is_empty() {
            return Ok(Vec::new());
        }
        let (runner, scenes) = (Arc::clone(self), Arc::clone(scenes));
        self.blocking(move || {
            let drawn = simulate::SelectedBooks::new(&runner.loaded.file.simulate);
            let languages: BTreeSet<Language> = made.iter().map(|character| character.language).collect();
            let mut lookalikes = Lookalikes::new(&made);
            let is_read = |head: &SceneHead| languages.contains(&head.language) && drawn.has(&head.book);
            for (index, _) in scenes.heads().enumerate().filter(|(_, head)| is_read(head)) {
                lookalikes.read(&scenes.scene(index)?);
            }
            Ok(lookalikes.found())
        })
        .await
    }

    /// Makes up characters of a world.
    async fn made_up(
        &self,
        language: Language,
        nth: WorldNumber,
        count: u32,
    ) -> Result<(Language, u32, Synthesized), RunError> {
        let models = self.models.synthesizers.get(language);
        let (params, seed) = (&self.loaded.file.synthesize, self.loaded.file.seed);
        // No names are excluded in the prompt, since adding a book or character must not change those made up so far.
        let made = synthesize::synthesize(models, params, seed, language, nth, count, &[]).await?;
        Ok((language, nth.world, made))
    }

    /// Returns the established characters: first those in files, then those picked from the pool, book by book.
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
        for entry in simulate::SelectedBooks::new(&self.loaded.file.simulate).missing(&scenes.heads()) {
            let note = format!("`simulate.books` lists `{entry}`, but no scene is from such a book");
            self.reporter.report(Event::Note(note));
        }
        let mut characters = self.loaded.characters.clone();
        for book in books.iter().filter(|_| params.established.has_pool()) {
            let most = params.established_per_book as usize;
            let picked = established::pick(&book.slug, &scenes.of_book(&book.slug)?, most, &self.loaded.characters);
            self.reject(records, picked.rejects);
            for character in picked.characters {
                let simulate = &self.loaded.file.simulate;
                if simulate.own_book.is_none() && simulate::plays_own_book(simulate, &character, scenes.heads()) {
                    let Character { name, book, .. } = &character;
                    self.reporter.report(Event::Note(format!(
                        "`{name}` plays in scenes of its own book `{}`, since no other book has scenes in its language; \
                         `simulate.own_book = false` forbids it",
                        book.as_deref().unwrap_or_default()
                    )));
                }
                characters.push(character);
            }
        }
        Ok(characters)
    }

    /// Collects the established characters and makes up the others.
    pub(super) async fn synthesize(
        self: &Arc<Self>,
        books: &[Book],
        scenes: &Arc<PoolIndex>,
        records: &mut Records,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.synthesize;
        let limit = self.options.limit.unwrap_or(u32::MAX);
        let mut established: Vec<Character> = Vec::new();
        for character in self.established(books, scenes, records)? {
            let same = |other: &&Character| other.language == character.language;
            if established.iter().filter(same).count() < limit as usize {
                established.push(character);
            }
        }
        let mut made_up: Vec<Character> = Vec::new();
        let requested = |language: Language| {
            if self.models.synthesizers.get(language).is_empty() { 0 } else { (*params.count.get(language)).min(limit) }
        };
        let total: u64 = Language::ALL.iter().map(|&language| u64::from(requested(language))).sum();
        self.start(Stage::Synthesize, Some(total));
        let done = Arc::new(AtomicU64::new(0));
        let mut made = Tasks::new(&self.session);
        for language in Language::ALL {
            let mut remaining = requested(language);
            for world in 0.. {
                if remaining == 0 {
                    break;
                }
                let count = remaining.min(params.characters_per_world.max(1));
                remaining -= count;
                let (runner, done) = (Arc::clone(self), Arc::clone(&done));
                made.spawn(async move {
                    let made = runner.made_up(language, WorldNumber::planned(world), count).await?;
                    let done = done.fetch_add(count.into(), Ordering::Relaxed) + u64::from(count);
                    runner.advance(Stage::Synthesize, done, Some(total));
                    Ok(made)
                });
            }
        }
        // All planned worlds come first, so that a replacement never displaces a planned character.
        let mut missing = self.join_all(made.all().await, scenes, &established, &mut made_up, records).await?;
        for further in 1..=MAX_FURTHER_WORLDS {
            if missing.is_empty() || made.failed() {
                break;
            }
            for (language, world, dropped) in missing {
                let runner = Arc::clone(self);
                made.spawn(async move { runner.made_up(language, WorldNumber { world, further }, dropped).await });
            }
            missing = self.join_all(made.all().await, scenes, &established, &mut made_up, records).await?;
        }
        made.ended()?;
        for (language, world, dropped) in missing {
            let note = format!(
                "{dropped} characters of world {world} ({language}) are missing: all candidates, after \
                 {MAX_FURTHER_WORLDS} further attempts, were rejected; see the reasons in `rejected`"
            );
            self.reporter.report(Event::Note(note));
        }
        let outcome = format!("{} made-up and {} established characters", made_up.len(), established.len());
        self.end(Stage::Synthesize, outcome);
        let mut characters = [made_up, established].concat();
        characters.sort_by(|a, b| a.id.cmp(&b.id));
        records.characters = characters;
        Ok(())
    }
}
