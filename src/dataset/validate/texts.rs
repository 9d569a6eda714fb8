//! Checks all texts for keys and passwords, and for signs of a wrong encoding.

use super::Group;
use super::findings::Findings;
use super::findings::Remedy;
use crate::config::Check;
use crate::dataset::text_checks::of_text;

/// Checks every text of a group, including those in lists and structs, with rows distributed over the cores.
pub(super) fn check(group: &Group<'_>, findings: &mut Findings) {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(group.height.div_ceil(64));
    let portion = group.height.div_ceil(threads.max(1)).max(1);
    let portions: Vec<_> = (0..group.height).step_by(portion).collect();
    let found = std::thread::scope(|scope| {
        let look = |start: usize| move || rows(group, start..group.height.min(start + portion));
        let running: Vec<_> = portions.iter().map(|start| scope.spawn(look(*start))).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("checking texts does not panic")).collect::<Vec<_>>()
    });
    for (row, path, check, message) in found {
        let remedy = match check {
            Check::Secret => Remedy::RemoveSecretFromSource,
            _ => Remedy::SetEncoding,
        };
        findings.add(group.location(check, row, &path), &message, remedy);
    }
}

type Found = (usize, String, Check, String);

fn rows(group: &Group<'_>, rows: std::ops::Range<usize>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut path = String::new();
    for row in rows {
        for (name, cells) in &group.columns {
            path.clear();
            path.push_str(name);
            cells.each_text(row, &mut path, &mut |path, text| {
                found.extend(of_text(text).map(|(check, message)| (row, path.to_owned(), check, message)));
            });
        }
    }
    found
}
