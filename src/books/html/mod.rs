//! HTML and XHTML: pages become plain text with the positions of headings and boilerplate.

mod boilerplate_elements;
mod elements;
mod entities;
mod ignored_elements;
mod markup;
mod page;
mod runs;
mod tags;

pub(super) use boilerplate_elements::kind_of_types;
pub(super) use markup::{Syntax, Token, one_line, tokens};
pub(super) use page::{Page, page};
pub(super) use tags::{Tag, local};
