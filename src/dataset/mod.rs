//! Operations on a finished data set: validate, split, compare, convert, add judges.

mod add_judges;
pub(crate) mod card_update;
mod convert;
mod diff;
mod error;
mod pool;
mod rejects_diff;
pub mod split;
mod text_checks;
mod validate;

pub use add_judges::{AddJudges, RunToJudge, add_judges};
pub use card_update::{CardError, CardRows, ConfigSplits, read_card_rows, update_card};
pub use convert::{
    ConfigFrame, FormattedRows, ROLE_CONFIGS, RoleConversion, RoleFormat, TableConversion, TableFormat, convert_tables,
};
pub use diff::{Change, Changes, CountChange, RowChanges, changes};
pub use error::{AddJudgesError, DatasetError};
pub use pool::{AdditionError, PoolCheck, check_pool, pool_path, read_custom_scenes};
pub use rejects_diff::RejectChanges;
pub use split::{SplitError, SplitOptions, SplitOutcome, split_dataset};
pub use validate::{Audit, AuditFinding, Remedy, audit};
