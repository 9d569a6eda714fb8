//! Scenes, characters and an in-memory journal for the tests of this module.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;

use super::Params;
use super::context::Context;
use super::lanes::{Admission, Scenes};
use crate::llm::{Answered, AskError, Budget, Journal, JournalError, Model, OfflineOptions, Record, Session};
use crate::prompt::Prompts;
use crate::schema::{
    Attribute, Character, CharacterType, Dimension, Language, Motivation, Scene, SceneCharacter, SceneHead, Utterance,
    Visibility,
};
use crate::stages::select;

/// Records by key. Each write yields a number of times that depends on its draw, so that calls finish in mixed order.
#[derive(Debug, Default)]
pub(super) struct MemoryJournal {
    pub(super) records: Mutex<BTreeMap<String, Record>>,
    pub(super) unrest: usize,
}

impl Journal for MemoryJournal {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        Ok(self.records.lock().unwrap().get(key).map(Answered::from))
    }

    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let waits = record.draw.bytes().map(usize::from).sum::<usize>() * self.unrest % 7;
            for _ in 0..waits {
                tokio::task::yield_now().await;
            }
            self.records.lock().unwrap().insert(record.key.clone(), record);
            Ok(())
        })
    }
}

impl MemoryJournal {
    /// Changes the record of a draw.
    pub(super) fn change(&self, draw: &str, change: impl FnOnce(&mut Record)) {
        let mut records = self.records.lock().unwrap();
        change(records.values_mut().find(|record| record.draw == draw).expect("the journal has a record of this draw"));
    }

    /// Returns the records sorted by draw.
    pub(super) fn by_draw(&self) -> Vec<Record> {
        let mut records: Vec<Record> = self.records.lock().unwrap().values().cloned().collect();
        records.sort_by(|one, other| one.draw.cmp(&other.draw));
        records
    }
}

/// Returns the embedded prompt templates.
pub(super) fn prompts() -> Prompts {
    Prompts::new(crate::stages::prompts(), &BTreeMap::new()).expect("templates are embedded and tested")
}

/// The models of a run, all offline.
pub(super) struct TestModels {
    pub(super) journal: Arc<MemoryJournal>,
    pub(super) director: Model,
    pub(super) scene: Model,
    pub(super) source: Model,
    pub(super) base: Model,
    pub(super) judge: Model,
    /// Extra judges; not part of [`TestModels::context`] by default.
    pub(super) extra_judges: Vec<Arc<Model>>,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) select: select::Params,
    pub(super) admission: Admission,
}

impl TestModels {
    pub(super) fn new(journal: Arc<MemoryJournal>, replay: bool) -> Self {
        let session = Arc::new(Session::new(7, prompts(), journal.clone(), Budget::default(), replay));
        let model = |name: &str| {
            let options = OfflineOptions { variant: name.to_owned(), ..OfflineOptions::default() };
            Model::offline(name, options, session.clone())
        };
        Self {
            journal,
            director: model("director"),
            scene: model("scene"),
            source: model("source"),
            base: model("base"),
            judge: model("judge"),
            extra_judges: vec![Arc::new(model("second")), Arc::new(model("third"))],
            dimensions: select::dimensions(None).expect("the table is embedded and tested"),
            select: select::Params::default(),
            admission: Admission::new(3),
        }
    }

    pub(super) fn context<'a>(&'a self, params: &'a Params) -> Context<'a> {
        Context {
            director: &self.director,
            scene: &self.scene,
            base: &self.base,
            judge: &self.judge,
            judges: &[],
            params,
            select: &self.select,
            dimensions: &self.dimensions,
            seed: 7,
            limit: None,
            admission: &self.admission,
        }
    }
}

pub(super) fn attribute(key: &str, value: &str, visibility: Visibility) -> Attribute {
    Attribute { key: key.to_owned(), value: value.to_owned(), visibility }
}

/// Returns a scene in which every text is a marker such as `Ann-public`.
pub(super) fn scene(language: Language, id: &str, names: &[&str]) -> Scene {
    let profile = |name: &str| {
        vec![
            attribute("trade", &format!("{name}-public"), Visibility::Public),
            attribute("secret", &format!("{name}-private"), Visibility::Private),
        ]
    };
    let utterance = |speaker: &str| Utterance {
        speaker: speaker.to_owned(),
        thought: Some(format!("{speaker}-thought")),
        action: Some(format!("{speaker}-action")),
        speech: Some(format!("{speaker}-speech, that is what I say.")),
        start: None,
        end: None,
        grounded: None,
        similarity: None,
    };
    Scene {
        id: id.into(),
        book: id.split('@').next().unwrap_or(id).to_owned(),
        language,
        chapter: String::new(),
        start: Some(0),
        end: Some(1),
        summary: "scene-summary".to_owned(),
        salience: None,
        worldview: "scene-worldview".to_owned(),
        situation: "scene-situation".to_owned(),
        motivations: names
            .iter()
            .map(|name| Motivation { character: (*name).to_owned(), motivation: format!("{name}-motivation") })
            .collect(),
        characters: names
            .iter()
            .map(|name| SceneCharacter { name: (*name).to_owned(), aliases: Vec::new(), profile: profile(name) })
            .collect(),
        dialogue: names.iter().chain(&[Utterance::ENVIRONMENT]).map(|name| utterance(name)).collect(),
        grounding: Some(1.0),
        model: Some("model".to_owned()),
    }
}

/// Returns a test character named `Tess` whose texts are markers.
pub(super) fn character(language: Language) -> Character {
    Character {
        id: "tess".into(),
        name: "Tess".to_owned(),
        aliases: vec!["The Guest".to_owned()],
        language,
        kind: CharacterType::Established,
        book: Some("home".to_owned()),
        worldview: None,
        profile: vec![
            attribute("trade", "Tess-public", Visibility::Public),
            attribute("secret", "Tess-private", Visibility::Private),
        ],
        lines: vec!["Tess-line".to_owned()],
        model: None,
    }
}

/// Returns this many scenes in a language.
pub(super) fn pool(language: Language, scenes: u32) -> Vec<Arc<Scene>> {
    (0..scenes).map(|n| Arc::new(scene(language, &format!("book@{n}"), &["Ann", "Bob", "Cid"]))).collect()
}

/// Scenes in memory, with their heads.
pub(super) struct MemoryScenes(Vec<(SceneHead, Arc<Scene>)>);

impl MemoryScenes {
    pub(super) fn new(scenes: &[Arc<Scene>]) -> Self {
        Self(scenes.iter().map(|scene| (Scene::clone(scene).into(), Arc::clone(scene))).collect())
    }
}

impl Scenes for MemoryScenes {
    type Error = AskError;

    fn heads(&self) -> impl ExactSizeIterator<Item = &SceneHead> + Clone {
        self.0.iter().map(|(head, _)| head)
    }

    fn scene(&self, index: usize) -> Result<Scene, AskError> {
        Ok(Scene::clone(&self.0[index].1))
    }
}
