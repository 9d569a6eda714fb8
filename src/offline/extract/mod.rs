//! Offline answers of the stage `extract`.

mod actions;
pub(crate) mod describe_scene;
pub(crate) mod find_scenes;
mod motivations;
mod salience;
mod scene_boundaries;
mod summary;
