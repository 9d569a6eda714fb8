//! The stages, one folder each. A stage is an async function from one input to its records; it reads and writes no file
//! and shows no progress.

pub mod chunk;
pub mod export;
pub mod extract;
pub mod instruct;
pub mod select;
pub mod simulate;
pub mod synthesize;

use serde_json::Value;

use crate::llm::{Ask, schema_of};

/// The embedded prompt templates of all stages: (name, source).
pub fn prompts() -> impl Iterator<Item = (&'static str, &'static str)> {
    [chunk::PROMPTS, extract::PROMPTS, synthesize::PROMPTS, simulate::PROMPTS, select::PROMPTS, instruct::PROMPTS]
        .into_iter()
        .flatten()
        .copied()
}

/// Returns the name of every ask with the schema of its answer, before the ask restricts it to its own values.
#[must_use]
pub fn answers() -> Vec<(&'static str, Value)> {
    vec![
        answer::<chunk::FindBoundary>(),
        answer::<extract::FindScenes>(),
        answer::<extract::RepairLines>(),
        answer::<extract::DescribeScene>(),
        answer::<synthesize::MakeWorld>(),
        answer::<synthesize::MakeCharacters>(),
        answer::<synthesize::FindKnownFigures>(),
        answer::<synthesize::MakeScene>(),
        answer::<synthesize::MakeDialogue>(),
        answer::<synthesize::Review>(),
        answer::<simulate::Direct>(),
        answer::<simulate::SceneReply>(),
        answer::<simulate::TestReply>(),
        answer::<simulate::Rate>(),
        answer::<select::Judge>(),
        answer::<instruct::GradeVoice>(),
        answer::<instruct::DescribeRole>(),
        answer::<instruct::AddressRole>(),
        answer::<instruct::ChooseCatchphrases>(),
        answer::<instruct::AskSegment>(),
        answer::<instruct::AskDescription>(),
        answer::<instruct::PlayRole>(),
    ]
}

fn answer<A: Ask>() -> (&'static str, Value) {
    (A::NAME, schema_of::<A::Answer>())
}
