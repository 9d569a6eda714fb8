//! The command `select`: asks additional judges about the replies of an existing run.

use super::dry_run;
use crate::cli::args::SelectArguments;
use crate::cli::commands::build::{LoadedRun, run_loaded};
use crate::cli::exit::Exit;
use crate::cli::output::diagnostics::FailedCommand;
use crate::config;
use crate::dataset;
use crate::dataset::{AddJudges, RunToJudge};
use crate::schema::Stage;

/// Runs the command.
pub(crate) fn select(arguments: &SelectArguments) -> Exit {
    let SelectArguments { run, judges, dry_run, options } = arguments;
    let out = options.out.as_deref();
    let asked = AddJudges { run, out, judges, sets: &options.sets, limit: options.limit, is_asked: !dry_run };
    let load = |environment: &config::Environment| {
        let RunToJudge { loaded, folder, limit } = dataset::add_judges(&asked, environment)?;
        Ok(LoadedRun { loaded, out: Some(folder), limit, judges: judges.clone() })
    };
    if *dry_run {
        dry_run::dry_run(options, None, FailedCommand::Select, load)
    } else {
        run_loaded(options, Stage::Export, false, FailedCommand::Select, load)
    }
}
