//! The work, one folder per stage: each an async function from one input to its records. A stage sees no file and no progress bar.

pub mod chunk;
pub mod export;
pub mod extract;
pub mod select;
pub mod simulate;
pub mod synthesize;

/// The embedded prompt templates of all stages: (name, source).
pub fn prompts() -> impl Iterator<Item = (&'static str, &'static str)> {
    [extract::PROMPTS, synthesize::PROMPTS, simulate::PROMPTS, select::PROMPTS].into_iter().flatten().copied()
}
