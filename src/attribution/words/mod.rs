//! Word lists for the attribution rules, loaded once from the TOML files beside this module.

pub(super) mod chinese;
pub(super) mod english;
pub(super) mod word_set;

#[cfg(test)]
mod tests {
    use super::chinese::CHINESE;
    use super::english::AMBIGUOUS_SPEECH;
    use super::english::ENGLISH;
    use super::english::FEMALE;
    use super::english::GIVEN_FEMALE;
    use super::english::SPEECH;
    use super::english::TITLE;

    #[test]
    fn word_lists_contain_common_words() {
        assert!(ENGLISH.is("said", SPEECH) && !ENGLISH.is("said", AMBIGUOUS_SPEECH));
        assert!(ENGLISH.is("mrs", FEMALE) && ENGLISH.is("captain", TITLE));
        assert!(ENGLISH.is("ruth", GIVEN_FEMALE) && ENGLISH.shortens("tom", "thomas"));
        assert!(!ENGLISH.shortens("tom", "theodore"));
        let clause: Vec<char> = "那人說".chars().map(|c| CHINESE.fold(c)).collect();
        assert!(CHINESE.ends_in_speech(&clause));
        assert_eq!(CHINESE.surnames.head(&['欧', '阳', '木']), 2);
    }
}
