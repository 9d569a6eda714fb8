//! Builds columns with declared types. Nested columns are built from flat columns and offsets, which avoids one series
//! per row.

use polars::prelude::{
    ArrowDataType, ArrowField, BooleanChunked, Column, CompatLevel, Float64Chunked, Int8Chunked, Int32Chunked,
    IntoColumn, IntoSeries, LargeListArray, ListChunked, NewChunkedArray, PlSmallStr, PolarsError, PolarsResult,
    Series, StringChunked, StructChunked,
};

/// An error while building a column. The caller adds the name of the table.
#[derive(Debug)]
pub(super) enum ColumnError {
    /// An error of polars.
    Polars(PolarsError),
    /// The column, and a number that does not fit an int32.
    Number(&'static str, u32),
}

impl From<PolarsError> for ColumnError {
    fn from(error: PolarsError) -> Self {
        Self::Polars(error)
    }
}

/// Builds a string column. `of` returns a string or an optional one.
pub(super) fn text<'a, T, V: Into<Option<&'a str>>>(
    name: &'static str,
    items: &[&'a T],
    of: impl Fn(&'a T) -> V,
) -> Column {
    StringChunked::from_iter_options(name.into(), items.iter().map(|item| of(item).into())).into_column()
}

/// Builds a boolean column.
pub(super) fn flag<'a, T>(name: &'static str, items: &[&'a T], of: impl Fn(&'a T) -> bool) -> Column {
    BooleanChunked::from_iter_values(name.into(), items.iter().map(|item| of(item))).into_column()
}

/// Builds an int32 column. `of` returns a number or an optional one.
pub(super) fn number<'a, T, V: Into<Option<u32>>>(
    name: &'static str,
    items: &[&'a T],
    of: impl Fn(&'a T) -> V,
) -> Result<Column, ColumnError> {
    let numbers: Vec<Option<i32>> = items
        .iter()
        .map(|item| of(item).into())
        .map(|number| {
            number.map(|number| i32::try_from(number).map_err(|_| ColumnError::Number(name, number))).transpose()
        })
        .collect::<Result<_, _>>()?;
    Ok(Int32Chunked::from_iter_options(name.into(), numbers.into_iter()).into_column())
}

/// Builds an int8 column of scores from 1 to 5. `of` returns a score or an optional one.
pub(super) fn score<'a, T, V: Into<Option<u8>>>(
    name: &'static str,
    items: &[&'a T],
    of: impl Fn(&'a T) -> V,
) -> Column {
    let scores = items.iter().map(|item| of(item).into().and_then(|score| i8::try_from(score).ok()));
    Int8Chunked::from_iter_options(name.into(), scores).into_column()
}

/// Builds a float64 column of shares from 0 to 1. `of` returns a share or an optional one.
///
/// Shares are rounded to six decimals, because the last bit of a sum may differ between processors. Values that are not
/// finite become null.
pub(super) fn share<'a, T, V: Into<Option<f64>>>(
    name: &'static str,
    items: &[&'a T],
    of: impl Fn(&'a T) -> V,
) -> Column {
    // Adding zero turns -0 into 0.
    let rounded = |share: f64| share.is_finite().then(|| (share * 1e6).round() / 1e6 + 0.0);
    Float64Chunked::from_iter_options(name.into(), items.iter().map(|item| of(item).into().and_then(rounded)))
        .into_column()
}

/// The lists of many rows, concatenated, with their offsets.
#[derive(Debug)]
pub(super) struct Lists<'a, T> {
    /// The items of all lists, in order.
    pub(super) items: Vec<&'a T>,
    offsets: Vec<i64>,
}

impl<'a, T> Lists<'a, T> {
    /// Concatenates lists.
    pub(super) fn new(lists: impl Iterator<Item = &'a [T]>) -> Self {
        let (mut items, mut offsets) = (Vec::new(), vec![0]);
        for list in lists {
            items.extend(list);
            offsets.push(i64::try_from(items.len()).expect("a list in memory has fewer than 2⁶³ items"));
        }
        Self { items, offsets }
    }

    /// Builds a column of lists of structs. Each column in `fields` has one value per item.
    pub(super) fn structs(self, name: &'static str, fields: &[Column]) -> PolarsResult<Column> {
        let values = StructChunked::from_columns(PlSmallStr::EMPTY, self.items.len(), fields)?;
        self.column(name, &values.into_series())
    }

    fn column(self, name: &'static str, values: &Series) -> PolarsResult<Column> {
        let values = values.rechunk();
        let item = ArrowField::new("item".into(), values.dtype().to_arrow(CompatLevel::newest()), true);
        let dtype = ArrowDataType::LargeList(Box::new(item));
        let array = LargeListArray::try_new(dtype, self.offsets.try_into()?, values.chunks()[0].clone(), None)?;
        Ok(ListChunked::with_chunk(name.into(), array).into_column())
    }
}

impl<T> Lists<'_, T> {
    /// Builds a column of lists of strings, one string per item.
    pub(super) fn texts(self, name: &'static str, text: impl Fn(&T) -> &str) -> PolarsResult<Column> {
        let values = StringChunked::from_iter_values(PlSmallStr::EMPTY, self.items.iter().map(|item| text(item)));
        self.column(name, &values.into_series())
    }
}

impl Lists<'_, String> {
    /// Builds a column of lists of strings.
    pub(super) fn strings(self, name: &'static str) -> PolarsResult<Column> {
        self.texts(name, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnError, Lists, number, share};

    #[test]
    fn shares_are_rounded_to_six_decimals() {
        let shares = [0.1 + 0.2, 2.0 / 3.0, -0.0, f64::NAN, f64::INFINITY];
        let items: Vec<&f64> = shares.iter().collect();
        let column = share("share", &items, |share| *share);
        let column = column.f64().unwrap();
        assert_eq!(column.iter().collect::<Vec<_>>(), [Some(0.3), Some(0.666_667), Some(0.0), None, None]);
        assert!(column.get(2).unwrap().is_sign_positive());
    }

    #[test]
    fn a_number_beyond_int32_is_an_error() {
        let (fits, too_large) = (i32::MAX as u32, i32::MAX as u32 + 1);
        assert_eq!(number("start", &[&fits], |n| *n).unwrap().i32().unwrap().get(0), Some(i32::MAX));
        let error = number("start", &[&fits, &too_large], |n| *n).unwrap_err();
        assert!(matches!(error, ColumnError::Number("start", value) if value == too_large));
    }

    #[test]
    fn lists_are_stored_contiguously() {
        let lists = [vec!["甲".to_owned(), "b".to_owned()], vec![], vec!["丙".to_owned()]];
        let column = Lists::new(lists.iter().map(Vec::as_slice)).strings("lines").unwrap();
        let column = column.list().unwrap();
        let read: Vec<Vec<String>> = (0..3)
            .map(|row| {
                let list = column.get_as_series(row).unwrap();
                list.str().unwrap().iter().map(|line| line.unwrap().to_owned()).collect()
            })
            .collect();
        assert_eq!(read, lists);
    }
}
