//! `build --dry-run`: the estimated calls, tokens and cost of a run.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use crate::cli::args::{RunArguments, RunOptions};
use crate::cli::commands::build::LoadedRun;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics::FailedCommand;
use crate::cli::output::table;
use crate::cli::{Terminal, failed, to_stdout, variables};
use crate::config;
use crate::config::{Endpoints, Environment};
use crate::event::Reporter;
use crate::pipeline::{self, AskForecast, Basis, Forecast, ForecastOptions, RunError};
use crate::schema::Stage;
use crate::stages::export::{dollars, percent, thousands};

/// Dry-runs a pipeline and prints the forecast.
pub(crate) fn forecast(arguments: &RunArguments, latency: Option<Duration>) -> Exit {
    let options = &arguments.options;
    dry_run(options, latency, FailedCommand::Other, |environment| {
        let loaded = config::load(&arguments.pipeline, &options.sets, environment, Endpoints::Unneeded)?;
        Ok(LoadedRun { loaded, out: options.out.clone(), limit: options.limit, judges: vec![] })
    })
}

/// Dry-runs a pipeline that `load` returns and prints the forecast.
pub(crate) fn dry_run(
    options: &RunOptions,
    latency: Option<Duration>,
    command: FailedCommand,
    load: impl FnOnce(&Environment) -> Result<LoadedRun, RunError>,
) -> Exit {
    let terminal = Terminal::new();
    let environment = match variables(&terminal) {
        Ok(environment) => environment,
        Err(exit) => return exit,
    };
    let progress = crate::cli::progress(options.quiet, &terminal);
    let reporter: Arc<dyn Reporter> = Arc::<crate::cli::Progress>::clone(&progress);
    let result = load(&environment).and_then(|LoadedRun { loaded, out, limit, judges }| {
        pipeline::forecast(loaded, &ForecastOptions { out, limit, judges, latency }, reporter)
    });
    progress.clear();
    match result {
        Ok(forecast) if options.json => {
            to_stdout(&format!("{}\n", serde_json::to_string(&forecast).expect("a forecast serializes to JSON")));
            Exit::Done
        }
        Ok(forecast) => {
            to_stdout(&text(&forecast));
            Exit::Done
        }
        Err(error) => failed(&error, &terminal, command),
    }
}

/// Formats a forecast: a table by ask, and totals below it.
fn text(forecast: &Forecast) -> String {
    let heads = ["stage", "ask", "model", "calls", "paid", "prompt", "cacheable", "output", "cost"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(forecast.asks.iter().map(row));
    rows.push(row(&AskForecast { ask: String::new(), ..forecast.total.clone() }));
    let mut text = table::table(&rows, 3);
    let mut line = |name: &str, words: String| {
        let _ = writeln!(text, "{name:>10}  {words}");
    };
    let total = &forecast.total;
    let cached = match (total.usd, total.usd_cached) {
        (Some(usd), Some(cached)) if cached < usd => {
            format!("; {} if all cacheable tokens are read from a cache", dollars(Some(cached)))
        }
        _ => String::new(),
    };
    let unknown = if total.usd.is_none() { ": set `price` for every served model" } else { "" };
    line("cost", format!("{}{unknown}{cached}", dollars(total.usd)));
    if total.paid > 0 {
        line("paid", format!("{} calls in the journal, {}", thousands(total.paid), dollars(forecast.paid_usd)));
    }
    let stages: Vec<String> =
        forecast.stages.iter().map(|stage| format!("{} {}", stage.stage, time(stage.wall_s))).collect();
    line("time", format!("{}: {}", time(forecast.wall_s), stages.join(", ")));
    line(
        "latency",
        match forecast.latency_s {
            Some(seconds) => format!("{seconds} s per call to a served model (`--latency SECONDS`)"),
            None => "from the journal if it has five calls of an ask, else 3 s (`--latency SECONDS`)".to_owned(),
        },
    );
    line(
        "output",
        match total.basis {
            Basis::Offline => "length of the offline engine's replies".to_owned(),
            Basis::Measured => "from the journal".to_owned(),
            Basis::Assumed => {
                "figures marked ~ are assumptions; a run with `--limit 1` replaces them by measurements".to_owned()
            }
        },
    );
    let roles = ["roles", "role_specific", "role_general"];
    // Role data is listed only if there is any.
    let roles = roles.iter().filter(|config| forecast.rows.get(**config).is_some_and(|rows| *rows > 0));
    let made: Vec<String> = ["scenes", "characters", "conversations", "samples"]
        .iter()
        .chain(roles)
        .map(|config| format!("{} {config}", thousands(forecast.rows.get(config).copied().unwrap_or_default())))
        .collect();
    line("rows", format!("about {}", made.join(", ")));
    for bound in &forecast.budget {
        let expected = bound.expected.map_or_else(|| "unknown".to_owned(), format_limit);
        let reached = if bound.reached { ": the run would stop at this limit" } else { "" };
        line("budget", format!("{} = {}, expected {expected}{reached}", bound.key, format_limit(bound.max)));
    }
    text
}

fn row(ask: &AskForecast) -> Vec<String> {
    let assumed = if ask.basis == Basis::Assumed && ask.calls > 0 { "~" } else { "" };
    vec![
        ask.stage.map_or("all", Stage::name).to_owned(),
        ask.ask.clone(),
        visible(&ask.model).into_owned(),
        thousands(ask.calls),
        thousands(ask.paid),
        thousands(ask.prompt),
        format!("{} ({})", thousands(ask.cacheable), percent(ask.cacheable, ask.prompt)),
        format!("{assumed}{}", thousands(ask.completion)),
        dollars(ask.usd),
    ]
}

/// Formats a limit: integers without decimals, money with cents.
fn format_limit(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

/// Formats a duration in seconds, minutes or hours.
pub(crate) fn time(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.0} s");
    }
    if seconds < 600.0 {
        return format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), (seconds % 60.0).floor());
    }
    let minutes = (seconds / 60.0).round();
    if minutes < 60.0 {
        format!("{minutes:.0} min")
    } else {
        format!("{:.0} h {:.0} min", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::pipeline::{Bound, StageForecast};

    #[test]
    fn a_forecast_is_a_table_with_totals() {
        let ask = AskForecast {
            stage: Some(Stage::Simulate),
            ask: "simulate/direct".to_owned(),
            model: "作者".to_owned(),
            calls: 1200,
            paid: 30,
            prompt: 1_000_000,
            cacheable: 750_000,
            completion: 60_000,
            usd: Some(1.5),
            usd_cached: Some(0.75),
            basis: Basis::Assumed,
        };
        let free = AskForecast {
            ask: "extract/scenes".to_owned(),
            stage: Some(Stage::Extract),
            model: "offline".to_owned(),
            basis: Basis::Offline,
            usd: Some(0.0),
            ..ask.clone()
        };
        let total = AskForecast { stage: None, ask: "all".to_owned(), model: String::new(), ..ask.clone() };
        let forecast = Forecast {
            run: "outputs/demo".into(),
            latency_s: Some(3.0),
            asks: vec![free, ask],
            total,
            paid_usd: Some(0.25),
            stages: vec![StageForecast { stage: Stage::Simulate, calls: 1200, wall_s: 4000.0 }],
            wall_s: 4000.0,
            rows: BTreeMap::from([("scenes", 22), ("samples", 40)]),
            budget: vec![Bound { key: "max_usd", max: 1.0, expected: Some(1.75), reached: true }],
        };
        insta::assert_snapshot!(text(&forecast), @r"
        stage     ask              model    calls  paid     prompt       cacheable   output   cost
        extract   extract/scenes   offline  1,200    30  1,000,000  750,000 (75 %)   60,000  $0.00
        simulate  simulate/direct  作者     1,200    30  1,000,000  750,000 (75 %)  ~60,000  $1.50
        all                                 1,200    30  1,000,000  750,000 (75 %)  ~60,000  $1.50
              cost  $1.50; $0.75 if all cacheable tokens are read from a cache
              paid  30 calls in the journal, $0.25
              time  1 h 7 min: simulate 1 h 7 min
           latency  3 s per call to a served model (`--latency SECONDS`)
            output  figures marked ~ are assumptions; a run with `--limit 1` replaces them by measurements
              rows  about 22 scenes, 0 characters, 0 conversations, 40 samples
            budget  max_usd = 1, expected 1.75: the run would stop at this limit
        ");
        assert_eq!([time(4.4), time(131.7), time(620.0), time(3599.0)], ["4 s", "2 min 11 s", "10 min", "1 h 0 min"]);
    }
}
