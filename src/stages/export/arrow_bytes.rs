//! The size of a table in memory, as the card states it.

use polars::prelude::{DataFrame, DataType, Series};

/// The size of rows in memory as `datasets` computes it: Arrow with 32-bit offsets, and one bit per value in columns
/// with nulls. As in `datasets`, the last offset of a column is not counted.
///
/// Computed from the values, so it depends neither on the memory layout of polars nor on how rows are split into
/// frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ArrowBytes(Vec<Part>);

/// A column, or a part of a nested column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Part {
    values: usize,
    bits_each: usize,
    text: usize,
    has_nulls: bool,
}

impl ArrowBytes {
    /// Adds the rows of a frame. All frames must have the same columns.
    pub(super) fn add(&mut self, frame: &DataFrame) {
        let mut at = 0;
        for column in frame.columns() {
            self.add_series(column.as_materialized_series(), &mut at);
        }
    }

    /// Returns the total size in bytes.
    pub(super) fn total(&self) -> usize {
        let bytes = |part: &Part| {
            let nulls = if part.has_nulls { part.values.div_ceil(8) } else { 0 };
            (part.values * part.bits_each).div_ceil(8) + part.text + nulls
        };
        self.0.iter().map(bytes).sum()
    }

    fn add_series(&mut self, series: &Series, at: &mut usize) {
        const OFFSET: usize = 32;
        let typed = "the dtype was matched";
        if self.0.len() == *at {
            self.0.push(Part::default());
        }
        let part = &mut self.0[*at];
        *at += 1;
        part.values += series.len();
        part.has_nulls |= series.null_count() > 0;
        part.bits_each = match series.dtype() {
            DataType::String => {
                part.text += series.str().expect(typed).iter().flatten().map(str::len).sum::<usize>();
                OFFSET
            }
            DataType::Binary => {
                part.text += series.binary().expect(typed).iter().flatten().map(<[u8]>::len).sum::<usize>();
                OFFSET
            }
            DataType::List(_) => OFFSET,
            DataType::Struct(_) | DataType::Array(..) | DataType::Null => 0,
            DataType::Boolean => 1,
            DataType::Int8 | DataType::UInt8 => 8,
            DataType::Int16 | DataType::UInt16 => 16,
            DataType::Int32
            | DataType::UInt32
            | DataType::Float32
            | DataType::Date
            | DataType::Categorical(..)
            | DataType::Enum(..) => 32,
            DataType::Decimal(..) => 128,
            _ => 64,
        };
        match series.dtype() {
            DataType::List(_) => self.add_series(&series.list().expect(typed).get_inner(), at),
            DataType::Array(..) => self.add_series(&series.array().expect(typed).get_inner(), at),
            DataType::Struct(_) => {
                for field in series.struct_().expect(typed).fields_as_series() {
                    self.add_series(&field, at);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::DataFrame;

    use super::ArrowBytes;
    use crate::schema::Character;
    use crate::stages::export::fixture::{Records, built, records};

    #[test]
    fn bytes_are_those_of_arrow() {
        let tables = built(&records()).unwrap();
        let arrow_bytes = |frame: &DataFrame| {
            let mut bytes = ArrowBytes::default();
            bytes.add(frame);
            bytes.total()
        };
        // `rejected`: four columns of three strings, each with an offset, plus the UTF-8 bytes of the strings.
        let strings: usize = records()
            .rejects
            .iter()
            .map(|r| r.stage.name().len() + r.id.len() + r.reason.name().len() + r.detail.len())
            .sum();
        assert_eq!(arrow_bytes(&tables[4].frame), 4 * 3 * 4 + strings);
        // Lists have offsets, and columns with nulls one bit per row.
        let characters = tables[3].frame.select(["book", "lines", "type"]).unwrap();
        let lines = "Am I?".len() + "“The tide was late.”".len();
        let book = 8 + "harbour".len() + 1;
        assert_eq!(arrow_bytes(&characters), book + 8 + 8 + lines + 8 + "establishedsynthesized".len());
    }

    #[test]
    fn the_number_of_frames_does_not_change_the_features() {
        let all = records().characters;
        let characters = |characters: &[Character]| {
            let records = Records { characters: characters.to_vec(), ..Records::default() };
            built(&records).unwrap().remove(0).frame
        };
        let (mut at_once, mut parts) = (ArrowBytes::default(), ArrowBytes::default());
        at_once.add(&characters(&all));
        all.chunks(1).rev().for_each(|character| parts.add(&characters(character)));
        assert_eq!(parts, at_once);
    }
}
