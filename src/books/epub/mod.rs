//! Reads an EPUB as plain text: the pages of its spine in order, with the headings of its table of contents.
//!
//! Nothing is written to disk, so paths in the archive cannot escape it. At most [`MAX_BYTES`] are unpacked, whatever
//! sizes the archive claims. Pages that the spine lists but the archive lacks are reported as rejects.

mod archive;
mod nonlinear_pages;
mod opf;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Seek};

use self::archive::{Archive, MOST_LISTING, resolve, too_large};
use self::nonlinear_pages::Aside;
use self::opf::Package;
use super::error::ChunkError;
use super::html;
use super::html::markup::Syntax;
use super::reader::{MAX_BYTES, Parts, Points};
use crate::schema::{Format, Mark, Matter, RejectReason};
use crate::stages::chunk::chapters::boilerplate::{self, reasons};
use crate::stages::chunk::chapters::structure;

/// Reads the text of the archive.
pub(crate) fn read(path: &str, source: &mut (impl BufRead + Seek), hash: String) -> Result<Parts, ChunkError> {
    let mut archive = Archive::open(path, source)?;
    let container = archive.text("META-INF/container.xml", MOST_LISTING)?;
    let root = match container.as_deref().and_then(opf::rootfile) {
        Some(root) => resolve("", &root).0,
        None => archive.only_package().ok_or_else(|| archive.no_epub())?,
    };
    let source = archive.text(&root, MOST_LISTING)?;
    let source = source.ok_or_else(|| archive.broken(format!("it lacks its package document `{root}`")))?;
    let package = opf::package(&source);
    drop(source);
    let pages = spine(&archive, &package, &root);
    refuse_encrypted(path, &mut archive, &pages)?;
    let contents = contents(&mut archive, &package, &root)?;
    let mut binding = Binding::new(&contents);
    for page in &pages {
        let lost = match &page.lost {
            Some(lost) => lost.clone(),
            None => match archive.text(&page.path, MAX_BYTES) {
                Ok(Some(source)) => {
                    binding.add(page, &source);
                    continue;
                }
                Ok(None) => format!("the spine lists `{}`, which is missing from the archive", page.path),
                Err(error @ (ChunkError::Binary { .. } | ChunkError::Undecodable { .. })) => {
                    format!("the spine lists `{}`, which is not a readable page: {error}", page.path)
                }
                Err(error) => return Err(error),
            },
        };
        binding.lack(lost);
    }
    if binding.text.len() as u64 > MAX_BYTES {
        return Err(too_large(path));
    }
    if binding.text.is_empty() {
        return Err(archive.broken("no page of its spine has text".to_owned()));
    }
    Ok(binding.parts(package, &contents, hash))
}

/// A page of the spine.
#[derive(Debug)]
struct Page {
    path: String,
    /// The reject reason that the package gives for it.
    reason: Option<RejectReason>,
    /// The reject reason if it is non-linear and not part of the story.
    aside: Option<RejectReason>,
    /// Why the page cannot be read.
    lost: Option<String>,
}

/// Returns the pages in order, without repeats.
fn spine<R: BufRead + Seek>(archive: &Archive<'_, R>, package: &Package, root: &str) -> Vec<Page> {
    // If several items share an id, the first one has it.
    let items: BTreeMap<&str, &opf::Item> = package.items.iter().rev().map(|item| (item.id.as_str(), item)).collect();
    let guide: BTreeMap<String, RejectReason> =
        // A reference into a page says nothing about the whole page.
        package.guide.iter().filter(|(href, _)| !href.contains('#')).map(|(href, reason)| (resolve(root, href).0, *reason)).collect();
    // A page is identified by its archive entry, or by its name if the archive lacks it.
    let (mut seen, mut lacked) = (BTreeSet::new(), BTreeSet::new());
    let mut pages = Vec::new();
    for (at, (id, linear)) in package.spine.iter().enumerate() {
        let Some(item) = items.get(id.as_str()) else {
            if lacked.insert(id.clone()) {
                let lost = Some(format!("the spine lists the page `{id}`, which is missing from the manifest"));
                pages.push(Page { path: String::new(), reason: None, aside: None, lost });
            }
            continue;
        };
        let path = resolve(root, &item.href).0;
        let first = match archive.find(&path) {
            Some(index) => seen.insert(index),
            None => lacked.insert(path.clone()),
        };
        if first && !item.media_type.starts_with("image/") {
            let reason = guide.get(&path).copied().or_else(|| item.nav.then_some(RejectReason::Contents));
            let place = if at * 2 >= package.spine.len() { reasons::BACK } else { reasons::FRONT };
            pages.push(Page { path, reason, aside: (!linear).then_some(place), lost: None });
        }
    }
    pages
}

/// Returns an error if any page is encrypted. Encrypted fonts do not matter.
fn refuse_encrypted<R: BufRead + Seek>(
    path: &str,
    archive: &mut Archive<'_, R>,
    pages: &[Page],
) -> Result<(), ChunkError> {
    let Some(encryption) = archive.text("META-INF/encryption.xml", MOST_LISTING)? else { return Ok(()) };
    let paths: BTreeSet<String> = opf::encrypted(&encryption).iter().map(|uri| resolve("", uri).0).collect();
    if pages.iter().any(|page| paths.contains(&page.path)) {
        return Err(ChunkError::Protected { path: path.to_owned() });
    }
    Ok(())
}

/// An entry of the table of contents, with its address resolved.
struct Place {
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
) -> Result<Vec<Place>, ChunkError> {
    let nav = package.items.iter().find(|item| item.nav);
    let is_ncx = |item: &&opf::Item| Some(&item.id) == package.ncx.as_ref();
    let typed = |item: &&opf::Item| item.media_type == "application/x-dtbncx+xml";
    let ncx = package.items.iter().find(is_ncx).or_else(|| package.items.iter().find(typed));
    let mut best = Vec::new();
    for item in [nav, ncx].into_iter().flatten() {
        let base = resolve(root, &item.href).0;
        let Some(source) = archive.text(&base, MOST_LISTING)? else { continue };
        let entries = if item.nav { opf::nav(&source) } else { opf::ncx(&source) };
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

/// The text of the pages so far, and the positions in it, in bytes.
struct Binding<'a> {
    text: String,
    /// The start of each page.
    pages: BTreeMap<String, usize>,
    /// The positions of the ids that the table of contents links to.
    ids: BTreeMap<(String, String), usize>,
    wanted: BTreeMap<&'a str, BTreeSet<String>>,
    headings: Vec<html::Heading>,
    matter: Vec<(usize, usize, RejectReason, String)>,
    /// The lengths of the linear story pages.
    lengths: Vec<usize>,
    asides: Vec<Aside>,
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
            lengths: Vec::new(),
            asides: Vec::new(),
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
        if start == end && read.unread {
            let detail = format!("all text of `{}` is in ignored elements such as drawings and buttons", page.path);
            self.matter.push((end, end, RejectReason::EmptyPage, detail));
        }
        let places = std::mem::take(&mut read.places).into_iter();
        self.ids.extend(places.map(|(id, at)| ((page.path.clone(), id), start + at)));
        if let Some(reason) = kind(page, &read) {
            if start < end {
                self.matter.push((start, end, reason, format!("the page `{}`", page.path)));
            }
            return;
        }
        let headings = read.headings.into_iter();
        let headings = headings.map(|heading| html::Heading { start: start + heading.start, ..heading });
        let matter = read.matter.into_iter();
        let matter =
            matter.map(|(from, to, reason)| (start + from, start + to, reason, format!("a part of `{}`", page.path)));
        match page.aside {
            // Whether it belongs to the story is decided once all pages are known.
            Some(reason) if start < end => {
                let (headings, matter) = (headings.collect(), matter.collect());
                self.asides.push(Aside { path: page.path.clone(), start, end, reason, headings, matter });
            }
            _ => {
                self.headings.extend(headings);
                self.matter.extend(matter);
                self.lengths.extend(Some(end - start).filter(|length| *length > 0));
            }
        }
    }

    /// Records that a page is missing.
    fn lack(&mut self, detail: String) {
        let end = self.text.len();
        self.matter.push((end, end, RejectReason::MissingPage, detail));
    }

    /// Decides which non-linear pages belong to the story.
    fn settle(&mut self, contents: &[Place]) {
        if self.asides.is_empty() {
            return;
        }
        let chapter_length = nonlinear_pages::chapter_length(std::mem::take(&mut self.lengths));
        let mut titles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for place in contents {
            titles.entry(&place.path).or_default().push(&place.title);
        }
        for aside in std::mem::take(&mut self.asides) {
            let listed = titles.get(aside.path.as_str()).into_iter().flatten().copied();
            let named = aside.headings.iter().map(|heading| heading.title.as_str()).chain(listed);
            if let Some(why) = nonlinear_pages::kept_out(&self.text[aside.start..aside.end], named, chapter_length) {
                let detail = format!("the page `{}`, which is non-linear and {why}", aside.path);
                self.matter.push((aside.start, aside.end, aside.reason, detail));
            } else {
                self.headings.extend(aside.headings);
                self.matter.extend(aside.matter);
            }
        }
        self.headings.sort_by_key(|heading| heading.start);
        self.matter.sort_by_key(|(start, end, ..)| (*start, *end));
    }

    fn parts(mut self, package: Package, contents: &[Place], hash: String) -> Parts {
        self.settle(contents);
        let mut named: Vec<(usize, u8, &str)> = contents
            .iter()
            .filter_map(|place| {
                let at =
                    self.ids.get(&(place.path.clone(), place.fragment.clone())).or_else(|| self.pages.get(&place.path));
                at.copied().map(|at| (at, place.depth, place.title.as_str()))
            })
            .collect();
        named.sort_by_key(|(at, ..)| *at);
        named.dedup();
        // Headings on boilerplate pages do not count. Pages and their parts are in order.
        let mut matter = self.matter.iter().peekable();
        named.retain(|(at, ..)| {
            while matter.next_if(|(_, end, ..)| end <= at).is_some() {}
            matter.peek().is_none_or(|(start, ..)| at < start)
        });
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
        // The table of contents is preferred, unless it leaves out most of the chapters marked in the pages.
        let by_contents = structure::count(&self.text, &named, &package.title);
        // Each mark makes at most one chapter.
        let most = || tagged.len() <= by_contents * 2;
        let by_tags = || structure::count(&self.text, &tagged, &package.title);
        let marks = if by_contents >= 2 && (most() || by_contents * 2 >= by_tags()) { named } else { tagged };
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let (title, author) = (some(package.title), some(package.author));
        Parts { title, author, marks, matter, ..Parts::new(Format::Epub, self.text, "UTF-8", hash) }
    }
}

/// Returns the reject reason of a page: from the package, its body or its heading.
fn kind(page: &Page, read: &html::Page) -> Option<RejectReason> {
    let whole = || {
        let [(start, end, reason)] = read.matter[..] else { return None };
        (start == 0 && end == read.text.len()).then_some(reason)
    };
    let titled = || {
        let first = read.headings.first().filter(|heading| heading.start < 4).map(|heading| heading.title.as_str());
        first.or(Some(read.title.as_str())).and_then(boilerplate::kind)
    };
    page.reason.or_else(whole).or_else(titled)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::books::reader::read as read_book;
    use crate::stages::chunk::{Params, chapters, chunk};

    const CONTAINER: &str = "<container><rootfiles><rootfile full-path='OEBPS/content.opf'/></rootfiles></container>";

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).expect("a name");
            writer.write_all(bytes).expect("written to memory");
        }
        writer.finish().expect("written to memory").into_inner()
    }

    fn opf(items: &str, spine: &str) -> String {
        format!(
            "<package><metadata><dc:title>Rain</dc:title><dc:creator>A. B.</dc:creator></metadata>\
             <manifest>{items}</manifest><spine toc='ncx'>{spine}</spine></package>"
        )
    }

    fn page(title: &str, words: &str) -> String {
        let prose = format!("<p>{words} it rained on the weir all that night, and nobody slept.</p>").repeat(6);
        format!("<?xml version='1.0'?><html><body><h2>{title}</h2>{prose}</body></html>")
    }

    /// Builds a book of two chapters; `second` is the address of the second page.
    fn book(second: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
        let items = format!("<item id='a' href='a.xhtml'/><item id='b' href='{second}'/>");
        let opf = opf(&items, "<itemref idref='a'/><itemref idref='b'/>");
        let (one, two) = (page("Chapter 1", "Yes,"), page("Chapter 2", "No,"));
        let files = [
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/content.opf", opf.as_bytes()),
            ("OEBPS/a.xhtml", one.as_bytes()),
            ("OEBPS/b c.xhtml", two.as_bytes()),
        ];
        zipped(&[&files[..], more].concat())
    }

    fn error(bytes: &[u8]) -> String {
        let error = read_book("some/rain.epub", bytes, None).expect_err("no book").to_string();
        assert!(error.contains("some/rain.epub"), "{error}");
        error
    }

    #[test]
    fn a_book_is_the_pages_of_its_spine() {
        let book = read_book("some/rain.epub", &book("b%20c.xhtml", &[]), None).expect("reads");
        assert_eq!((book.title.as_str(), book.author.as_deref(), book.slug.as_str()), ("Rain", Some("A. B."), "rain"));
        assert!(
            book.text.starts_with("Chapter 1\n\nYes, it rained") && book.text.contains("slept.\n\nChapter 2\n\nNo,")
        );
        let chapters = chapters(&book);
        let found: Vec<_> = chapters.iter().map(|chapter| (chapter.title.as_str(), chapter.line)).collect();
        assert_eq!(found, [("Chapter 1", None), ("Chapter 2", None)]);
        let (chunks, rejects) = chunk(&book, &chapters, &Params::default());
        assert_eq!((chunks.len(), rejects.len()), (1, 0));
    }

    #[test]
    fn its_own_contents_name_its_chapters() {
        let items = "<item id='n' href='nav.xhtml' properties='nav'/><item id='t' href='text.xhtml'/>";
        let opf = opf(items, "<itemref idref='n'/><itemref idref='t'/>");
        let nav = "<html><body><nav epub:type='toc'><h1>目录</h1><ol><li><a href='text.xhtml#a'>第一回 看灯</a></li>\
                   <li><a href='./text.xhtml#b'>第二回 听雨</a></li></ol></nav></body></html>";
        let prose = "<p>河上无风，水车不动。守夜的人都睡了。</p>".repeat(20);
        let text = format!("<html><body><p id='a'>其一</p>{prose}<p id='b'>其二</p>{prose}</body></html>");
        let bytes = zipped(&[
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/content.opf", opf.as_bytes()),
            ("OEBPS/nav.xhtml", nav.as_bytes()),
            ("OEBPS/text.xhtml", text.as_bytes()),
        ]);
        let book = read_book("灯.epub", &bytes, None).expect("reads");
        let chapters = chapters(&book);
        let found: Vec<_> = chapters.iter().map(|chapter| (chapter.title.as_str(), chapter.number)).collect();
        assert_eq!(found, [("第一回 看灯", Some(1)), ("第二回 听雨", Some(2))]);
        let (chunks, rejects) = chunk(&book, &chapters, &Params::default());
        assert!(chunks[0].text.starts_with("其一"), "{}", chunks[0].text);
        assert_eq!(rejects.iter().map(|reject| reject.reason.name()).collect::<Vec<_>>(), ["contents"]);
    }

    #[test]
    fn a_path_leads_nowhere_but_into_the_archive() {
        // A path above the root resolves to the root, as in a browser.
        let book_of = |second: &str| read_book("rain.epub", &book(second, &[("../secret.xhtml", b"<p>no</p>")]), None);
        let read = book_of("../../OEBPS/./x/../b%20c.xhtml").expect("reads");
        assert!(read.text.contains("No, it rained"));
        let read = book_of("../../../etc/passwd").expect("reads");
        let (chunks, rejects) = chunk(&read, &chapters(&read), &Params::default());
        assert!(chunks[0].text.contains("Yes, it rained") && !read.text.contains("root:"));
        assert_eq!(rejects[0].reason, RejectReason::MissingPage);
        assert!(rejects[0].detail.contains("`etc/passwd`"), "{}", rejects[0].detail);
    }

    #[test]
    fn a_bomb_is_refused_whatever_it_claims() {
        let zeros = vec![b' '; 1 << 20];
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in [
            ("META-INF/container.xml", CONTAINER.to_owned()),
            ("OEBPS/content.opf", opf("<item id='a' href='a.xhtml'/>", "<itemref idref='a'/>")),
        ] {
            writer.start_file(name, SimpleFileOptions::default()).expect("a name");
            writer.write_all(bytes.as_bytes()).expect("written to memory");
        }
        writer.start_file("OEBPS/a.xhtml", SimpleFileOptions::default()).expect("a name");
        for _ in 0..=MAX_BYTES >> 20 {
            writer.write_all(&zeros).expect("written to memory");
        }
        let mut bytes = writer.finish().expect("written to memory").into_inner();
        assert!(bytes.len() < 2 << 20);
        let told = error(&bytes);
        assert!(told.contains("split it"), "{told}");
        // The same, with a claimed size of one byte in both headers.
        let size = u32::try_from((1 + (MAX_BYTES >> 20)) << 20).expect("below 4 GB").to_le_bytes();
        let mut claims = 0;
        for at in 0..bytes.len() - 4 {
            if bytes[at..at + 4] == size {
                bytes[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
                claims += 1;
            }
        }
        assert!(claims >= 1);
        let told = error(&bytes);
        assert!(told.contains("split it") || told.contains("broken"), "{told}");
    }

    #[test]
    fn a_page_that_gives_nothing_is_told() {
        let items = "<item id='a' href='a.xhtml'/><item id='b' href='b.xhtml'/><item id='c' href='c.xhtml'/>";
        let spine = "<itemref idref='lost'/><itemref idref='a'/><itemref idref='b'/><itemref idref='c'/><itemref idref='第二'/>";
        let one = page("Chapter 1", "Yes,");
        let drawn = "<html><body><svg><text>河上无风</text></svg></body></html>";
        let book = read_book(
            "rain.epub",
            &zipped(&[
                ("META-INF/container.xml", CONTAINER.as_bytes()),
                ("OEBPS/content.opf", opf(items, spine).as_bytes()),
                ("OEBPS/a.xhtml", one.as_bytes()),
                ("OEBPS/b.xhtml", drawn.as_bytes()),
                ("OEBPS/c.xhtml", b"<html>\0\0\xff\xfe"),
            ]),
            None,
        );
        let book = book.expect("reads");
        let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
        assert!(chunks[0].text.contains("Yes, it rained"));
        let told: Vec<(&str, &str)> =
            rejects.iter().map(|reject| (reject.reason.name(), reject.detail.as_str())).collect();
        let expected = [
            ("missing_page", "`lost`, which is missing from the manifest"),
            ("empty_page", "`OEBPS/b.xhtml`"),
            ("missing_page", "`OEBPS/c.xhtml`, which is not a readable page"),
            ("missing_page", "`第二`, which is missing from the manifest"),
        ];
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (reason, part) in expected {
            assert!(told.iter().any(|told| told.0 == reason && told.1.contains(part)), "{part}: {told:?}");
        }
    }

    #[test]
    fn a_book_is_not_all_front_matter() {
        let items = "<item id='a' href='a.xhtml'/>";
        for (words, second) in [("Yes,", ""), ("河上无风，", "<itemref idref='lost'/>")] {
            let spine = format!(
                "<itemref idref='a'/>{second}</spine><guide><reference type='cover' href='a.xhtml'/></guide><spine>"
            );
            let opf = opf(items, &spine);
            let one = page("Rain", words);
            let files = [
                ("META-INF/container.xml", CONTAINER.as_bytes()),
                ("OEBPS/content.opf", opf.as_bytes()),
                ("OEBPS/a.xhtml", one.as_bytes()),
            ];
            let book = read_book("rain.epub", &zipped(&files), None).expect("reads");
            let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
            assert!(chunks[0].text.contains(words), "{rejects:?}");
            assert_eq!(rejects.len(), usize::from(!second.is_empty()));
        }
    }

    #[test]
    fn a_page_off_the_main_line_stays_where_it_holds_story() {
        let long = |words: &str| format!("<p>{words}</p>").repeat(60);
        for (head, story, notes, advertisement) in [
            (
                "Chapter ",
                "It rained on the weir all that night.",
                "[1] A weir is a low dam.",
                "Also by A. B.: Low Tide",
            ),
            ("第三回 听雨 ", "河上无风，水车不动，守夜的人都睡了。", "［1］水车：旧时的磨。", "另有佳作，敬请期待。"),
        ] {
            let pages = [
                page(&format!("{head}1"), story),
                format!("<html><body><p>{head}2</p><p>{story} two</p></body></html>"),
                format!("<html><body>{}</body></html>", long(&format!("three {story}"))),
                page(&format!("{head}4"), story),
                format!("<html><body>{}</body></html>", long(notes)),
                format!("<html><body><h1>{advertisement}</h1><nav>x</nav></body></html>"),
            ];
            let of = |part: &dyn Fn(usize) -> String| (0..pages.len()).map(part).collect::<String>();
            let items = of(&|n| format!("<item id='p{n}' href='p{n}.xhtml'/>"));
            let linear = |n| if matches!(n, 0 | 3) { "" } else { " linear='no'" };
            let spine = of(&|n| format!("<itemref idref='p{n}'{}/>", linear(n)));
            let opf = opf(&items, &spine);
            let names: Vec<String> = (0..pages.len()).map(|n| format!("OEBPS/p{n}.xhtml")).collect();
            let mut files =
                vec![("META-INF/container.xml", CONTAINER.as_bytes()), ("OEBPS/content.opf", opf.as_bytes())];
            files.extend(names.iter().zip(&pages).map(|(name, page)| (name.as_str(), page.as_bytes())));
            let book = read_book("rain.epub", &zipped(&files), None).expect("reads");
            let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
            let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            let places = [format!("{head}1"), format!("{head}2"), format!("three {story}"), format!("{head}4")]
                .map(|part| text.find(&part).unwrap_or_else(|| panic!("{part} is lost: {rejects:?}")));
            assert!(places.is_sorted(), "{places:?}");
            assert!(!text.contains(notes) && !text.contains(advertisement), "{text}");
            let told: Vec<(&str, bool, bool)> = rejects
                .iter()
                .map(|reject| {
                    (
                        reject.reason.name(),
                        reject.detail.contains("p4.xhtml`, which is non-linear and contains notes"),
                        reject.detail.contains("p5.xhtml`"),
                    )
                })
                .collect();
            assert_eq!(told, [("back_matter", true, false), ("back_matter", false, true)], "{rejects:?}");
        }
    }

    #[test]
    fn names_that_differ_in_case_alone_are_two_pages() {
        let items = "<item id='a' href='a.xhtml'/><item id='b' href='A.xhtml'/><item id='c' href='B.XHTML'/><item id='d' href='b.xhtml'/>";
        let opf = opf(items, "<itemref idref='a'/><itemref idref='b'/><itemref idref='c'/><itemref idref='d'/>");
        let (one, two, three) = (page("Chapter 1", "One,"), page("Chapter 2", "Two,"), page("Chapter 3", "三，"));
        let files = [
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/content.opf", opf.as_bytes()),
            ("OEBPS/a.xhtml", one.as_bytes()),
            ("OEBPS/A.xhtml", two.as_bytes()),
            ("OEBPS/b.xhtml", three.as_bytes()),
        ];
        let book = read_book("rain.epub", &zipped(&files), None).expect("reads");
        let places: Vec<usize> =
            ["Chapter 1", "Chapter 2", "Chapter 3"].map(|title| book.text.matches(title).count()).into();
        assert_eq!(places, [1, 1, 1]);
    }

    #[test]
    fn a_directory_or_a_listing_beyond_reason_is_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for n in 0..100_001 {
            writer.add_directory(format!("{n:x}"), SimpleFileOptions::default()).expect("a name");
        }
        let told = error(&writer.finish().expect("written to memory").into_inner());
        assert!(told.contains("directory lists more"), "{told}");
        let long = " ".repeat(33_000_000);
        let told = error(&zipped(&[("META-INF/container.xml", long.as_bytes())]));
        assert!(told.contains("only lists pages"), "{told}");
    }

    #[test]
    fn an_archive_is_not_believed_how_many_files_it_has() {
        // The end of a ZIP64 directory that claims 2⁴⁰ files of one byte each.
        let whole = book("b%20c.xhtml", &[]);
        let end = whole.windows(4).rposition(|four| four == b"PK\x05\x06").expect("an end");
        let start = u32::from_le_bytes(whole[end + 16..end + 20].try_into().expect("four bytes"));
        let mut bytes = whole[..end].to_vec();
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44_u64.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [1_u64 << 40, 1 << 40, 46 << 40, u64::from(start)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend((end as u64).to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([0xff; 12]);
        bytes.extend([0, 0]);
        assert!(error(&bytes).contains("broken EPUB"));
    }

    #[test]
    fn what_is_broken_or_no_book_is_told() {
        let whole = book("b%20c.xhtml", &[]);
        assert!(error(&whole[..whole.len() / 2]).contains("broken EPUB"));
        assert!(error(b"PK\x03\x04").contains("broken EPUB"));
        assert!(error(&zipped(&[("word/document.xml", b"<w/>")])).contains("Word"));
        assert!(error(&zipped(&[("a.txt", b"text")])).contains("not an EPUB"));
        assert!(
            error(&zipped(&[("META-INF/container.xml", CONTAINER.as_bytes())])).contains("lacks its package document")
        );
        let opf = opf("<item id='a' href='gone.xhtml'/>", "<itemref idref='a'/>");
        let files = [("META-INF/container.xml", CONTAINER.as_bytes()), ("OEBPS/content.opf", opf.as_bytes())];
        assert!(error(&zipped(&files)).contains("no page of its spine"));
        let locked = "<encryption><enc:CipherReference URI='OEBPS/a.xhtml'/></encryption>";
        assert!(error(&book("b%20c.xhtml", &[("META-INF/encryption.xml", locked.as_bytes())])).contains("DRM"));
        let fonts = "<encryption><enc:CipherReference URI='OEBPS/font.otf'/></encryption>";
        let bytes = book("b%20c.xhtml", &[("META-INF/encryption.xml", fonts.as_bytes())]);
        assert!(read_book("rain.epub", &bytes, None).is_ok());
    }

    #[test]
    fn addresses_are_resolved() {
        for (from, href, path, fragment) in [
            ("OEBPS/toc.ncx", "Text/a%20b.xhtml#x", "OEBPS/Text/a b.xhtml", "x"),
            ("OEBPS/nav.xhtml", "../a.xhtml", "a.xhtml", ""),
            ("nav.xhtml", "/OEBPS/./a.xhtml", "OEBPS/a.xhtml", ""),
            ("OEBPS/nav.xhtml", "#top", "OEBPS/nav.xhtml", "top"),
            ("a/b/c", "../../../../%E6%B2%B3%", "河%", ""),
        ] {
            assert_eq!(resolve(from, href), (path.to_owned(), fragment.to_owned()), "{href}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn a_spoiled_archive_is_read_or_refused(at in 0_usize..2000, bytes in proptest::collection::vec(any::<u8>(), 1..8), cut in 0_usize..2000) {
            let mut book = book("b%20c.xhtml", &[]);
            let at = at % book.len();
            for (place, byte) in (at..book.len()).zip(bytes) {
                book[place] = byte;
            }
            book.truncate(book.len() - cut % 40);
            if let Ok(book) = read_book("rain.epub", &book, None) {
                let _ = chunk(&book, &chapters(&book), &Params::default());
            }
        }
    }
}
