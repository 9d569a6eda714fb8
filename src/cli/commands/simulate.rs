//! The command `simulate`: runs a pipeline up to its conversations.

use super::build::run_pipeline;
use crate::cli::args::RunArguments;
use crate::cli::exit::Exit;
use crate::cli::output::diagnostics::FailedCommand;
use crate::schema::Stage;

/// Runs the command.
pub(crate) fn simulate(arguments: &RunArguments) -> Exit {
    run_pipeline(arguments, false, Stage::Simulate, FailedCommand::Other)
}
