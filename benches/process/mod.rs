//! CPU time and memory of the current process.

/// Converts a count for a division.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) const fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Returns the CPU seconds of this process, user and system; 0 if unknown.
pub(super) fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    to_f64(ticks(11) + ticks(12)) / 100.0
}

/// Returns the peak memory of this process in MiB; 0 if unknown.
pub(super) fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
