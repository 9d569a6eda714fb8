//! The table of dimensions: the five of the paper, or a custom one.

use serde::Deserialize;

use crate::schema::{Dimension, Language};

/// The shipped table.
const FURINA: &str = include_str!("dimensions.toml");

/// A file of dimensions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "dimension", deserialize_with = "checked")]
    dimensions: Vec<Dimension>,
}

/// Parses a table of dimensions (`[[dimension]]` in TOML). Without a text, returns the five of the paper (4.1).
///
/// # Errors
///
/// If the TOML is invalid, or the table is empty, has duplicate codes or has empty texts. Errors have a position.
pub fn dimensions(text: Option<&str>) -> Result<Vec<Dimension>, toml::de::Error> {
    toml::from_str::<Table>(text.unwrap_or(FURINA)).map(|table| table.dimensions)
}

fn checked<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Dimension>, D::Error> {
    let mut dimensions = Vec::<Dimension>::deserialize(deserializer)?;
    fault(&dimensions).map_or(Ok(()), |fault| Err(serde::de::Error::custom(fault)))?;
    for dimension in &mut dimensions {
        for text in [&mut dimension.definition, &mut dimension.eliciting, &mut dimension.strategy] {
            text.en = text.en.trim().to_owned();
            text.zh = text.zh.trim().to_owned();
        }
    }
    Ok(dimensions)
}

/// Why a table of dimensions is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum DimensionFault {
    /// The table has no dimensions.
    #[error("the table of dimensions is empty; add at least one `[[dimension]]`")]
    Empty,
    /// A dimension has no code. Dimensions are numbered from 1.
    #[error("dimension {0} has no code")]
    NoCode(usize),
    /// Two dimensions have the same code, ignoring case.
    #[error("two dimensions have the code `{0}`")]
    DuplicateCode(String),
    /// A text of a dimension is empty.
    #[error("`{field}.{language}` of dimension `{code}` is empty")]
    EmptyText {
        /// The field.
        field: &'static str,
        /// The language of the text.
        language: Language,
        /// The dimension's code.
        code: String,
    },
}

fn fault(dimensions: &[Dimension]) -> Option<DimensionFault> {
    if dimensions.is_empty() {
        return Some(DimensionFault::Empty);
    }
    for (index, dimension) in dimensions.iter().enumerate() {
        let code = &dimension.code;
        if code.trim().is_empty() {
            return Some(DimensionFault::NoCode(index + 1));
        }
        if dimensions[..index].iter().any(|other| other.code.eq_ignore_ascii_case(code)) {
            return Some(DimensionFault::DuplicateCode(code.clone()));
        }
        for language in Language::ALL {
            for (field, text) in [
                ("name", &dimension.name),
                ("definition", &dimension.definition),
                ("eliciting", &dimension.eliciting),
                ("strategy", &dimension.strategy),
            ] {
                if text.get(language).trim().is_empty() {
                    return Some(DimensionFault::EmptyText { field, language, code: code.clone() });
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_table_has_the_five_dimensions() {
        let dimensions = dimensions(None).expect("the table is embedded and tested");
        let codes: Vec<_> = dimensions.iter().map(|dimension| dimension.code.as_str()).collect();
        assert_eq!(codes, ["CR", "FR", "RR", "CA", "PA"]);
        for dimension in &dimensions {
            for language in Language::ALL {
                assert!(dimension.eliciting.get(language).contains("{name}"), "{}", dimension.code);
                assert!(!dimension.strategy.get(language).contains('{'), "{}", dimension.code);
                assert!(!dimension.definition.get(language).ends_with('\n'), "{}", dimension.code);
            }
        }
    }

    /// A table that is parsed without checking it.
    #[derive(Deserialize)]
    struct Unchecked {
        dimension: Vec<Dimension>,
    }

    #[test]
    fn an_invalid_dimension_table_is_an_error() {
        let row = |code: &str, strategy: &str| {
            format!(
                "[[dimension]]\ncode = '{code}'\nname = {{ en = 'n', zh = '名' }}\ndefinition = {{ en = 'd', zh = '义' }}\n\
                 eliciting = {{ en = 'e', zh = '引' }}\nstrategy = {{ en = '{strategy}', zh = '策' }}\n"
            )
        };
        assert_eq!(dimensions(Some(&row("X", "s"))).map(|table| table.len()), Ok(1));
        for (text, expected) in [
            ("dimension = []".to_owned(), DimensionFault::Empty),
            (row("X", "s") + &row("x", "s"), DimensionFault::DuplicateCode("x".to_owned())),
            (row(" ", "s"), DimensionFault::NoCode(1)),
            (
                row("X", ""),
                DimensionFault::EmptyText { field: "strategy", language: Language::En, code: "X".to_owned() },
            ),
        ] {
            let unchecked: Unchecked = toml::from_str(&text).expect("the TOML is valid");
            assert_eq!(fault(&unchecked.dimension), Some(expected));
            assert!(dimensions(Some(&text)).is_err(), "{text}");
        }
        for text in [String::new(), row("X", "s") + "colour = 1"] {
            assert!(dimensions(Some(&text)).is_err(), "{text}");
        }
    }
}
