//! Columns out of records, with their types written out. Nested columns are made of flat ones and offsets, never of a series
//! per row; which records they come from is not known here.

use polars::prelude::{
    ArrowDataType, ArrowField, BooleanChunked, Column, CompatLevel, Float64Chunked, Int8Chunked, Int32Chunked,
    IntoColumn, IntoSeries, LargeListArray, ListChunked, NewChunkedArray, PlSmallStr, PolarsError, PolarsResult,
    Series, StringChunked, StructChunked,
};

/// Why a column could not be made; the table's name is added where it is known.
#[derive(Debug)]
pub(super) enum ColumnError {
    /// What polars says.
    Polars(PolarsError),
    /// A number that is too large for an int32.
    Number(&'static str, u32),
}

impl From<PolarsError> for ColumnError {
    fn from(error: PolarsError) -> Self {
        Self::Polars(error)
    }
}

/// Makes a string column. `of` may return a string or an optional one.
pub(super) fn text<'a, T, V: Into<Option<&'a str>>>(
    name: &'static str,
    items: &[&'a T],
    of: impl Fn(&'a T) -> V,
) -> Column {
    StringChunked::from_iter_options(name.into(), items.iter().map(|item| of(item).into())).into_column()
}

/// Makes a boolean column.
pub(super) fn flag<'a, T>(name: &'static str, items: &[&'a T], of: impl Fn(&'a T) -> bool) -> Column {
    BooleanChunked::from_iter_values(name.into(), items.iter().map(|item| of(item))).into_column()
}

/// Makes an int32 column. `of` may return a number or an optional one.
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

/// Makes an int8 column of scores, which lie in 1..5. `of` may return a score or an optional one.
pub(super) fn score<'a, T, V: Into<Option<u8>>>(
    name: &'static str,
    items: &[&'a T],
    of: impl Fn(&'a T) -> V,
) -> Column {
    let scores = items.iter().map(|item| of(item).into().and_then(|score| i8::try_from(score).ok()));
    Int8Chunked::from_iter_options(name.into(), scores).into_column()
}

/// Makes a float64 column of shares, which lie in 0..1. `of` may return a share or an optional one.
///
/// Six decimals stay, so that the last bit of a sum, which may differ between processors, never reaches a file. What is
/// not a number becomes null.
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

/// The lists of many rows, end to end: what they hold, and where each begins.
#[derive(Debug)]
pub(super) struct Lists<'a, T> {
    /// What the lists hold, in order.
    pub(super) items: Vec<&'a T>,
    offsets: Vec<i64>,
}

impl<'a, T> Lists<'a, T> {
    /// Lays lists end to end.
    pub(super) fn new(lists: impl Iterator<Item = &'a [T]>) -> Self {
        let (mut items, mut offsets) = (Vec::new(), vec![0]);
        for list in lists {
            items.extend(list);
            offsets.push(i64::try_from(items.len()).expect("a list in memory is shorter than 2⁶³"));
        }
        Self { items, offsets }
    }

    /// Makes a column of lists of structs. `fields` have one value for each of `items`.
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

impl Lists<'_, String> {
    /// Makes a column of lists of strings.
    pub(super) fn strings(self, name: &'static str) -> PolarsResult<Column> {
        let values = StringChunked::from_iter_values(PlSmallStr::EMPTY, self.items.iter());
        self.column(name, &values.into_series())
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnError, Lists, number, share};

    #[test]
    fn shares_keep_six_decimals_and_nothing_else() {
        let shares = [0.1 + 0.2, 2.0 / 3.0, -0.0, f64::NAN, f64::INFINITY];
        let items: Vec<&f64> = shares.iter().collect();
        let column = share("share", &items, |share| *share);
        let column = column.f64().unwrap();
        assert_eq!(column.iter().collect::<Vec<_>>(), [Some(0.3), Some(0.666_667), Some(0.0), None, None]);
        assert!(column.get(2).unwrap().is_sign_positive());
    }

    #[test]
    fn a_number_beyond_int32_is_an_error_and_no_null() {
        let (fits, too_large) = (i32::MAX as u32, i32::MAX as u32 + 1);
        assert_eq!(number("start", &[&fits], |n| *n).unwrap().i32().unwrap().get(0), Some(i32::MAX));
        let error = number("start", &[&fits, &too_large], |n| *n).unwrap_err();
        assert!(matches!(error, ColumnError::Number("start", value) if value == too_large));
    }

    #[test]
    fn lists_lie_end_to_end() {
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
