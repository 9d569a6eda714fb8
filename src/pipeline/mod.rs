//! Running the stages of a pipeline, and forecasts, status and summary of a run.
//!
//! Order, concurrency, resume and failures are handled here, once for all stages. The pipeline file and the files that
//! it names are read by `config`, and files are written by `store`. This module prints nothing and reads no environment
//! variables.

mod book_source;
mod card_metadata;
mod error;
mod exclusions;
mod forecast;
mod manifest;
mod models;
mod preflight;
mod quote_limits;
pub(crate) mod records;
pub(crate) mod run;
mod status;
mod summary;

pub use error::{Cause, FailedItems, RunError};
pub use forecast::{
    AskForecast, Basis, Bound, Forecast, ForecastOptions, RemainingAsk, RemainingWork, StageForecast, forecast,
    remaining_work,
};
pub use preflight::{Examined, ExaminedBook, ExaminedModel, ProbedAddress, examine, probe};
pub use run::{run, runtime};
pub use status::{LaneStatus, RunStatus, StageStatus, State, read_status};
pub use summary::{AgreementSummary, AskSummary, Calls, FaultCounts, PerSample, RunOptions, Summary, Tokens};
