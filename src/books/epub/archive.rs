//! Reads a zip archive with limits on its directory and contents, whatever sizes it claims. Unpacks into memory only.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _, Seek};

use zip::ZipReadOptions;
use zip::read::{Config, OwnedZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use crate::books::decode;
use crate::books::error::ReadError;
use crate::books::limits::MAX_BYTES;

/// The maximum number of files in an archive. A book has a few hundred.
const MAX_FILES: usize = 100_000;
/// The maximum size of an archive's directory in bytes, including comments.
const MAX_DIRECTORY: u64 = 32_000_000;
/// The maximum size of a document that only lists pages, in bytes.
pub(super) const MAX_LISTING: u64 = 32_000_000;

/// An archive with a limit on the total size unpacked from it.
pub(super) struct Archive<'a, R> {
    path: &'a str,
    source: &'a mut R,
    entries: Vec<OwnedZipFileEntry>,
    /// The index of each entry by name. If a name is repeated, the last entry counts.
    names: BTreeMap<String, usize>,
    /// The index of each entry by lower-case name, since links in some books ignore case.
    folded: BTreeMap<String, usize>,
    remaining_bytes: u64,
}

impl<'a, R: BufRead + Seek> Archive<'a, R> {
    pub(super) fn open(path: &'a str, source: &'a mut R) -> Result<Self, ReadError> {
        let broken = |error: ZipError| ReadError::Epub { path: path.to_owned(), cause: error.to_string() };
        let crowded = || ReadError::Epub {
            path: path.to_owned(),
            cause: format!("its directory lists more files than the limit of {MAX_FILES}"),
        };
        // `ZipArchive` would allocate room for as many files as the archive claims to have.
        let mut zip = ZipIterable::try_new(&mut *source, Config::default()).map_err(broken)?;
        if zip.len() > MAX_FILES {
            return Err(crowded());
        }
        let (mut entries, mut names, mut folded) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut first = None;
        for (index, entry) in zip.files().map_err(broken)?.enumerate() {
            let entry = OwnedZipFileEntry::from(entry.map_err(broken)?);
            let at = entry.central_header_start();
            if at - *first.get_or_insert(at) > MAX_DIRECTORY {
                return Err(crowded());
            }
            if let Ok(name) = entry.name() {
                let name = resolve("", &name).0;
                folded.insert(name.to_lowercase(), index);
                names.insert(name, index);
            }
            entries.push(entry);
        }
        Ok(Self { path, source, entries, names, folded, remaining_bytes: MAX_BYTES })
    }

    pub(super) fn broken(&self, cause: String) -> ReadError {
        ReadError::Epub { path: self.path.to_owned(), cause }
    }

    /// Returns the error for an archive that is not an EPUB.
    pub(super) fn no_epub(&self) -> ReadError {
        let format = if self.names.contains_key("word/document.xml") {
            "a Word document"
        } else if self.names.contains_key("content.xml") {
            "an OpenDocument text"
        } else {
            "a zip archive but not an EPUB"
        };
        ReadError::Format { path: self.path.to_owned(), format }
    }

    /// Returns the path of the package document, if there is exactly one, for archives without a container file.
    pub(super) fn only_package(&self) -> Option<String> {
        let is_package = |name: &&String| name.len() > 4 && name.to_ascii_lowercase().ends_with(".opf");
        let mut packages = self.names.keys().filter(is_package);
        packages.next().filter(|_| packages.next().is_none()).cloned()
    }

    /// Returns the index of an entry by name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).or_else(|| self.folded.get(&name.to_lowercase())).copied()
    }

    /// Unpacks and decodes an entry of at most `max_bytes` bytes. Returns `None` if the archive lacks it.
    pub(super) fn text(&mut self, name: &str, max_bytes: u64) -> Result<Option<String>, ReadError> {
        let Some(index) = self.find(name) else { return Ok(None) };
        let bytes = self.bytes(index, name, max_bytes)?;
        self.remaining_bytes -= bytes.len() as u64;
        let within = format!("{}:{name}", self.path);
        match decode::decode(&within, bytes, None) {
            Ok((text, _)) => Ok(Some(text)),
            // A page with a few bad bytes is still readable; each becomes U+FFFD.
            Err(ReadError::Damaged { .. } | ReadError::Cut { .. }) => {
                let bytes = self.bytes(index, name, MAX_BYTES)?;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
            Err(error) => Err(error),
        }
    }

    fn bytes(&mut self, index: usize, name: &str, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        let path = self.path;
        let protected = || ReadError::Protected { path: path.to_owned() };
        let broken = |cause: String| ReadError::Epub { path: path.to_owned(), cause };
        let unpack_error = |error: String| broken(format!("`{name}` cannot be unpacked: {error}"));
        let bound = max_bytes.min(self.remaining_bytes);
        let entry = self.entries[index].as_ref();
        // The claimed size is enough to reject an entry, but never trusted otherwise.
        let claimed = entry.size();
        let entry = match entry.with_reader(&mut *self.source, ZipReadOptions::new()) {
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(protected()),
            entry => entry.map_err(|error| unpack_error(error.to_string()))?,
        };
        if entry.encrypted() {
            return Err(protected());
        }
        // The preallocation for a claimed size is limited to 1 MiB.
        let mut bytes = Vec::with_capacity(usize::try_from(claimed.min(bound).min(1 << 20)).unwrap_or_default() + 64);
        if claimed <= bound {
            entry.take(bound + 1).read_to_end(&mut bytes).map_err(|error| unpack_error(error.to_string()))?;
        }
        if claimed.max(bytes.len() as u64) <= bound {
            Ok(bytes)
        } else if max_bytes < MAX_BYTES {
            Err(broken(format!("`{name}` only lists pages but has more than {} MB", max_bytes / 1_000_000)))
        } else {
            Err(too_large(path))
        }
    }
}

pub(super) fn too_large(path: &str) -> ReadError {
    let bound = MAX_BYTES / 1_000_000;
    ReadError::TooLarge { path: path.to_owned(), megabytes: bound, bound }
}

/// Resolves a relative address: decodes escapes and removes `.` and `..`, never above the archive's root. Returns path
/// and fragment.
pub(super) fn resolve(from: &str, href: &str) -> (String, String) {
    let (path, fragment) = href.split_once('#').unwrap_or((href, ""));
    let path = unescape(path).replace('\\', "/");
    let folder = if path.starts_with('/') || path.is_empty() {
        ""
    } else {
        from.rsplit_once('/').map_or("", |(folder, _)| folder)
    };
    let mut parts: Vec<&str> = Vec::new();
    let joined = if path.is_empty() { from } else { &path };
    for part in folder.split('/').chain(joined.split('/')) {
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

/// Decodes percent escapes such as `%20`.
fn unescape(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (first, digit(0), digit(1)) {
            bytes.push(u8::try_from(high * 16 + low).expect("two hexadecimal digits fit in a byte"));
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn relative_addresses_are_resolved() {
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
}
