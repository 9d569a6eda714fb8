//! Ctrl-C, and the signal that schedulers send: the first ends the run in order, the second at once.

use std::sync::Arc;

use tokio::sync::watch::Sender;

use super::Exit;
use crate::event::{Event, Reporter};

/// Waits for signals. The first sets `stop`; the second ends the process, which costs the calls in flight and no more.
pub(super) async fn watch(stop: Sender<bool>, reporter: Arc<dyn Reporter>) {
    signal().await;
    stop.send_replace(true);
    let note = "stopping: calls in flight are finished and kept; press Ctrl-C again to stop at once";
    reporter.report(Event::Note(note.to_owned()));
    signal().await;
    std::process::exit(i32::from(Exit::Interrupted as u8));
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Without a handler the signals do what the system makes of them.
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
