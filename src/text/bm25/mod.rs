//! BM25 ranking of texts by similarity to a query, for English and Chinese.
//!
//! tantivy stores the index and ranks. It uses k₁ = 1.2 and b = 0.75 ([`K1`], [`B`]) and idf = ln(1 + (N − n + ½) / (n
//! + ½)), which is never negative. Code that compares texts without an index uses the same weights.

mod index;
mod terms;

pub use index::Index;
pub use terms::Terms;

use super::float;

/// The saturation of term frequency.
pub const K1: f64 = 1.2;
/// The strength of length normalisation, 0 to 1.
pub const B: f64 = 0.75;

/// Returns the inverse document frequency of a term that occurs in `with_term` of `texts` texts.
#[must_use]
pub fn idf(texts: usize, with_term: usize) -> f64 {
    (1.0 + (float(texts - with_term) + 0.5) / (float(with_term) + 0.5)).ln()
}
