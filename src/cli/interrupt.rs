//! Ctrl-C and SIGTERM: the first stops the run gracefully, the second exits at once.

use std::sync::Arc;

use tokio::sync::watch::Sender;

use super::exit::Exit;
use crate::event::{Event, Reporter};

/// Waits for signals. The first sets `stop`; the second exits the process, losing only the calls in flight.
pub(super) async fn watch(stop: Sender<bool>, reporter: Arc<dyn Reporter>) {
    signal().await;
    stop.send_replace(true);
    let note = "stopping: waiting for calls in flight; press Ctrl-C again to exit at once";
    reporter.report(Event::Note(note.to_owned()));
    signal().await;
    std::process::exit(i32::from(Exit::Interrupted as u8));
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Without a handler, the default action of the signals applies.
        return std::future::pending().await;
    };
    tokio::select! {
        result = tokio::signal::ctrl_c() => if result.is_err() { std::future::pending::<()>().await },
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
