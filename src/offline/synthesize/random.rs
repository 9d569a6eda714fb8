//! Random choices of table rows.

use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;

/// Returns the first row that fits, otherwise a random one.
pub(super) fn find<'t, T>(rows: &'t [T], rng: &mut ChaCha8Rng, fits: impl FnMut(&&T) -> bool) -> &'t T {
    // Always draw, so that later draws do not depend on whether a row fits.
    let any = draw(rows, rng);
    rows.iter().find(fits).unwrap_or(any)
}

/// Returns a random row.
pub(super) fn draw<'t, T>(rows: &'t [T], rng: &mut ChaCha8Rng) -> &'t T {
    rows.choose(rng).expect("the embedded tables have no empty lists")
}

/// Returns all rows in random order.
pub(super) fn shuffled<'t, T>(rows: &'t [T], rng: &mut ChaCha8Rng) -> Vec<&'t T> {
    let mut rows: Vec<&T> = rows.iter().collect();
    rows.shuffle(rng);
    rows
}
