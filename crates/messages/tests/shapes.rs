//! A field that occurs both in a message or entry and in one of its groups. FIX.4.2 and 4.4 have
//! none, but dialects do.

mod support;

use fixbolt_messages::codec::Tag;
use fixbolt_messages::typed::{Entry, FieldError, FieldErrorKind, Fields, GroupShape, Tags, View};

use support::text;

/// A group with count 5000 and the members 5001, 58 and the group with count 5010 and the members
/// 5011 and 5002.
#[derive(Debug)]
struct Colour<'m>(Fields<'m>);
/// The inner group.
#[derive(Debug)]
struct Shade<'m>(Fields<'m>);

const KNOWN: &[u32] = &[8, 9, 10, 34, 35, 49, 52, 56, 58, 60, 5000, 5001, 5002, 5010, 5011];

impl<'m> View<'m> for Colour<'m> {
    fn fields(&self) -> &Fields<'m> {
        &self.0
    }
}

impl<'m> Entry<'m> for Colour<'m> {
    const SHAPE: &'static GroupShape = &GroupShape {
        count: 5000,
        delimiter: 5001,
        members: Tags::new(&[58, 5001, 5002, 5010, 5011]),
        ending: &[58],
    };
    fn over(fields: Fields<'m>) -> Self {
        Self(fields)
    }
}

impl<'m> Colour<'m> {
    /// 5002 of the entry itself, not of its inner group.
    fn own(&self) -> Result<Option<&'m [u8]>, FieldError> {
        self.fields().outside(&[Shade::SHAPE]).optional(5002)
    }
}

impl<'m> View<'m> for Shade<'m> {
    fn fields(&self) -> &Fields<'m> {
        &self.0
    }
}

impl<'m> Entry<'m> for Shade<'m> {
    const SHAPE: &'static GroupShape =
        &GroupShape { count: 5010, delimiter: 5011, members: Tags::new(&[5002, 5011]), ending: &[] };
    fn over(fields: Fields<'m>) -> Self {
        Self(fields)
    }
}

const GROUPS: &[&GroupShape] = &[Colour::SHAPE];

/// Text (58) of the message, and the number of entries in its group.
fn read(body: &str) -> (Option<Vec<u8>>, Option<usize>) {
    text(b"UX", body, |message| {
        let fields = Fields::of(message, &KNOWN);
        let outside = fields.outside(GROUPS);
        let text: Option<&[u8]> = outside.optional(58).unwrap();
        assert_eq!(outside.required::<&[u8]>(58).ok(), text);
        (text.map(<[u8]>::to_vec), outside.group::<Colour<'_>>().ok().map(Iterator::count))
    })
}

#[test]
fn a_field_of_the_message_is_not_taken_from_a_group() {
    assert_eq!(read("5000=1|5001=red|58=in|"), (None, Some(1)));
    assert_eq!(read("5000=1|5001=red|58=in|60=x|58=out|"), (Some(b"out".to_vec()), Some(1)));
    assert_eq!(read("58=out|5000=1|5001=red|58=in|"), (Some(b"out".to_vec()), Some(1)));
    assert_eq!(read("60=x|58=out|"), (Some(b"out".to_vec()), Some(0)));
}

#[test]
fn the_second_one_after_an_entrys_beginning_belongs_to_the_message() {
    assert_eq!(read("5000=1|5001=red|58=in|58=out|"), (Some(b"out".to_vec()), Some(1)));
    assert_eq!(read("5000=2|5001=red|58=in|5001=blue|58=in|58=out|"), (Some(b"out".to_vec()), Some(2)));
    // Also after an entry's nested group.
    assert_eq!(read("5000=1|5001=red|5010=1|5011=x|58=in|58=out|"), (Some(b"out".to_vec()), Some(1)));
}

#[test]
fn a_group_in_an_entry_is_read_from_that_entry() {
    text(b"UX", "5000=2|5001=red|5010=2|5011=a|5002=b|5011=c|5001=blue|5010=1|5011=d|58=in|", |message| {
        let fields = Fields::of(message, &KNOWN);
        let colours: Vec<Vec<&[u8]>> = fields
            .required_group::<Colour<'_>>()
            .unwrap()
            .map(|colour| {
                let shades = colour.fields().group::<Shade<'_>>().unwrap();
                shades.map(|shade| shade.fields().required(5011).unwrap()).collect()
            })
            .collect();
        assert_eq!(colours, [vec![&b"a"[..], b"c"], vec![b"d"]]);
        assert_eq!(fields.get(Tag::new(5002)), Some(&b"b"[..]));
        let missing = fields.outside(GROUPS).required_group::<Shade<'_>>().unwrap_err();
        assert_eq!(missing.kind, FieldErrorKind::Missing);
    });
}

#[test]
fn a_needed_field_outside_a_group_is_named_when_it_is_missing_or_refused() {
    text(b"UX", "5000=2|5001=red|5010=1|5011=a|5002=b|5001=blue|5002=d|58=in|", |message| {
        let fields = Fields::of(message, &KNOWN);
        let colours: Vec<Colour<'_>> = fields.required_group().unwrap().collect();
        assert_eq!(colours[0].need(|colour| colour.own()), Err(FieldError::missing(Tag::new(5002))));
        assert_eq!(colours[1].need(|colour| colour.own()), Ok(&b"d"[..]));
        let refused = colours[1].need(|colour| Ok(colour.own()?.filter(|own| own.is_empty())));
        assert_eq!(refused, Err(FieldError::missing(Tag::new(5002))));
    });
}
