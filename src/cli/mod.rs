//! The command line: the only module that prints, reads the environment and exits.
//!
//! stdout holds the requested output (a summary, or JSON with `--json`), stderr everything else. Every error is printed
//! once, here, with its causes and a hint. Exit codes are documented at [`Exit`].

mod args;
mod commands;
mod environment;
mod exit;
mod interrupt;
mod invocation;
mod output;

pub use exit::Exit;

use crate::config;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use crate::config::{Endpoints, Environment, Loaded, PipelineError};
use crate::event::Reporter;
use crate::pipeline::{self, RunError, RunOptions, Summary};
use crate::schema::Stage;
use args::{Arguments, Command, RunArguments};
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
        Command::Build { run, replay, .. } => runner(&run, replay, Stage::Export),
        Command::Check { path, probe, sets, json } => commands::check::check(&path, probe, &sets, json),
        Command::Status { run, watch, json, no_estimate } => commands::status::status(&run, watch, json, no_estimate),
        Command::Chunk(chunk) => commands::chunk::chunk(chunk),
        Command::Diff { before, after, json } => commands::diff::diff(&before, &after, json),
        Command::Journal(command) => commands::journal::journal(&command),
        Command::Extract(extract) => commands::extract::extract(extract),
        Command::Synthesize(run) => runner(&run, false, Stage::Synthesize),
        Command::Simulate(run) => runner(&run, false, Stage::Simulate),
        Command::Select(arguments) => commands::select::select(&arguments),
        Command::Instruct(instruct) => commands::instruct::instruct(instruct),
        Command::Export(arguments) => match arguments.format {
            Some(format) => commands::export::formats(&arguments, format),
            None => runner(&arguments.run, false, Stage::Export),
        },
        Command::Split(arguments) => commands::split::divide(&arguments),
        Command::Pool(command) => commands::pool::pool(&command),
        Command::Schema { dir, check } => commands::schema::schema(&dir, check),
    }
}

/// Runs the pipeline up to and including a stage and prints the summary.
fn runner(arguments: &RunArguments, replay: bool, until: Stage) -> Exit {
    let endpoints = if replay { Endpoints::Unneeded } else { Endpoints::Needed };
    let options = &arguments.options;
    travel(options, until, replay, |environment| {
        let loaded = config::load(&arguments.pipeline, &options.sets, environment, endpoints)?;
        Ok(Journey { loaded, out: options.out.clone(), limit: options.limit, judges: vec![] })
    })
}

/// A loaded pipeline and the options that do not come from [`arguments::RunOptions`].
struct Journey {
    loaded: Loaded,
    out: Option<PathBuf>,
    limit: Option<u32>,
    /// Additional judges; if not empty, only these are asked.
    judges: Vec<String>,
}

/// Runs a pipeline that `load` returns and prints the summary.
fn travel(
    options: &args::RunOptions,
    until: Stage,
    replay: bool,
    load: impl FnOnce(&Environment) -> Result<Journey, RunError>,
) -> Exit {
    let terminal = Terminal::new();
    let environment = match variables(&terminal) {
        Ok(environment) => environment,
        Err(exit) => return exit,
    };
    let progress = progress(options.quiet, &terminal);
    let writer = progress.writer();
    let filter = environment.get("RUST_LOG").unwrap_or(if options.quiet { "error" } else { "warn" });
    // Keeps a subscriber that is already installed, as in tests.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(terminal.color)
        .with_writer(move || writer.clone())
        .try_init();

    let result = load(&environment).and_then(|Journey { loaded, out, limit, judges }| {
        let (sender, stop) = watch::channel(false);
        run(loaded, RunOptions { out, limit, replay, judges, until, stop }, &progress, sender)
    });
    progress.clear();
    match &result {
        Ok(left) => tell(left, options, until),
        Err(RunError::Failures { summary: left, .. }) => tell(left, options, until),
        Err(_) => {}
    }
    let Err(error) = result else { return Exit::Done };
    failed(&error, &terminal)
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
fn failed(error: &RunError, terminal: &Terminal) -> Exit {
    if let RunError::Invalid(PipelineError::Invalid { sources, problems })
    | RunError::Aliases(PipelineError::Invalid { sources, problems })
    | RunError::Vetoes(PipelineError::Invalid { sources, problems }) = error
    {
        to_stderr(&output::diagnostics::problems(sources, problems, terminal.color));
    }
    let hint = output::diagnostics::hint(error, &invocation::invocation(std::env::args_os(), None));
    to_stderr(&output::diagnostics::chain(error, Some(&hint), terminal.color));
    Exit::from(error)
}

/// Returns the environment variables, or prints why `.env` cannot be read.
fn variables(terminal: &Terminal) -> Result<Environment, Exit> {
    environment::environment().map_err(|error| {
        to_stderr(&output::diagnostics::chain(&error, Some("fix or remove `.env`"), terminal.color));
        Exit::Usage
    })
}

/// Runs the pipeline on all cores until it finishes or is interrupted.
fn run(
    loaded: Loaded,
    options: RunOptions,
    progress: &Arc<Progress>,
    stop: watch::Sender<bool>,
) -> Result<Summary, RunError> {
    let runtime = pipeline::runtime().map_err(RunError::Start)?;
    let reporter: Arc<dyn Reporter> = Arc::<Progress>::clone(progress);
    runtime.block_on(async {
        let watch = tokio::spawn(interrupt::watch(stop, Arc::clone(&reporter)));
        let result = pipeline::run(loaded, options, reporter).await;
        watch.abort();
        result
    })
}

/// Prints the summary of a run.
fn tell(left: &Summary, options: &args::RunOptions, until: Stage) {
    if options.json {
        let json = serde_json::to_string(left).expect("a summary serializes to JSON");
        to_stdout(&format!("{json}\n"));
    } else if !options.quiet {
        let following = Stage::OF_RUN.into_iter().find(|stage| *stage > until);
        to_stdout(&output::summary::summary(
            left,
            &invocation::invocation(std::env::args_os(), following.map(Stage::name)),
        ));
    }
}

/// What stderr supports: progress bars and colors.
struct Terminal {
    bars: bool,
    color: bool,
}

impl Terminal {
    fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let bars = std::io::stderr().is_terminal() && !dumb;
        Self { bars, color: bars && !plain }
    }
}

/// Writes to stdout; ignores errors, such as a closed pipe (`| head`).
fn to_stdout(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
