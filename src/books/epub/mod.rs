//! Reads an EPUB as plain text: the pages of its spine in order, with their headings and the book's table of contents.
//!
//! Nothing is written to disk, so paths in the archive cannot escape it. At most [`MAX_BYTES`] are unpacked, whatever
//! sizes the archive claims. Pages that the spine lists but the archive lacks are reported as missing passages.

mod archive;
mod opf;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Seek};

use self::archive::{Archive, MAX_LISTING, resolve, too_large};
use self::opf::Package;
use super::error::ReadError;
use super::html::{self, Syntax};
use super::limits::MAX_BYTES;
use super::raw_book::{ContentsEntry, Page, RawBoilerplate, RawBook, RawHeading};
use crate::schema::{BoilerplateKind, Format};

/// Reads the text of the archive.
pub(crate) fn read(path: &str, source: &mut (impl BufRead + Seek), hash: String) -> Result<RawBook, ReadError> {
    let mut archive = Archive::open(path, source)?;
    let container = archive.text("META-INF/container.xml", MAX_LISTING)?;
    let root = match container.as_deref().and_then(opf::rootfile) {
        Some(root) => resolve("", &root).0,
        None => archive.only_package().ok_or_else(|| archive.no_epub())?,
    };
    let source = archive.text(&root, MAX_LISTING)?;
    let source = source.ok_or_else(|| archive.broken(format!("it lacks its package document `{root}`")))?;
    let package = opf::package(&source);
    drop(source);
    let pages = spine(&archive, &package, &root);
    refuse_encrypted(path, &mut archive, &pages)?;
    let contents = contents(&mut archive, &package, &root)?;
    let mut binding = Binding::new(&contents);
    for page in &pages {
        let missing = match &page.unreadable {
            Some(cause) => cause.clone(),
            None => match archive.text(&page.path, MAX_BYTES) {
                Ok(Some(source)) => {
                    binding.add(page, &source);
                    continue;
                }
                Ok(None) => format!("the spine lists `{}`, which is missing from the archive", page.path),
                Err(error @ (ReadError::Binary { .. } | ReadError::Undecodable { .. })) => {
                    format!("the spine lists `{}`, which is not a readable page: {error}", page.path)
                }
                Err(error) => return Err(error),
            },
        };
        binding.add_missing(missing);
    }
    if binding.text.len() as u64 > MAX_BYTES {
        return Err(too_large(path));
    }
    if binding.text.is_empty() {
        return Err(archive.broken("no page of its spine has text".to_owned()));
    }
    Ok(binding.book(path, package, &contents, hash))
}

/// A page of the spine.
#[derive(Debug)]
struct SpinePage {
    path: String,
    /// The kind that the package gives for it.
    kind: Option<BoilerplateKind>,
    /// For a non-linear page: the kind if it is not part of the story.
    nonlinear: Option<BoilerplateKind>,
    /// Why the page cannot be read.
    unreadable: Option<String>,
}

/// Returns the pages in order, without repeats.
fn spine<R: BufRead + Seek>(archive: &Archive<'_, R>, package: &Package, root: &str) -> Vec<SpinePage> {
    // If several items share an id, the first one has it.
    let items: BTreeMap<&str, &opf::Item> = package.items.iter().rev().map(|item| (item.id.as_str(), item)).collect();
    let guide: BTreeMap<String, BoilerplateKind> =
        // A reference into a page says nothing about the whole page.
        package.guide.iter().filter(|(href, _)| !href.contains('#')).map(|(href, kind)| (resolve(root, href).0, *kind)).collect();
    // A page is identified by its archive entry, or by its name if the archive lacks it.
    let (mut listed, mut missing) = (BTreeSet::new(), BTreeSet::new());
    let mut pages = Vec::new();
    for (at, (id, linear)) in package.spine.iter().enumerate() {
        let Some(item) = items.get(id.as_str()) else {
            if missing.insert(id.clone()) {
                let unreadable = Some(format!("the spine lists the page `{id}`, which is missing from the manifest"));
                pages.push(SpinePage { path: String::new(), kind: None, nonlinear: None, unreadable });
            }
            continue;
        };
        let path = resolve(root, &item.href).0;
        let first = match archive.find(&path) {
            Some(index) => listed.insert(index),
            None => missing.insert(path.clone()),
        };
        if first && !item.media_type.starts_with("image/") {
            let kind = guide.get(&path).copied().or_else(|| item.nav.then_some(BoilerplateKind::Contents));
            let in_second_half = at * 2 >= package.spine.len();
            let side = if in_second_half { BoilerplateKind::BackMatter } else { BoilerplateKind::FrontMatter };
            pages.push(SpinePage { path, kind, nonlinear: (!linear).then_some(side), unreadable: None });
        }
    }
    pages
}

/// Returns an error if any page is encrypted. Encrypted fonts do not matter.
fn refuse_encrypted<R: BufRead + Seek>(
    path: &str,
    archive: &mut Archive<'_, R>,
    pages: &[SpinePage],
) -> Result<(), ReadError> {
    let Some(encryption) = archive.text("META-INF/encryption.xml", MAX_LISTING)? else { return Ok(()) };
    let paths: BTreeSet<String> = opf::encrypted(&encryption).iter().map(|uri| resolve("", uri).0).collect();
    if pages.iter().any(|page| paths.contains(&page.path)) {
        return Err(ReadError::Protected { path: path.to_owned() });
    }
    Ok(())
}

/// An entry of the table of contents, with its address resolved.
struct Link {
    path: String,
    fragment: String,
    depth: u8,
    title: String,
}

/// Reads the table of contents: that of EPUB 3 if it has at least two entries, otherwise the longer of that and EPUB
/// 2's.
fn contents<R: BufRead + Seek>(
    archive: &mut Archive<'_, R>,
    package: &Package,
    root: &str,
) -> Result<Vec<Link>, ReadError> {
    let nav = package.items.iter().find(|item| item.nav);
    let is_ncx = |item: &&opf::Item| Some(&item.id) == package.ncx.as_ref();
    let typed = |item: &&opf::Item| item.media_type == "application/x-dtbncx+xml";
    let ncx = package.items.iter().find(is_ncx).or_else(|| package.items.iter().find(typed));
    let mut best = Vec::new();
    for item in [nav, ncx].into_iter().flatten() {
        let base = resolve(root, &item.href).0;
        let Some(source) = archive.text(&base, MAX_LISTING)? else { continue };
        let entries = if item.nav { opf::nav(&source) } else { opf::ncx(&source) };
        let links: Vec<Link> = entries
            .into_iter()
            .map(|entry| {
                let (path, fragment) = resolve(&base, &entry.href);
                Link { path, fragment, depth: entry.depth, title: entry.title }
            })
            .collect();
        if links.len() > best.len() {
            best = links;
        }
        if best.len() >= 2 {
            break;
        }
    }
    Ok(best)
}

/// The text of the pages so far, and the positions in it, in bytes.
struct Binding<'a> {
    text: String,
    /// The start of each page.
    starts: BTreeMap<String, usize>,
    /// The positions of the ids that the table of contents links to.
    ids: BTreeMap<(String, String), usize>,
    requested_ids: BTreeMap<&'a str, BTreeSet<String>>,
    pages: Vec<Page>,
    /// Pages without text.
    missing: Vec<RawBoilerplate>,
}

impl<'a> Binding<'a> {
    fn new(contents: &'a [Link]) -> Self {
        let mut requested_ids: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for link in contents.iter().filter(|link| !link.fragment.is_empty()) {
            requested_ids.entry(&link.path).or_default().insert(link.fragment.clone());
        }
        Self {
            text: String::new(),
            starts: BTreeMap::new(),
            ids: BTreeMap::new(),
            requested_ids,
            pages: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn add(&mut self, page: &SpinePage, source: &str) {
        let none = BTreeSet::new();
        let mut read = html::page(source, Syntax::Xhtml, self.requested_ids.get(page.path.as_str()).unwrap_or(&none));
        if !self.text.is_empty() && !read.text.is_empty() {
            self.text.push_str("\n\n");
        }
        let start = self.text.len();
        self.starts.insert(page.path.clone(), start);
        self.text.push_str(&read.text);
        let end = self.text.len();
        if start == end && read.has_ignored_text {
            let detail = format!("all text of `{}` is in ignored elements such as drawings and buttons", page.path);
            self.missing.push(RawBoilerplate { start: end, end, kind: BoilerplateKind::EmptyPage, detail });
        }
        let positions = std::mem::take(&mut read.anchors).into_iter();
        self.ids.extend(positions.map(|(id, at)| ((page.path.clone(), id), start + at)));
        let kind = page.kind.or_else(|| whole_page_kind(&read));
        let headings = read.headings.into_iter();
        let headings = headings.map(|heading| RawHeading { start: start + heading.start, ..heading });
        let boilerplate = read.boilerplate.into_iter().map(|(from, to, kind)| {
            let detail = format!("a part of `{}`", page.path);
            RawBoilerplate { start: start + from, end: start + to, kind, detail }
        });
        self.pages.push(Page {
            path: page.path.clone(),
            start,
            end,
            title: read.title,
            kind,
            nonlinear: page.nonlinear,
            headings: headings.collect(),
            boilerplate: boilerplate.collect(),
        });
    }

    /// Records that a page is missing.
    fn add_missing(&mut self, detail: String) {
        let end = self.text.len();
        self.missing.push(RawBoilerplate { start: end, end, kind: BoilerplateKind::MissingPage, detail });
    }

    fn book(self, path: &str, package: Package, contents: &[Link], hash: String) -> RawBook {
        let entry = |link: &Link| {
            let id = (link.path.clone(), link.fragment.clone());
            let start = *self.ids.get(&id).or_else(|| self.starts.get(&link.path))?;
            let (title, page) = (link.title.clone(), link.path.clone());
            Some(ContentsEntry { start, depth: link.depth, title, page })
        };
        let mut contents: Vec<ContentsEntry> = contents.iter().filter_map(entry).collect();
        contents.sort_by_key(|entry| entry.start);
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        RawBook {
            title: some(package.title),
            author: some(package.author),
            boilerplate: self.missing,
            pages: self.pages,
            contents,
            ..RawBook::new(path, Format::Epub, self.text, "UTF-8", hash)
        }
    }
}

/// Returns the kind that a page's body gives for all of it.
fn whole_page_kind(read: &html::Page) -> Option<BoilerplateKind> {
    let [(start, end, kind)] = read.boilerplate[..] else { return None };
    (start == 0 && end == read.text.len()).then_some(kind)
}
