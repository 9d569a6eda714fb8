//! The models of a run, by part.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Loaded, Member, Members};
use crate::llm::{AskError, Model, Session};
use crate::schema::{ByLanguage, Language};

/// The model of each part in each language. A model that plays several parts is one instance, with one concurrency
/// limit.
#[derive(Debug)]
pub(super) struct Models {
    /// Extracts scenes from chunks.
    pub extractor: ByLanguage<Arc<Model>>,
    /// Make up test characters, taking turns.
    pub synthesizers: ByLanguage<Vec<Arc<Model>>>,
    /// Decides which character speaks next.
    pub director: ByLanguage<Arc<Model>>,
    /// Plays the scene characters.
    pub scene: ByLanguage<Arc<Model>>,
    /// Play the test characters.
    pub sources: ByLanguage<Vec<Arc<Model>>>,
    /// The baseline, which answers beside the source.
    pub base: ByLanguage<Arc<Model>>,
    /// Compares the two replies and rates whole conversations.
    pub judge: ByLanguage<Arc<Model>>,
    /// Additional judges.
    pub judges: ByLanguage<Vec<Arc<Model>>>,
    /// Describes roles and asks about them; `None` if `[instruct]` is off.
    pub instructor: Option<ByLanguage<Arc<Model>>>,
    /// Plays roles; `None` if `[instruct]` is off.
    pub role_player: Option<ByLanguage<Arc<Model>>>,
}

impl Models {
    /// Creates the models named in the cast, and no others.
    pub(super) fn new(loaded: &Loaded, session: &Arc<Session>) -> Result<Self, AskError> {
        let mut made: BTreeMap<String, Arc<Model>> = BTreeMap::new();
        let mut model = |name: &str| -> Result<Arc<Model>, AskError> {
            if let Some(model) = made.get(name) {
                return Ok(Arc::clone(model));
            }
            let model = Arc::new(loaded.model(name, session)?);
            made.insert(name.to_owned(), Arc::clone(&model));
            Ok(model)
        };
        let mut one = |member: &Member| -> Result<ByLanguage<Arc<Model>>, AskError> {
            Ok(ByLanguage { en: model(member.get(Language::En))?, zh: model(member.get(Language::Zh))? })
        };
        let cast = &loaded.file.cast;
        let extractor = one(&cast.extractor)?;
        let director = one(&cast.director)?;
        let scene = one(&cast.scene)?;
        let base = one(&cast.base)?;
        let judge = one(&cast.judge)?;
        let is_on = loaded.file.instruct.is_on();
        let instructor = is_on.then(|| one(cast.instructor())).transpose()?;
        let role_player = is_on.then(|| one(cast.role_player())).transpose()?;
        let mut several = |members: &Members| -> Result<ByLanguage<Vec<Arc<Model>>>, AskError> {
            let mut list = |language| -> Result<Vec<Arc<Model>>, AskError> {
                members.get(language).iter().map(|name| model(name)).collect()
            };
            Ok(ByLanguage { en: list(Language::En)?, zh: list(Language::Zh)? })
        };
        let synthesizers = several(&cast.synthesizers)?;
        let sources = several(&cast.sources)?;
        let judges = several(&cast.judges)?;
        Ok(Self { extractor, synthesizers, director, scene, sources, base, judge, judges, instructor, role_player })
    }

    /// Returns the models that take part in conversations; a model may occur more than once.
    pub(super) fn players(&self) -> impl Iterator<Item = &Arc<Model>> {
        let parts = [&self.director, &self.scene, &self.base, &self.judge];
        let one = parts.into_iter().flat_map(|part| [&part.en, &part.zh]);
        let several = [&self.sources, &self.judges].into_iter().flat_map(|part| part.en.iter().chain(&part.zh));
        one.chain(several)
    }

    /// Returns (part, model) in the order of the cast; a part with different models per language is listed once per
    /// language.
    pub(super) fn parts(&self) -> Vec<(String, Arc<Model>)> {
        let one = |models: &ByLanguage<Arc<Model>>| ByLanguage {
            en: vec![Arc::clone(&models.en)],
            zh: vec![Arc::clone(&models.zh)],
        };
        let mut cast = vec![
            ("extractor", one(&self.extractor)),
            ("synthesizers", self.synthesizers.clone()),
            ("director", one(&self.director)),
            ("scene", one(&self.scene)),
            ("sources", self.sources.clone()),
            ("base", one(&self.base)),
            ("judge", one(&self.judge)),
            ("judges", self.judges.clone()),
        ];
        let optional = [("instructor", &self.instructor), ("role_player", &self.role_player)];
        cast.extend(optional.into_iter().filter_map(|(part, models)| Some((part, one(models.as_ref()?)))));
        let names = |models: &[Arc<Model>]| models.iter().map(|model| model.name().to_owned()).collect::<Vec<_>>();
        let mut parts = Vec::new();
        for (part, models) in cast {
            if names(&models.en) == names(&models.zh) {
                parts.extend(models.en.into_iter().map(|model| (part.to_owned(), model)));
            } else {
                for language in Language::ALL {
                    let models = models.get(language).iter().cloned();
                    parts.extend(models.map(|model| (format!("{part} ({language})"), model)));
                }
            }
        }
        parts
    }
}
