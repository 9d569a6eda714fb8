//! Token counts: exact ones for known tokenizers, estimates for the others.

mod char_class;
mod estimate;
pub(crate) mod prefix_cache;
mod tokenizer;

pub(crate) use estimate::Estimate;

pub use estimate::estimate_tokens;
pub use tokenizer::Tokenizer;
