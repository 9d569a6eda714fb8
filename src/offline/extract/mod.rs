//! Offline answers of the stage `extract`.

mod actions;
mod describe_scene;
mod find_scenes;
mod motivations;
mod passage;
mod salience;
mod scene_boundaries;
mod summary;
mod utterances;

use crate::llm::{Offline, OfflineAnswer};
use crate::stages::extract::{
    DescribeScene, FindScenes, FoundScenes, RepairLines, RepairedLine, RepairedLines, SceneDescription,
};

impl OfflineAnswer for FindScenes {
    fn answer_offline(&self, _: &mut Offline<'_>) -> FoundScenes {
        find_scenes::scenes(self)
    }
}

impl OfflineAnswer for DescribeScene {
    fn answer_offline(&self, _: &mut Offline<'_>) -> SceneDescription {
        describe_scene::describe(self)
    }
}

impl OfflineAnswer for RepairLines {
    fn answer_offline(&self, _: &mut Offline<'_>) -> RepairedLines {
        let lines = self.only_matches().map(|(number, speech)| RepairedLine { number, speech }).collect();
        RepairedLines { lines }
    }
}
