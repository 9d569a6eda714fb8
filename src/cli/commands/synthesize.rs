//! The command `synthesize`: runs a pipeline up to its test characters.

use super::build::run_pipeline;
use crate::cli::args::RunArguments;
use crate::cli::exit::Exit;
use crate::cli::output::diagnostics::FailedCommand;
use crate::schema::Stage;

/// Runs the command.
pub(crate) fn synthesize(arguments: &RunArguments) -> Exit {
    run_pipeline(arguments, false, Stage::Synthesize, FailedCommand::Other)
}
