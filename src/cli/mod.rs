//! The command line: the only module that prints, reads the environment and exits.
//!
//! stdout holds the requested output (a summary, or JSON with `--json`), stderr everything else. Every error is printed
//! once, here, with its causes and a hint. Exit codes are documented at [`Exit`].

mod args;
mod commands;
mod dotenv;
mod exit;
mod interrupt;
mod invocation;
mod output;

pub use exit::Exit;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use crate::config::{Environment, PipelineError};
use crate::pipeline::RunError;
use crate::schema::Stage;
use args::{Arguments, Command};
use output::diagnostics::FailedCommand;
use output::progress::{Progress, Style};

/// Parses the command line, runs the command and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Failing to print the message does not change the exit code.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    // The panic hook has already printed the message.
    std::panic::catch_unwind(|| command(arguments.command)).unwrap_or(Exit::Fault).into()
}

fn command(command: Command) -> Exit {
    match command {
        Command::Init { folder } => commands::init::init(&folder),
        Command::Build { run, dry_run: true, latency, .. } => commands::dry_run::forecast(&run, latency),
        Command::Build { run, replay, .. } => {
            commands::build::run_pipeline(&run, replay, Stage::Export, FailedCommand::Other)
        }
        Command::Check { path, probe, sets, json } => commands::check::check(&path, probe, &sets, json),
        Command::Status { run, watch, json, no_estimate } => commands::status::status(&run, watch, json, no_estimate),
        Command::Chunk(chunk) => commands::chunk::chunk(chunk),
        Command::Diff { before, after, json } => commands::diff::diff(&before, &after, json),
        Command::Journal(command) => commands::journal::journal(&command),
        Command::Extract(extract) => commands::extract::extract(extract),
        Command::Synthesize(run) => commands::synthesize::synthesize(&run),
        Command::Simulate(run) => commands::simulate::simulate(&run),
        Command::Select(arguments) => commands::select::select(&arguments),
        Command::Instruct(instruct) => commands::instruct::instruct(instruct),
        Command::Export(arguments) => match arguments.format {
            Some(format) => commands::export::convert(&arguments, format),
            None => commands::build::run_pipeline(&arguments.run, false, Stage::Export, FailedCommand::Export),
        },
        Command::Split(arguments) => commands::split::split_dataset(&arguments),
        Command::Pool(command) => commands::pool::pool(&command),
        Command::Character(command) => commands::character::character(&command),
        Command::Schema { dir, check } => commands::schema::schema(&dir, check),
    }
}

/// Returns the reporter that matches `--quiet` and the terminal.
fn progress(quiet: bool, terminal: &Terminal) -> Arc<Progress> {
    Arc::new(Progress::new(match (quiet, terminal.bars) {
        (true, _) => Style::Quiet,
        (false, true) => Style::Bars { color: terminal.color },
        (false, false) => Style::Lines,
    }))
}

/// Prints why a run or another command failed, and returns its exit code.
fn failed(error: &RunError, terminal: &Terminal, command: FailedCommand) -> Exit {
    if let RunError::Invalid(PipelineError::Invalid { sources, problems })
    | RunError::Aliases(PipelineError::Invalid { sources, problems })
    | RunError::Vetoes(PipelineError::Invalid { sources, problems }) = error
    {
        to_stderr(&output::diagnostics::problems(sources, problems, terminal.color));
    }
    let hint = output::diagnostics::hint(error, command, &invocation::invocation(std::env::args_os(), None));
    to_stderr(&output::diagnostics::chain(error, Some(&hint), terminal.color));
    Exit::from(error)
}

/// Returns the environment variables, or prints why `.env` cannot be read.
fn variables(terminal: &Terminal) -> Result<Environment, Exit> {
    dotenv::environment().map_err(|error| {
        to_stderr(&output::diagnostics::chain(&error, Some("fix or remove `.env`"), terminal.color));
        Exit::Usage
    })
}

/// What stderr supports: progress bars and colors.
struct Terminal {
    bars: bool,
    color: bool,
}

impl Terminal {
    fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let bars = std::io::stderr().is_terminal() && !dumb;
        Self { bars, color: bars && !no_color }
    }
}

/// Writes to stdout; ignores errors, such as a closed pipe (`| head`).
fn to_stdout(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
