//! BM25: which texts of a set are most like a query, for texts in either script.
//!
//! tantivy keeps the index and ranks. It weighs with k₁ = 1.2 and b = 0.75 ([`K1`], [`B`]) and with idf = ln(1 + (N − n + ½) /
//! (n + ½)), which is never negative, and so does whoever compares texts by these weights without an index. Nothing here
//! knows what the texts are.

mod index;
mod terms;

pub use index::Index;
pub use terms::Terms;

use super::float;

/// How fast further occurrences of a term in a text lose weight.
pub const K1: f64 = 1.2;
/// How much a text's length counts against it, 0 to 1.
pub const B: f64 = 0.75;

/// Returns the weight of a term that stands in some of a set's texts.
#[must_use]
pub fn idf(texts: usize, with_term: usize) -> f64 {
    (1.0 + (float(texts - with_term) + 0.5) / (float(with_term) + 0.5)).ln()
}
