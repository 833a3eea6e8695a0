//! The keys of a length field and its data field, which are only written together.

use crate::data_fields::DataFields;
use crate::key::Key;

/// The keys of a data field and of the length field directly before it.
///
/// A wrong pair does not compile, so that [`BodyWriter::data`](crate::BodyWriter::data), whose
/// value may contain SOH, cannot write a field that readers end at the first SOH.
///
/// ```
/// use fixbolt_codec::DataKey;
/// const RAW_DATA: DataKey = DataKey::new(95, 96);
/// const OWN_DATA: DataKey = DataKey::of_dialect(20001, 20002);
/// assert_eq!((RAW_DATA.length().tag().number(), OWN_DATA.data().tag().number()), (95, 20002));
/// ```
///
/// ```compile_fail
/// const TEXT: fixbolt_codec::DataKey = fixbolt_codec::DataKey::new(95, 58);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataKey {
    length: Key,
    data: Key,
}

impl DataKey {
    /// Creates the keys of a length field and a data field of the standard.
    ///
    /// # Panics
    /// Panics if they are not one of the pairs of [`DataFields::STANDARD`]; in a constant this
    /// fails the build.
    #[must_use]
    pub const fn new(length: u32, data: u32) -> Self {
        let right = matches!(DataFields::standard_data_tag(length), Some(tag) if tag == data);
        assert!(right, "not a length field and its data field of the standard; is it the data of a dialect?");
        Self { length: Key::new(length), data: Key::new(data) }
    }

    /// Creates the keys of a length field and a data field that a dialect adds to the standard. The
    /// counterparty has to know them as such: any other reader ends the data at its first SOH.
    ///
    /// # Panics
    /// Panics if the tags are equal, or if one of them is the standard's
    /// ([`Tag::is_of_standard`](crate::Tag::is_of_standard)); in a constant this fails the build.
    #[must_use]
    pub const fn of_dialect(length: u32, data: u32) -> Self {
        assert!(length != data, "a length field and its data field have different tags");
        let (length, data) = (Key::new(length), Key::new(data));
        assert!(
            !length.tag.is_of_standard() && !data.tag.is_of_standard(),
            "a tag of the standard is not the data of a dialect; a pair of the standard is made by `new`"
        );
        Self { length, data }
    }

    /// Returns the key of the length field.
    #[must_use]
    pub const fn length(&self) -> Key {
        self.length
    }

    /// Returns the key of the data field.
    #[must_use]
    pub const fn data(&self) -> Key {
        self.data
    }
}
