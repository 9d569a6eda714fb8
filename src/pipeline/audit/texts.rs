//! What no text of a data set should hold: keys and passwords, and signs of a wrong encoding.

use super::Group;
use super::places::Findings;
use crate::pipeline::blemishes::of_text;

/// Looks at every text of a group, those within lists and structs too; the cores share the rows.
pub(super) fn check(group: &Group<'_>, findings: &mut Findings) {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(group.height.div_ceil(64));
    let portion = group.height.div_ceil(threads.max(1)).max(1);
    let portions: Vec<_> = (0..group.height).step_by(portion).collect();
    let found = std::thread::scope(|scope| {
        let look = |start: usize| move || rows(group, start..group.height.min(start + portion));
        let running: Vec<_> = portions.iter().map(|start| scope.spawn(look(*start))).collect();
        running
            .into_iter()
            .flat_map(|thread| thread.join().expect("looking at texts does not panic"))
            .collect::<Vec<_>>()
    });
    for (row, path, check, message) in found {
        let remedy = match check {
            "secret" => {
                "take it out of the book, the prompt or the reply that it comes from, make the key void, and build again"
            }
            _ => {
                "give the book in another encoding (`dramaturg chunk BOOK --encoding`), or mend the text, and build again"
            }
        };
        findings.add(group.spot(check, row, &path), &message, remedy);
    }
}

type Found = (usize, String, &'static str, String);

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
