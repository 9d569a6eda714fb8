//! The sheet of an invented character, and the profile made from it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::Visibility::{self, Private, Public};
use crate::schema::{Attribute, Language, slug, worldview_key};
use crate::text::check_language;

/// A character's sheet. What everybody has is fixed, so that none of it can be missing, and what only this one has comes under keys of
/// its own; [`Sheet::profile`] makes the profile of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sheet {
    /// The full name.
    pub name: String,
    /// The gender.
    pub gender: String,
    /// The age.
    pub age: String,
    /// What others see at first sight.
    pub appearance: String,
    /// What the character does in this world.
    pub occupation: String,
    /// Temperament, manners, and what it does under pressure.
    pub persona: String,
    /// What everyone in the place knows of its life.
    pub public_background: String,
    /// How it stands to the others of this answer, and to others in the place.
    pub relationships: String,
    /// What it does when nobody needs it.
    pub hobbies: String,
    /// How it speaks: length of sentences, favourite turns, what it never says.
    pub speech_pattern: String,
    /// What it hides; bound to the rule or the tension of the world.
    pub private_background: String,
    /// What made it so, long ago.
    pub formative_experience: String,
    /// One moment that it goes back to.
    pub memory: String,
    /// What it fears.
    pub fear: String,
    /// What it wants now.
    pub want: String,
    /// What else belongs to this one alone, under keys of its own, each for everyone to see or hidden; none is fine.
    #[schemars(length(max = 4))]
    pub further: Vec<Attribute>,
}

/// Maximum number of additional keys of a sheet.
const MOST_FURTHER_KEYS: usize = 4;

/// The keys of a profile in English and Chinese, with their visibility. In the paper, relationships, hobbies, speech
/// pattern and private background are private (FURINA 3.1).
const KEYS: [(&str, &str, Visibility); 14] = [
    ("gender", "性别", Public),
    ("age", "年龄", Public),
    ("appearance", "外貌", Public),
    ("occupation", "身份", Public),
    ("persona", "性格", Public),
    ("public background", "公开经历", Public),
    ("relationships", "人际关系", Private),
    ("hobbies", "爱好", Private),
    ("speech pattern", "说话方式", Private),
    ("private background", "隐秘经历", Private),
    ("formative experience", "成长经历", Private),
    ("memory", "难忘之事", Private),
    ("fear", "惧怕", Private),
    ("want", "心愿", Private),
];

impl Sheet {
    const fn values(&self) -> [&String; KEYS.len()] {
        [
            &self.gender,
            &self.age,
            &self.appearance,
            &self.occupation,
            &self.persona,
            &self.public_background,
            &self.relationships,
            &self.hobbies,
            &self.speech_pattern,
            &self.private_background,
            &self.formative_experience,
            &self.memory,
            &self.fear,
            &self.want,
        ]
    }

    /// Returns the profile, with keys in the given language.
    #[must_use]
    pub fn profile(&self, language: Language) -> Vec<Attribute> {
        let attribute = |((en, zh, visibility), value): ((&str, &str, Visibility), &String)| {
            let key = if language == Language::En { en } else { zh };
            Attribute { key: key.to_owned(), value: value.trim().to_owned(), visibility }
        };
        let further = self.further.iter().map(|Attribute { key, value, visibility }| Attribute {
            key: key.trim().to_owned(),
            value: value.trim().to_owned(),
            visibility: *visibility,
        });
        KEYS.into_iter().zip(self.values()).map(attribute).chain(further).collect()
    }

    /// Checks that all values are present, keys are unique and the language is right. The error is sent to the model.
    pub(super) fn check(&self, language: Language) -> Result<(), String> {
        if let Some(((key, ..), _)) = KEYS.iter().zip(self.values()).find(|(_, value)| value.trim().is_empty()) {
            return Err(format!("`{key}` of {} is empty", self.name));
        }
        if self.further.len() > MOST_FURTHER_KEYS {
            return Err(format!("{} has more than {MOST_FURTHER_KEYS} further keys", self.name));
        }
        let is_blank = |further: &&Attribute| slug(&further.key) == "-" || further.value.trim().is_empty();
        if let Some(Attribute { key, .. }) = self.further.iter().find(is_blank) {
            return Err(format!("the further key `{key}` of {} has no name or no value", self.name));
        }
        if let Some(key) = self.repeated_key(language) {
            return Err(format!("`{key}` stands twice in the sheet of {}; say each thing once", self.name));
        }
        let values: String = self.profile(language).into_iter().map(|attribute| attribute.value).collect();
        check_language(&values, language)
    }

    /// Returns a key that occurs twice in the profile, whose values could contradict each other.
    fn repeated_key(&self, language: Language) -> Option<String> {
        // The worldview is added to the profile later.
        let mut used_keys = BTreeSet::from([worldview_key(language).to_owned()]);
        self.profile(language).into_iter().map(|attribute| attribute.key).find(|key| !used_keys.insert(slug(key)))
    }

    /// Returns the sheet as text: the name, then one line per key.
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        let line = |Attribute { key, value, .. }| format!("\n{key}: {value}");
        let lines: String = self.profile(language).into_iter().map(line).collect();
        format!("# {}{lines}", self.name)
    }
}
