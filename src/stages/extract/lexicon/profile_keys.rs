//! The keys of a character profile (FURINA 3.2).

use super::script::Script;
use crate::schema::{Language, Visibility};

/// The keys of a profile (FURINA 3.2), in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProfileKey {
    Gender,
    Age,
    Appearance,
    Persona,
    PublicBackground,
    Relationships,
    Hobbies,
    SpeechPattern,
    PrivateBackground,
}

impl ProfileKey {
    const ALL: [Self; 9] = [
        Self::Gender,
        Self::Age,
        Self::Appearance,
        Self::Persona,
        Self::PublicBackground,
        Self::Relationships,
        Self::Hobbies,
        Self::SpeechPattern,
        Self::PrivateBackground,
    ];

    /// Returns all keys, in display order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// Returns the key as spelled in profiles of books in a script.
    pub(crate) fn word(self, script: Script) -> String {
        script.write(self.simplified(script.language()))
    }

    const fn simplified(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Gender, Language::En) => "gender",
            (Self::Gender, Language::Zh) => "性别",
            (Self::Age, Language::En) => "age",
            (Self::Age, Language::Zh) => "年龄",
            (Self::Appearance, Language::En) => "appearance",
            (Self::Appearance, Language::Zh) => "外貌",
            (Self::Persona, Language::En) => "persona",
            (Self::Persona, Language::Zh) => "性格",
            (Self::PublicBackground, Language::En) => "public background",
            (Self::PublicBackground, Language::Zh) => "公开背景",
            (Self::Relationships, Language::En) => "relationships",
            (Self::Relationships, Language::Zh) => "人际关系",
            (Self::Hobbies, Language::En) => "hobbies",
            (Self::Hobbies, Language::Zh) => "爱好",
            (Self::SpeechPattern, Language::En) => "speech pattern",
            (Self::SpeechPattern, Language::Zh) => "说话方式",
            (Self::PrivateBackground, Language::En) => "private background",
            (Self::PrivateBackground, Language::Zh) => "私下背景",
        }
    }

    /// Returns the visibility in the paper's setup (FURINA 4.1).
    pub(crate) const fn visibility(self) -> Visibility {
        match self {
            Self::Gender | Self::Age | Self::Appearance | Self::Persona | Self::PublicBackground => Visibility::Public,
            Self::Relationships | Self::Hobbies | Self::SpeechPattern | Self::PrivateBackground => Visibility::Private,
        }
    }

    /// Returns the key with a spelling in any script.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase().replace('_', " ");
        Self::ALL.into_iter().find(|key| Script::ALL.iter().any(|script| key.word(*script) == word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_papers_visibility() {
        assert_eq!(ProfileKey::of("Speech_Pattern").map(ProfileKey::visibility), Some(Visibility::Private));
        assert_eq!(ProfileKey::of("外貌").map(ProfileKey::visibility), Some(Visibility::Public));
        for key in ProfileKey::all() {
            for script in Script::ALL {
                assert_eq!(ProfileKey::of(&key.word(script)), Some(key));
            }
        }
        assert_eq!(ProfileKey::Age.word(Script::Traditional), "年齡");
        assert_eq!(ProfileKey::Relationships.word(Script::Traditional), "人際關係");
        assert_eq!(ProfileKey::of("horoscope"), None);
    }
}
