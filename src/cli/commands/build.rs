//! The command `build`, and all commands that run a pipeline up to a stage.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use crate::cli::args::{self, RunArguments};
use crate::cli::exit::Exit;
use crate::cli::output::diagnostics::FailedCommand;
use crate::cli::output::progress::Progress;
use crate::cli::output::summary;
use crate::cli::{Terminal, failed, interrupt, invocation, progress, to_stdout, variables};
use crate::config::{self, Endpoints, Environment, Loaded};
use crate::event::Reporter;
use crate::pipeline::{self, RunError, RunOptions, Summary};
use crate::schema::Stage;

/// Runs the pipeline up to and including a stage and prints the summary.
pub(crate) fn run_pipeline(arguments: &RunArguments, replay: bool, until: Stage, command: FailedCommand) -> Exit {
    let endpoints = if replay { Endpoints::Unneeded } else { Endpoints::Needed };
    let options = &arguments.options;
    run_loaded(options, until, replay, command, |environment| {
        let loaded = config::load(&arguments.pipeline, &options.sets, environment, endpoints)?;
        Ok(LoadedRun { loaded, out: options.out.clone(), limit: options.limit, judges: vec![] })
    })
}

/// A loaded pipeline and the options that do not come from [`args::RunOptions`].
pub(crate) struct LoadedRun {
    pub(crate) loaded: Loaded,
    pub(crate) out: Option<PathBuf>,
    pub(crate) limit: Option<u32>,
    /// Additional judges; if not empty, only these are asked.
    pub(crate) judges: Vec<String>,
}

/// Runs a pipeline that `load` returns and prints the summary.
pub(crate) fn run_loaded(
    options: &args::RunOptions,
    until: Stage,
    replay: bool,
    command: FailedCommand,
    load: impl FnOnce(&Environment) -> Result<LoadedRun, RunError>,
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

    let result = load(&environment).and_then(|LoadedRun { loaded, out, limit, judges }| {
        let (sender, stop) = watch::channel(false);
        run(loaded, RunOptions { out, limit, replay, judges, until, stop }, &progress, sender)
    });
    progress.clear();
    match &result {
        Ok(summary) => print_summary(summary, options, until),
        Err(RunError::Failures { summary, .. }) => print_summary(summary, options, until),
        Err(_) => {}
    }
    let Err(error) = result else { return Exit::Done };
    failed(&error, &terminal, command)
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
fn print_summary(summary: &Summary, options: &args::RunOptions, until: Stage) {
    if options.json {
        let json = serde_json::to_string(summary).expect("a summary serializes to JSON");
        to_stdout(&format!("{json}\n"));
    } else if !options.quiet {
        let following = Stage::OF_RUN.into_iter().find(|stage| *stage > until);
        to_stdout(&summary::summary(summary, &invocation::invocation(std::env::args_os(), following.map(Stage::name))));
    }
}
