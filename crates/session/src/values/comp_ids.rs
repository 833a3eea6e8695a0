//! One side of a session: its CompID, and its SubID and LocationID if these are part of the
//! session's identity.

use core::fmt;
use core::str::FromStr;

use fixbolt_codec::HeaderIds;

/// One side of a session: CompID, SubID and LocationID.
///
/// SubID and LocationID are part of a session's identity only if it has them.
///
/// Displayed as `COMPID`, `COMPID/SUBID`, `COMPID/SUBID/LOCATIONID` or, without a SubID,
/// `COMPID//LOCATIONID`, and parsed from the same form. In an ID, a backslash stands before `/`,
/// `:` and `\`, and before a `>` that follows a `-`, so that no two of them have the same text.
///
/// ```
/// use fixbolt_session::CompIds;
/// let desk: CompIds = "TRADER/DESK".parse().unwrap();
/// assert_eq!(desk, CompIds::new("TRADER").unwrap().with_sub_id("DESK").unwrap());
/// assert_eq!((desk.sub_id(), desk.location_id()), (Some("DESK"), None));
/// assert_eq!("TRADER//NY".parse::<CompIds>().unwrap().location_id(), Some("NY"));
/// assert_eq!(CompIds::new("BROKER/A").unwrap().to_string(), r"BROKER\/A");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CompIds {
    comp_id: Box<str>,
    sub_id: Option<Box<str>>,
    location_id: Option<Box<str>>,
}

/// Maximum length of each ID.
const LONGEST: usize = 64;

/// Returns an ID, if it is one: 1 to 64 bytes of printable ASCII.
pub(crate) fn checked(name: &str, id: &str) -> Result<Box<str>, InvalidSessionId> {
    if id.is_empty() {
        return Err(InvalidSessionId::new(format!("{name} is empty")));
    }
    if id.len() > LONGEST {
        return Err(InvalidSessionId::new(format!("{name} has {} bytes, {LONGEST} at most", id.len())));
    }
    match id.bytes().find(|b| !(0x20..0x7f).contains(b)) {
        Some(bad) => {
            Err(InvalidSessionId::new(format!("{name} holds the byte 0x{bad:02x}; printable ASCII only")))
        }
        None => Ok(id.into()),
    }
}

impl CompIds {
    /// Creates a side that only its CompID identifies.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if the ID is empty, has bytes outside printable ASCII, or is
    /// longer than 64 bytes.
    pub fn new(comp_id: &str) -> Result<Self, InvalidSessionId> {
        Ok(Self { comp_id: checked("CompID", comp_id)?, sub_id: None, location_id: None })
    }

    /// Returns this side with a SubID.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if the ID is empty, has bytes outside printable ASCII, or is
    /// longer than 64 bytes, as [`CompIds::new`] does.
    pub fn with_sub_id(self, sub_id: &str) -> Result<Self, InvalidSessionId> {
        Ok(Self { sub_id: Some(checked("SubID", sub_id)?), ..self })
    }

    /// Returns this side with a LocationID, which FIX.4.0 does not have.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if the ID is empty, has bytes outside printable ASCII, or is
    /// longer than 64 bytes, as [`CompIds::new`] does.
    pub fn with_location_id(self, location_id: &str) -> Result<Self, InvalidSessionId> {
        Ok(Self { location_id: Some(checked("LocationID", location_id)?), ..self })
    }

    /// Returns this side with a SubID and a LocationID, where there are any.
    ///
    /// # Errors
    /// Returns [`InvalidSessionId`] if an ID is empty, has bytes outside printable ASCII, or is
    /// longer than 64 bytes, as [`CompIds::new`] does.
    pub fn with_ids(
        mut self,
        sub_id: Option<&str>,
        location_id: Option<&str>,
    ) -> Result<Self, InvalidSessionId> {
        if let Some(id) = sub_id {
            self = self.with_sub_id(id)?;
        }
        match location_id {
            Some(id) => self.with_location_id(id),
            None => Ok(self),
        }
    }

    /// Returns the CompID.
    #[must_use]
    pub fn comp_id(&self) -> &str {
        &self.comp_id
    }

    /// Returns the SubID, if it is part of the identity.
    #[must_use]
    pub fn sub_id(&self) -> Option<&str> {
        self.sub_id.as_deref()
    }

    /// Returns the LocationID, if it is part of the identity.
    #[must_use]
    pub fn location_id(&self) -> Option<&str> {
        self.location_id.as_deref()
    }

    /// Returns SubID and LocationID.
    pub(crate) fn sub_ids(&self) -> [Option<&str>; 2] {
        [self.sub_id(), self.location_id()]
    }

    /// Returns whether the CompIDs are equal, and so are SubID and LocationID as far as this side
    /// has them: what it does not have may be anything in `named`.
    #[must_use]
    pub fn includes(&self, named: &Self) -> bool {
        self.comp_id == named.comp_id
            && self
                .sub_ids()
                .into_iter()
                .zip(named.sub_ids())
                .all(|(own, named)| own.is_none() || own == named)
    }

    /// Returns the IDs as a header has them.
    pub(crate) fn ids(&self) -> HeaderIds<'_> {
        HeaderIds {
            comp_id: self.comp_id.as_bytes(),
            sub_id: self.sub_id().map(str::as_bytes),
            location_id: self.location_id().map(str::as_bytes),
        }
    }

    /// Returns the IDs of the text form, of which the second one may be empty: in texts, a
    /// LocationID always comes third.
    pub(crate) fn text_ids(&self) -> impl Iterator<Item = &str> {
        let count = match self.sub_ids() {
            [_, Some(_)] => 3,
            [Some(_), None] => 2,
            [None, None] => 1,
        };
        let [sub_id, location_id] = self.sub_ids().map(Option::unwrap_or_default);
        [self.comp_id(), sub_id, location_id].into_iter().take(count)
    }

    /// Returns the side whose [`CompIds::text_ids`] these are.
    pub(crate) fn of_text_ids<T: AsRef<str>>(ids: &[T]) -> Result<Self, InvalidSessionId> {
        let id = |n: usize| ids.get(n).map(AsRef::as_ref);
        let sub_id = id(1).filter(|id| !id.is_empty() || ids.len() == 2);
        Self::new(id(0).unwrap_or_default())?.with_ids(sub_id, id(2))
    }

    /// Returns the IDs in a text, or `None` if it does not have that form.
    pub(crate) fn text_ids_in(text: &str) -> Option<Vec<String>> {
        let (mut ids, mut rest) = (Vec::new(), text);
        while let Some((id, after)) = split_once(rest, "/") {
            ids.push(unescaped(id)?);
            rest = after;
        }
        ids.push(unescaped(rest)?);
        (ids.len() <= 3).then_some(ids)
    }
}

impl fmt::Display for CompIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, id) in self.text_ids().enumerate() {
            if n > 0 {
                f.write_str("/")?;
            }
            write_escaped(id, f)?;
        }
        Ok(())
    }
}

impl FromStr for CompIds {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<Self, InvalidSessionId> {
        let ids = Self::text_ids_in(text).ok_or_else(|| {
            InvalidSessionId::new(format!("{text:?} is not of the form COMPID[/SUBID[/LOCATIONID]]"))
        })?;
        Self::of_text_ids(&ids)
    }
}

/// Writes an ID so that [`split_once`] finds no separator in it.
pub(crate) fn write_escaped(id: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut before = ' ';
    for c in id.chars() {
        if matches!(c, '/' | ':' | '\\') || (before, c) == ('-', '>') {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
        before = c;
    }
    Ok(())
}

/// Returns an ID as it was before it was escaped; `None` if a backslash stands before a character
/// that needs none.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    let mut id = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        id.push(match c {
            '\\' => chars.next().filter(|c| matches!(c, '/' | ':' | '\\' | '>'))?,
            c => c,
        });
    }
    Some(id)
}

/// Splits at the first separator that is not escaped.
pub(crate) fn split_once<'t>(text: &'t str, separator: &str) -> Option<(&'t str, &'t str)> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        if core::mem::take(&mut escaped) {
            return None;
        }
        escaped = c == '\\';
        Some((&text[..at], text[at..].strip_prefix(separator)?))
    })
}

/// Why a text or its parts do not make a [`SessionId`](crate::SessionId) or [`CompIds`].
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidSessionId(String);

impl InvalidSessionId {
    pub(crate) const fn new(reason: String) -> Self {
        Self(reason)
    }

    /// Says whose ID it is: `Sender` or `Target`.
    pub(crate) fn of(self, side: &str) -> Self {
        Self(format!("{side}{}", self.0))
    }
}

impl fmt::Display for InvalidSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the sentence, since this is how `main` prints an error.
impl fmt::Debug for InvalidSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for InvalidSessionId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_survives_printing_and_parsing_whatever_is_in_its_ids() {
        let ids = ["A", "/", "\\", "\\/", ":", "->", "-", ">", "A->B/C:D", "..", "//", "-\\>", " "];
        let mut texts = std::collections::HashMap::new();
        for comp_id in ids {
            for sub_id in [None].into_iter().chain(ids.map(Some)) {
                for location_id in [None].into_iter().chain(ids.map(Some)) {
                    let comp_ids = CompIds::new(comp_id).unwrap().with_ids(sub_id, location_id).unwrap();
                    let text = comp_ids.to_string();
                    assert_eq!(text.parse(), Ok(comp_ids.clone()), "{text}");
                    assert_eq!(texts.insert(text, comp_ids), None);
                }
            }
        }
    }

    #[test]
    fn a_text_that_is_no_party_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "CompID is empty"),
            ("/A", "CompID is empty"),
            ("A/", "SubID is empty"),
            ("A//", "LocationID is empty"),
            ("A/B/", "LocationID is empty"),
            ("A/B/C/D", "\"A/B/C/D\" is not of the form COMPID[/SUBID[/LOCATIONID]]"),
            ("A\\B", "\"A\\\\B\" is not of the form COMPID[/SUBID[/LOCATIONID]]"),
            ("A\\", "\"A\\\\\" is not of the form COMPID[/SUBID[/LOCATIONID]]"),
            ("A/\x01", "SubID holds the byte 0x01; printable ASCII only"),
        ] {
            assert_eq!(text.parse::<CompIds>().unwrap_err().to_string(), reason);
        }
        let error = CompIds::new("A").unwrap().with_location_id(&"L".repeat(65)).unwrap_err();
        assert_eq!(error.to_string(), "LocationID has 65 bytes, 64 at most");
    }

    #[test]
    fn what_a_party_does_not_have_may_be_anything() {
        let comp_ids = |text: &str| text.parse::<CompIds>().unwrap();
        assert!(comp_ids("A").includes(&comp_ids("A/X/Y")));
        assert!(comp_ids("A/X").includes(&comp_ids("A/X/Y")));
        assert!(comp_ids("A//Y").includes(&comp_ids("A/X/Y")));
        assert!(!comp_ids("A/X").includes(&comp_ids("A")));
        assert!(!comp_ids("A/X").includes(&comp_ids("A/Z/Y")));
        assert!(!comp_ids("A").includes(&comp_ids("B")));
    }
}
