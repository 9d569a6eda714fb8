//! Reading pipeline files, running the stages, and operations on finished data sets.
//!
//! Order, concurrency, resume and failures are handled here, once for all stages. This room reads books, pipeline files
//! and character files. It writes no files (`store` does), prints nothing, and reads no environment variables (`cli`
//! reads them and passes them in).

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
