//! The command `select`: further judges for a run that is there.

use super::arguments::SelectArguments;
use super::{Exit, Journey, forecast, travel};
use crate::pipeline::{self, Endpoints, Stage};

/// Has further judges look at a run's replies.
pub(super) fn select(arguments: &SelectArguments) -> Exit {
    let SelectArguments { run, judges, dry_run, options } = arguments;
    let endpoints = if *dry_run { Endpoints::Unneeded } else { Endpoints::Needed };
    let load = |environment: &pipeline::Environment| {
        let (loaded, of_run) =
            pipeline::rejudge(run, options.out.as_deref(), judges, &options.sets, environment, endpoints)?;
        let out = options.out.clone().or_else(|| run.is_dir().then(|| run.clone()));
        Ok(Journey { loaded, out, limit: options.limit.or(of_run), judges: judges.clone() })
    };
    if *dry_run { forecast::rehearse(options, None, load) } else { travel(options, Stage::Export, false, load) }
}
