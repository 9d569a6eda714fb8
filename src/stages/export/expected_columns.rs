//! The expected columns and types of each config, for validating a data set.

use polars::prelude::DataFrame;

use super::ExportError;
use super::features::{ColumnNote, notes};
use super::groups::TableRow;
use crate::schema::{Character, Conversation, Reject, RoleGeneral, RoleProfile, RoleSpecific, Sample, Scene};

/// The configs of a data set, in the order of the card.
pub const ALL_CONFIGS: [&str; 8] = [
    Sample::CONFIG,
    Conversation::CONFIG,
    Scene::CONFIG,
    Character::CONFIG,
    RoleProfile::CONFIG,
    RoleSpecific::CONFIG,
    RoleGeneral::CONFIG,
    Reject::CONFIG,
];

/// Describes every column of a config; empty if there is no such config.
pub fn column_notes(config: &str) -> Result<Vec<ColumnNote>, ExportError> {
    Ok(expected(config)?.map(|frame| notes(config, &frame)).unwrap_or_default())
}

/// Returns an empty table of a config, or `None` if there is no such config.
pub fn expected(config: &str) -> Result<Option<DataFrame>, ExportError> {
    Ok(Some(match config {
        Sample::CONFIG => Sample::frame(&[])?,
        Conversation::CONFIG => Conversation::frame(&[])?,
        Scene::CONFIG => Scene::frame(&[])?,
        Character::CONFIG => Character::frame(&[])?,
        RoleProfile::CONFIG => RoleProfile::frame(&[])?,
        RoleSpecific::CONFIG => RoleSpecific::frame(&[])?,
        RoleGeneral::CONFIG => RoleGeneral::frame(&[])?,
        Reject::CONFIG => Reject::frame(&[])?,
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::expected;
    use crate::stages::export::fixture::{built, records};

    #[test]
    fn a_table_without_rows_has_the_types_of_one_with_them() {
        for built in built(&records()).unwrap() {
            let empty = expected(built.table.config).unwrap().expect("every config is known");
            assert_eq!(empty.dtypes(), built.frame.dtypes(), "{}", built.table.config);
            assert_eq!(empty.get_column_names(), built.frame.get_column_names());
        }
        assert!(expected("other").unwrap().is_none());
    }
}
