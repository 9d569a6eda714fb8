//! Reading pipeline files, running the stages, and operations on finished data sets.
//!
//! Order, concurrency, resume and failures are handled here, once for all stages. This room reads books, pipeline files
//! and character files. It writes no files (`store` does), prints nothing, and reads no environment variables (`cli`
//! reads them and passes them in).

mod about;
mod aliases;
mod audit;
mod blemishes;
mod books;
mod changes;
mod characters;
mod checks;
mod conceal;
mod document;
mod environment;
mod error;
mod examine;
mod file;
mod forecast;
mod forms;
mod init;
mod json;
mod left_out;
mod load;
mod manifest;
mod measured;
mod missing;
mod models;
mod paths;
mod pool;
mod problems;
mod reader;
mod records;
mod rejudge;
mod rights;
mod roles;
mod run;
mod schemas;
mod sense;
mod shape;
mod shelf;
mod splits;
mod stage;
mod status;
mod summary;
mod vetoes;

pub use aliases::{AliasesError, people, read_book};
pub use audit::{Audit, AuditFinding, audit};
pub use books::{BookPath, book_paths, open_books};
pub use changes::{Change, Changes, Moved, RowChanges, changes};
pub use characters::{CharactersError, characters};
pub use environment::Environment;
pub use error::{BookError, Cause, RunError};
pub use examine::{Examined, ExaminedBook, ExaminedModel, ProbedAddress, examine, probe};
pub use file::{BaseUrl, BookPaths, Books, Cast, Member, Members, ModelEntry, PipelineFile, Served, ToldBooks};
pub use forecast::{AskForecast, Basis, Bound, Forecast, ForecastOptions, StageForecast, forecast};
pub use forms::{Forms, forms};
pub use init::init;
pub use left_out::LeftOutChanges;
pub use load::{Endpoints, Loaded, load};
pub use missing::{Missing, MissingAsk, missing};
pub use pool::{AdditionError, Finding, PoolCheck, check_pool, own_scenes, pool_path};
pub use problems::{PipelineError, Problem};
pub use rejudge::{Rejudge, Rejudged, rejudge};
pub use run::{run, runtime};
pub use schemas::schemas;
pub use splits::{Split, SplitDone, SplitError, split};
pub use stage::Stage;
pub use status::{LaneStanding, StageStanding, Standing, State, standing};
pub use summary::{AgreementSummary, AskSummary, Calls, FaultCounts, PerSample, RunOptions, Summary, Tokens};
pub use vetoes::{Edit, Veto, VetoFile, Vetoes};
