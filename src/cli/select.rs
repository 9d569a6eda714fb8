//! The command `select`: asks additional judges about the replies of an existing run.

use super::arguments::SelectArguments;
use super::{Exit, Journey, forecast, travel};
use crate::pipeline::{self, Rejudge, Rejudged, Stage};

/// Runs the command.
pub(super) fn select(arguments: &SelectArguments) -> Exit {
    let SelectArguments { run, judges, dry_run, options } = arguments;
    let out = options.out.as_deref();
    let asked = Rejudge { run, out, judges, sets: &options.sets, limit: options.limit, is_asked: !dry_run };
    let load = |environment: &pipeline::Environment| {
        let Rejudged { loaded, folder, limit } = pipeline::rejudge(&asked, environment)?;
        Ok(Journey { loaded, out: Some(folder), limit, judges: judges.clone() })
    };
    if *dry_run { forecast::rehearse(options, None, load) } else { travel(options, Stage::Export, false, load) }
}
