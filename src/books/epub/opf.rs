//! Parses the package and contents documents of an EPUB: metadata, reading order, table of contents.
//!
//! Works on unpacked markup. Broken markup is read as far as possible.

use crate::books::html::{Syntax, Tag, Token, kind_of_types, local, one_line, tokens};
use crate::schema::BoilerplateKind;

/// The package document (OPF).
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) title: String,
    pub(super) author: String,
    /// The files of the package.
    pub(super) items: Vec<Item>,
    /// The ids of the pages in reading order, each with whether it is linear.
    pub(super) spine: Vec<(String, bool)>,
    /// The id of the EPUB 2 contents document (NCX).
    pub(super) ncx: Option<String>,
    /// The kinds of pages, by address, from types such as `toc` or `title-page`.
    pub(super) guide: Vec<(String, BoilerplateKind)>,
}

/// A file of the package.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) href: String,
    pub(super) media_type: String,
    pub(super) nav: bool,
}

/// An entry of the table of contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) depth: u8,
    pub(super) title: String,
    /// Empty for an entry without a link.
    pub(super) href: String,
}

/// The maximum number of entries read. No book has a longer table of contents.
const MAX_ENTRIES: usize = 50_000;

/// Returns the path of the package document from `META-INF/container.xml`.
pub(super) fn rootfile(container: &str) -> Option<String> {
    let mut found = None;
    tokens(container, Syntax::Xhtml, |token| {
        if let Token::Start(tag) = token
            && tag.local() == "rootfile"
            && found.is_none()
        {
            found = tag.get("full-path").map(str::to_owned);
        }
    });
    found
}

/// Returns the addresses listed as encrypted in `META-INF/encryption.xml`.
pub(super) fn encrypted(encryption: &str) -> Vec<String> {
    let mut found = Vec::new();
    tokens(encryption, Syntax::Xhtml, |token| {
        if let Token::Start(tag) = token
            && tag.local() == "cipherreference"
        {
            found.extend(tag.get("uri").map(str::to_owned));
        }
    });
    found
}

/// A metadata element whose text is read.
#[derive(Clone, Copy)]
enum Metadata {
    Title,
    Creator,
}

/// Parses a package document.
pub(super) fn package(source: &str) -> Package {
    let mut package = Package::default();
    let mut within: Option<Metadata> = None;
    tokens(source, Syntax::Xhtml, |token| match token {
        Token::Start(tag) => {
            let get = |name| tag.get(name).unwrap_or_default().to_owned();
            match tag.local() {
                "title" if package.title.is_empty() => within = Some(Metadata::Title),
                "creator" if package.author.is_empty() => within = Some(Metadata::Creator),
                "item" => package.items.push(Item {
                    id: get("id"),
                    href: get("href"),
                    media_type: get("media-type"),
                    nav: get("properties").split_whitespace().any(|word| word == "nav"),
                }),
                "spine" => package.ncx = tag.get("toc").map(str::to_owned),
                "itemref" => package.spine.push((get("idref"), get("linear") != "no")),
                "reference" => {
                    if let Some(kind) = guide_kind(&get("type")) {
                        package.guide.push((get("href"), kind));
                    }
                }
                _ => {}
            }
        }
        Token::End(_) => within = None,
        Token::Text(text) => match within {
            Some(Metadata::Title) => package.title.push_str(text),
            Some(Metadata::Creator) => package.author.push_str(text),
            None => {}
        },
    });
    package.title = one_line(&package.title);
    package.author = one_line(&package.author);
    package
}

/// Returns the kind of a page for a type of the guide (EPUB 2) or the landmarks (EPUB 3).
fn guide_kind(name: &str) -> Option<BoilerplateKind> {
    match name.to_ascii_lowercase().as_str() {
        "title-page" => Some(BoilerplateKind::FrontMatter),
        "notes" => Some(BoilerplateKind::BackMatter),
        name => kind_of_types(name),
    }
}

/// Parses the table of contents of EPUB 2 (NCX).
pub(super) fn ncx(source: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut in_map, mut in_label, mut depth) = (false, false, 0_u8);
    let mut full = false;
    tokens(source, Syntax::Xhtml, |token| match token {
        Token::Start(tag) => match tag.local() {
            "navmap" => in_map = !tag.closed,
            "navpoint" if in_map && !tag.closed => {
                depth = depth.saturating_add(1);
                full |= entries.len() >= MAX_ENTRIES;
                if !full {
                    entries.push(Entry { depth, title: String::new(), href: String::new() });
                }
            }
            "navlabel" => in_label = in_map && !full && !tag.closed,
            "content" if in_map && !full => {
                if let Some(entry) = entries.last_mut().filter(|entry| entry.href.is_empty()) {
                    tag.get("src").unwrap_or_default().clone_into(&mut entry.href);
                }
            }
            _ => {}
        },
        Token::End(name) => match local(name) {
            "navmap" => in_map = false,
            "navlabel" => in_label = false,
            "navpoint" => depth = depth.saturating_sub(1),
            _ => {}
        },
        Token::Text(text) => {
            if let Some(entry) = entries.last_mut().filter(|_| in_label) {
                entry.title.push_str(text);
            }
        }
    });
    tidy(entries)
}

/// Parses the table of contents of EPUB 3 (a page with `<nav epub:type="toc">`).
pub(super) fn nav(source: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut in_toc, mut in_entry, mut depth) = (false, false, 0_u8);
    let mut full = false;
    let holds_contents = |tag: &Tag| {
        let types = [tag.get("epub:type"), tag.get("role")];
        types.into_iter().flatten().any(|types| types.split_whitespace().any(|word| matches!(word, "toc" | "doc-toc")))
    };
    tokens(source, Syntax::Xhtml, |token| match token {
        Token::Start(tag) => match tag.local() {
            "nav" => in_toc = holds_contents(tag),
            "ol" | "ul" if in_toc => {
                depth = depth.saturating_add(1);
                in_entry = false;
            }
            name @ ("a" | "span") if in_toc && depth > 0 && !tag.closed => {
                // A span inside a link is part of its text.
                full |= entries.len() >= MAX_ENTRIES;
                if (name == "a" || !in_entry) && !full {
                    let href = tag.get("href").unwrap_or_default().to_owned();
                    entries.push(Entry { depth, title: String::new(), href });
                }
                in_entry = true;
            }
            _ => {}
        },
        Token::End(name) => match local(name) {
            "nav" => in_toc = false,
            "ol" | "ul" => {
                depth = depth.saturating_sub(1);
                in_entry = false;
            }
            "a" | "li" => in_entry = false,
            _ => {}
        },
        Token::Text(text) => {
            if let Some(entry) = entries.last_mut().filter(|_| in_toc && in_entry && !full) {
                entry.title.push_str(text);
            }
        }
    });
    tidy(entries)
}

/// Puts titles on one line. An entry without a link gets the link of the first entry nested in it.
fn tidy(mut entries: Vec<Entry>) -> Vec<Entry> {
    for at in (0..entries.len()).rev() {
        entries[at].title = one_line(&entries[at].title);
        if entries[at].href.is_empty()
            && let Some(next) = entries.get(at + 1).filter(|next| next.depth > entries[at].depth)
        {
            let href = next.href.clone();
            entries[at].href = href;
        }
    }
    entries.retain(|entry| !entry.title.is_empty() && !entry.href.is_empty());
    entries
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries(expected: &[(u8, &str, &str)]) -> Vec<Entry> {
        let of = |(depth, title, href): &(u8, &str, &str)| Entry {
            depth: *depth,
            title: (*title).to_owned(),
            href: (*href).to_owned(),
        };
        expected.iter().map(of).collect()
    }

    #[test]
    fn the_package_document_is_read() {
        let source = "<?xml version='1.0'?><opf:package><opf:metadata><dc:title id='t'>Low\n Tide</dc:title><dc:creator>A. &amp; B.</dc:creator></opf:metadata>\
            <opf:manifest><opf:item id='a' href='a%20b.xhtml' media-type='application/xhtml+xml'/><opf:item id='n' href='nav.xhtml' properties='scripted nav'/></opf:manifest>\
            <opf:spine toc='ncx'><opf:itemref idref='a'/><opf:itemref idref='n' linear='no'/></opf:spine>\
            <opf:guide><opf:reference type='toc' href='nav.xhtml'/><opf:reference type='text' href='a.xhtml'/></opf:guide></opf:package>";
        let package = package(source);
        assert_eq!((package.title.as_str(), package.author.as_str()), ("Low Tide", "A. & B."));
        assert_eq!(
            package.items.iter().map(|item| (item.href.as_str(), item.nav)).collect::<Vec<_>>(),
            [("a%20b.xhtml", false), ("nav.xhtml", true)]
        );
        assert_eq!(package.spine, [("a".to_owned(), true), ("n".to_owned(), false)]);
        assert_eq!(package.guide, [("nav.xhtml".to_owned(), BoilerplateKind::Contents)]);
        assert_eq!(package.ncx.as_deref(), Some("ncx"));
    }

    #[test]
    fn ncx_and_nav_tables_of_contents_are_read() {
        let source = "<ncx><docTitle><text>no</text></docTitle><navMap><navPoint><navLabel><text>PART\nONE</text></navLabel>\
            <content src='p.xhtml'/><navPoint><navLabel><text>第一章</text></navLabel><content src='a.xhtml#x'/></navPoint></navPoint>\
            <navPoint><navLabel><text>End</text></navLabel><content src='e.xhtml'/></navPoint></navMap>\
            <pageList><pageTarget><navLabel><text>1</text></navLabel><content src='a.xhtml'/></pageTarget></pageList></ncx>";
        let expected = [(1, "PART ONE", "p.xhtml"), (2, "第一章", "a.xhtml#x"), (1, "End", "e.xhtml")];
        assert_eq!(ncx(source), entries(&expected));
        let source = "<nav epub:type='landmarks'><ol><li><a href='c.xhtml'>Cover</a></ol></nav><nav epub:type='toc'><h1>Contents</h1>\
            <ol><li><span>PART ONE</span><ol><li><a href='a.xhtml'><span>第一</span><b>章</b></a></li></ol></li><li><a href='e.xhtml'>End</a></ol></nav>";
        let expected = [(1, "PART ONE", "a.xhtml"), (2, "第一章", "a.xhtml"), (1, "End", "e.xhtml")];
        assert_eq!(nav(source), entries(&expected));
    }

    proptest! {
        #[test]
        fn any_markup_is_read(source in "(</?(navmap|navpoint|navlabel|nav|ol|li|a|span|content|item)( (src|href|type|epub:type)='?[a-z.#]{0,5}'?| /)?>?|\\PC{0,3}){0,40}") {
            let _ = (rootfile(&source), encrypted(&source), package(&source));
            for entry in ncx(&source).into_iter().chain(nav(&source)) {
                prop_assert!(!entry.title.is_empty());
            }
        }
    }
}
