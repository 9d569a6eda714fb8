//! Recognises elements whose attributes mark their content as boilerplate.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::tags::Tag;
use crate::schema::BoilerplateKind;

static TYPES: LazyLock<BTreeMap<String, BoilerplateKind>> = LazyLock::new(|| {
    let kinds: BTreeMap<BoilerplateKind, Vec<String>> = embedded_toml!("boilerplate_elements.toml");
    kinds.into_iter().flat_map(|(kind, types)| types.into_iter().map(move |word| (word, kind))).collect()
});

/// Returns the kind of boilerplate that a list of types or classes names, if any.
pub(in crate::books) fn kind_of_types(types: &str) -> Option<BoilerplateKind> {
    types.split_whitespace().find_map(|word| TYPES.get(word).copied())
}

/// Returns the kind of boilerplate that the attributes of an element mark it as, if any. Class names count only if they
/// are specific to transcribers.
pub(super) fn kind_of_element(tag: &Tag) -> Option<BoilerplateKind> {
    let typed = ["epub:type", "role"].into_iter().find_map(|name| tag.get(name).and_then(kind_of_types));
    let classed = || {
        let class = tag.get("class")?;
        class
            .split_whitespace()
            .find(|class| {
                matches!(*class, "pg-boilerplate" | "pgheader" | "pgfooter" | "transnote" | "transcriber-note")
            })
            .and_then(kind_of_types)
    };
    typed.or_else(classed).or_else(|| (tag.name == "nav").then_some(BoilerplateKind::Contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_map_to_boilerplate_kinds() {
        for (types, kind) in [
            ("doc-toc", Some(BoilerplateKind::Contents)),
            ("chapter  titlepage", Some(BoilerplateKind::FrontMatter)),
            ("pgfooter", Some(BoilerplateKind::Licence)),
            ("transnote", Some(BoilerplateKind::TranscriberNote)),
            ("rearnotes", Some(BoilerplateKind::BackMatter)),
            ("lot", Some(BoilerplateKind::Illustrations)),
            ("bodymatter", None),
            ("", None),
        ] {
            assert_eq!(kind_of_types(types), kind, "{types}");
        }
    }
}
