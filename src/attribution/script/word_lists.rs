//! Word lists for plays and screenplays, from the TOML file beside this module, which says what each list is for.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptWords {
    pub(super) character_list_headings: Vec<String>,
    pub(super) title_page_keys: Vec<String>,
    pub(super) name_suffixes: Vec<String>,
    pub(super) production_notes: Vec<String>,
    pub(super) scene_heading_starts: Vec<String>,
    pub(super) act_heading_starts: Vec<String>,
    pub(super) chinese_heading_starts: Vec<String>,
}

pub(super) static SCRIPT_WORDS: LazyLock<ScriptWords> = LazyLock::new(|| embedded_toml!("script.toml"));
