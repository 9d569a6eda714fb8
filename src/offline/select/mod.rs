//! The offline answer of `select`: a judge that compares two replies by counts.

mod judge;
