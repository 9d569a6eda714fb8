//! An EPUB becomes plain text: the pages of its spine one after the other, with the headings of its own contents.
//!
//! Nothing is unpacked to the disk, so that a path in it can lead nowhere but into the archive; nothing is unpacked beyond
//! [`MAX_BYTES`], whatever sizes the archive claims; what the spine names and the archive lacks is told, not passed over.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

use super::books::{MAX_BYTES, Parts, Points};
use super::html::{self, Syntax};
use super::matter::{self, reasons};
use super::package::{self, Package};
use super::{ChunkError, decode, structure};
use crate::schema::{Format, Mark, Matter};

/// Reads the archive's text.
pub(super) fn read(path: &str, source: &mut (impl BufRead + Seek), hash: String) -> Result<Parts, ChunkError> {
    let mut archive = Archive::open(path, source)?;
    let container = archive.text("META-INF/container.xml")?;
    let root = match container.as_deref().and_then(package::rootfile) {
        Some(root) => resolve("", &root).0,
        None => archive.only_package().ok_or_else(|| archive.no_epub())?,
    };
    let source = archive.text(&root)?.ok_or_else(|| archive.broken(format!("it lacks its package `{root}`")))?;
    let package = package::package(&source);
    let pages = spine(&package, &root);
    archive.refuse_encrypted(&pages)?;
    let contents = contents(&mut archive, &package, &root)?;
    let mut binding = Binding::new(&contents);
    for page in &pages {
        match archive.text(&page.path)? {
            Some(source) => binding.add(page, &source),
            None => binding.lack(page),
        }
        if binding.text.len() as u64 > MAX_BYTES {
            return Err(too_large(path));
        }
    }
    if binding.text.is_empty() {
        return Err(archive.broken("none of the pages of its spine has text".to_owned()));
    }
    Ok(binding.parts(package, &contents, hash))
}

/// A page of the spine.
#[derive(Debug)]
struct Page {
    path: String,
    /// Why the package says that it is no story.
    reason: Option<&'static str>,
    /// Where it stands when it is off the book's main line.
    aside: Option<&'static str>,
}

/// Returns the pages in order, each once.
fn spine(package: &Package, root: &str) -> Vec<Page> {
    let items: BTreeMap<&str, &package::Item> = package.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let guide: BTreeMap<String, &'static str> =
        package.guide.iter().map(|(href, reason)| (resolve(root, href).0, *reason)).collect();
    let mut seen = BTreeSet::new();
    let mut pages = Vec::new();
    for (id, linear) in &package.spine {
        let Some(item) = items.get(id.as_str()) else { continue };
        let path = resolve(root, &item.href).0;
        let picture = item.media_type.starts_with("image/");
        if !picture && seen.insert(path.clone()) {
            let reason = guide.get(&path).copied().or_else(|| item.nav.then_some("contents"));
            let place = if seen.len() * 2 > package.spine.len() { reasons::BACK } else { reasons::FRONT };
            pages.push(Page { path, reason, aside: (!linear).then_some(place) });
        }
    }
    pages
}

/// An entry of the contents, its address resolved.
struct Place {
    path: String,
    fragment: String,
    depth: u8,
    title: String,
}

/// Reads the contents: those of EPUB 3, where they say anything, else those of EPUB 2.
fn contents<R: BufRead + Seek>(
    archive: &mut Archive<'_, R>,
    package: &Package,
    root: &str,
) -> Result<Vec<Place>, ChunkError> {
    let nav = package.items.iter().find(|item| item.nav);
    let is_ncx = |item: &&package::Item| Some(&item.id) == package.ncx.as_ref();
    let typed = |item: &&package::Item| item.media_type == "application/x-dtbncx+xml";
    let ncx = package.items.iter().find(is_ncx).or_else(|| package.items.iter().find(typed));
    let mut best = Vec::new();
    for item in [nav, ncx].into_iter().flatten() {
        let base = resolve(root, &item.href).0;
        let Some(source) = archive.text(&base)? else { continue };
        let entries = if item.nav { package::nav(&source) } else { package::ncx(&source) };
        let places: Vec<Place> = entries
            .into_iter()
            .map(|entry| {
                let (path, fragment) = resolve(&base, &entry.href);
                Place { path, fragment, depth: entry.depth, title: entry.title }
            })
            .collect();
        if places.len() > best.len() {
            best = places;
        }
        if best.len() >= 2 {
            break;
        }
    }
    Ok(best)
}

/// The text of the pages so far, with what is known of its places. In bytes.
struct Binding<'a> {
    text: String,
    /// Where each page begins.
    pages: BTreeMap<String, usize>,
    /// Where the ids that the contents name stand.
    ids: BTreeMap<(String, String), usize>,
    wanted: BTreeMap<&'a str, BTreeSet<String>>,
    headings: Vec<html::Heading>,
    matter: Vec<(usize, usize, &'static str, String)>,
}

impl<'a> Binding<'a> {
    fn new(contents: &'a [Place]) -> Self {
        let mut wanted: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for place in contents.iter().filter(|place| !place.fragment.is_empty()) {
            wanted.entry(&place.path).or_default().insert(place.fragment.clone());
        }
        Self {
            text: String::new(),
            pages: BTreeMap::new(),
            ids: BTreeMap::new(),
            wanted,
            headings: Vec::new(),
            matter: Vec::new(),
        }
    }

    fn add(&mut self, page: &Page, source: &str) {
        let none = BTreeSet::new();
        let mut read = html::page(source, Syntax::Xhtml, self.wanted.get(page.path.as_str()).unwrap_or(&none));
        if !self.text.is_empty() && !read.text.is_empty() {
            self.text.push_str("\n\n");
        }
        let start = self.text.len();
        self.pages.insert(page.path.clone(), start);
        self.text.push_str(&read.text);
        let end = self.text.len();
        let places = std::mem::take(&mut read.places).into_iter();
        self.ids.extend(places.map(|(id, at)| ((page.path.clone(), id), start + at)));
        if let Some(reason) = kind(page, &read) {
            if start < end {
                self.matter.push((start, end, reason, format!("the page `{}`", page.path)));
            }
            return;
        }
        let headings = read.headings.into_iter();
        self.headings.extend(headings.map(|heading| html::Heading { start: start + heading.start, ..heading }));
        let within = read.matter.into_iter();
        self.matter.extend(
            within.map(|(from, to, reason)| (start + from, start + to, reason, format!("a part of `{}`", page.path))),
        );
    }

    fn lack(&mut self, page: &Page) {
        let end = self.text.len();
        let detail = format!("the spine names `{}`, which is not in the archive", page.path);
        self.matter.push((end, end, "missing_page", detail));
    }

    fn parts(self, package: Package, contents: &[Place], hash: String) -> Parts {
        let mut named: Vec<(usize, u8, &str)> = contents
            .iter()
            .filter_map(|place| {
                let at =
                    self.ids.get(&(place.path.clone(), place.fragment.clone())).or_else(|| self.pages.get(&place.path));
                // What stands on a page that is matter is no heading of the story.
                let outside = |at: &usize| !self.matter.iter().any(|(start, end, ..)| (*start..*end).contains(at));
                at.copied().filter(outside).map(|at| (at, place.depth, place.title.as_str()))
            })
            .collect();
        named.sort_by_key(|(at, ..)| *at);
        named.dedup();
        let mut points = Points::new(&self.text);
        let named =
            named.into_iter().map(|(at, depth, title)| Mark { start: points.at(at), depth, title: title.to_owned() });
        let named: Vec<Mark> = named.collect();
        let mut points = Points::new(&self.text);
        let tagged = self.headings.into_iter();
        let tagged =
            tagged.map(|heading| Mark { start: points.at(heading.start), depth: heading.depth, title: heading.title });
        let tagged: Vec<Mark> = tagged.collect();
        let mut points = Points::new(&self.text);
        let matter = self.matter.into_iter();
        let matter = matter.map(|(start, end, reason, detail)| Matter {
            start: points.at(start),
            end: points.at(end),
            reason,
            detail,
        });
        let matter = matter.collect();
        // The book's own contents know best, unless they leave out most of what its pages mark as chapters.
        let (by_contents, by_tags) = (
            structure::count(&self.text, &named, &package.title),
            structure::count(&self.text, &tagged, &package.title),
        );
        let marks = if by_contents >= 2 && by_contents * 2 >= by_tags { named } else { tagged };
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let (title, author) = (some(package.title), some(package.author));
        Parts { title, author, marks, matter, ..Parts::new(Format::Epub, self.text, "UTF-8", hash) }
    }
}

/// Says why a page is no story: what the package, its own body or its heading says.
fn kind(page: &Page, read: &html::Page) -> Option<&'static str> {
    let whole = || {
        let [(start, end, reason)] = read.matter[..] else { return None };
        (start == 0 && end == read.text.len()).then_some(reason)
    };
    let titled = || {
        let first = read.headings.first().filter(|heading| heading.start < 4).map(|heading| heading.title.as_str());
        first.or(Some(read.title.as_str())).and_then(matter::kind)
    };
    page.reason.or_else(whole).or_else(titled).or(page.aside)
}

/// An archive with a bound on what is unpacked from it.
struct Archive<'a, R> {
    path: &'a str,
    zip: ZipArchive<&'a mut R>,
    /// Entries by their names in lower case, since some books' links do not care.
    names: BTreeMap<String, usize>,
    left: u64,
}

impl<'a, R: BufRead + Seek> Archive<'a, R> {
    fn open(path: &'a str, source: &'a mut R) -> Result<Self, ChunkError> {
        let broken = |error: ZipError| ChunkError::Epub { path: path.to_owned(), cause: error.to_string() };
        source.rewind().map_err(|error| broken(error.into()))?;
        let zip = ZipArchive::new(source).map_err(broken)?;
        let mut names = BTreeMap::new();
        for (index, name) in zip.file_names().enumerate() {
            if let Ok(name) = name {
                names.entry(resolve("", &name).0.to_lowercase()).or_insert(index);
            }
        }
        Ok(Self { path, zip, names, left: MAX_BYTES })
    }

    fn broken(&self, cause: String) -> ChunkError {
        ChunkError::Epub { path: self.path.to_owned(), cause }
    }

    /// Names what the archive is when it is no EPUB.
    fn no_epub(&self) -> ChunkError {
        let format = if self.names.contains_key("word/document.xml") {
            "a Word document"
        } else if self.names.contains_key("content.xml") {
            "an OpenDocument text"
        } else {
            "a zip archive and no EPUB"
        };
        ChunkError::Format { path: self.path.to_owned(), format }
    }

    /// Returns the package document where no container names it and there is only one.
    fn only_package(&self) -> Option<String> {
        let mut packages = self
            .names
            .keys()
            .filter(|name| std::path::Path::new(name).extension().is_some_and(|ending| ending == "opf"));
        packages.next().filter(|_| packages.next().is_none()).cloned()
    }

    /// Refuses a book whose pages are encrypted; that its fonts are is no matter.
    fn refuse_encrypted(&mut self, pages: &[Page]) -> Result<(), ChunkError> {
        let Some(encryption) = self.text("META-INF/encryption.xml")? else { return Ok(()) };
        let paths: BTreeSet<String> = package::encrypted(&encryption).iter().map(|uri| resolve("", uri).0).collect();
        if pages.iter().any(|page| paths.contains(&page.path)) {
            return Err(ChunkError::Protected { path: self.path.to_owned() });
        }
        Ok(())
    }

    /// Unpacks and decodes an entry; nothing when the archive lacks it.
    fn text(&mut self, name: &str) -> Result<Option<String>, ChunkError> {
        let Some(&index) = self.names.get(&name.to_lowercase()) else { return Ok(None) };
        let mut bytes = Vec::new();
        let path = self.path;
        let protected = || ChunkError::Protected { path: path.to_owned() };
        let broken = |error: String| ChunkError::Epub {
            path: path.to_owned(),
            cause: format!("`{name}` cannot be unpacked: {error}"),
        };
        let entry = match self.zip.by_index(index) {
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(protected()),
            entry => entry.map_err(|error| broken(error.to_string()))?,
        };
        if entry.encrypted() {
            return Err(protected());
        }
        // What the archive claims is enough to refuse it, and never enough to believe it.
        let claimed = entry.size();
        if claimed <= self.left {
            entry.take(self.left + 1).read_to_end(&mut bytes).map_err(|error| broken(error.to_string()))?;
        }
        if claimed.max(bytes.len() as u64) > self.left {
            return Err(too_large(path));
        }
        self.left -= bytes.len() as u64;
        let within = format!("{}:{name}", self.path);
        Ok(Some(match decode::decode(&within, Cow::Borrowed(&bytes), None) {
            Ok((text, _)) => text,
            // A page with a few bad bytes is still most of a page; each shows as U+FFFD.
            Err(ChunkError::Damaged { .. }) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => return Err(error),
        }))
    }
}

fn too_large(path: &str) -> ChunkError {
    let bound = MAX_BYTES / 1_000_000;
    ChunkError::TooLarge { path: path.to_owned(), megabytes: bound, bound }
}

/// Resolves an address from a file's folder: escapes decoded, `.` and `..` taken away, never above the archive's root.
/// Returns path and fragment.
fn resolve(from: &str, href: &str) -> (String, String) {
    let (path, fragment) = href.split_once('#').unwrap_or((href, ""));
    let path = unescape(path).replace('\\', "/");
    let folder = if path.starts_with('/') || path.is_empty() {
        ""
    } else {
        from.rsplit_once('/').map_or("", |(folder, _)| folder)
    };
    let mut parts: Vec<&str> = Vec::new();
    let whole = if path.is_empty() { from } else { &path };
    for part in folder.split('/').chain(whole.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    (parts.join("/"), unescape(fragment))
}

/// Decodes `%20` and its like.
fn unescape(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (first, digit(0), digit(1)) {
            bytes.push(u8::try_from(high * 16 + low).expect("two hexadecimal digits are a byte"));
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
