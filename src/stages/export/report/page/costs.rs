//! The calls and tokens of each stage and ask.

use serde::Serialize;

use super::limits::NAME;
use crate::schema::Stage;
use crate::stages::export::amounts::{dollars, percent};
use crate::stages::export::report::cost::AskCost;
use crate::stages::export::report::plots::{self, TOKENS};
use crate::stages::export::report::sanitize::line;

#[derive(Debug, Serialize)]
pub(super) struct CostRow {
    label: String,
    model: String,
    calls: u64,
    failed: u64,
    schema_retries: u64,
    prompt: u64,
    cached: String,
    cacheable: String,
    completion: u64,
    usd: String,
}

impl CostRow {
    pub(super) fn new(label: &str, charge: &AskCost) -> Self {
        Self {
            label: line(label, NAME),
            model: line(&charge.model, NAME),
            calls: charge.calls,
            failed: charge.failed,
            schema_retries: charge.schema_retries,
            prompt: charge.prompt,
            cached: percent(charge.cached, charge.prompt),
            cacheable: percent(charge.cacheable, charge.prompt),
            completion: charge.completion,
            usd: dollars(charge.usd),
        }
    }
}

pub(super) fn by_stage(charges: &[AskCost]) -> Vec<CostRow> {
    AskCost::by_stage(charges).iter().map(|(stage, charge)| CostRow::new(stage.name(), charge)).collect()
}

pub(super) fn token_plot(charges: &[AskCost]) -> Option<String> {
    let row = |(stage, charge): &(Stage, AskCost)| {
        let fresh = charge.prompt.saturating_sub(charge.cacheable);
        (stage.name().to_owned(), vec![charge.cacheable, fresh, charge.completion])
    };
    let rows: Vec<(String, Vec<u64>)> = AskCost::by_stage(charges).iter().map(row).collect();
    (!rows.is_empty()).then(|| plots::stacks(&rows, TOKENS, false))
}
