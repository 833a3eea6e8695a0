//! Every tier of the index reads nothing outside the message and writes nothing outside the
//! storage: both lie at the edge of memory that may not be touched. Neither Miri nor valgrind knows
//! AVX-512, so that for this tier nothing else would detect it.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(unsafe_code)] // memory that may not be touched

use std::ptr::null_mut;

use fixbolt_codec::{Frame, Framer, Index, Span, Tier};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

const PAGE: usize = 4096;

/// A page between two that may not be touched.
struct Between {
    all: *mut u8,
}

impl Between {
    fn new() -> Self {
        let read_write = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, of which no reference exists.
        let all: *mut u8 = unsafe {
            let all =
                mmap_anonymous(null_mut(), 3 * PAGE, read_write, MapFlags::PRIVATE).unwrap().cast::<u8>();
            mprotect(all.cast(), PAGE, MprotectFlags::empty()).unwrap();
            mprotect(all.add(2 * PAGE).cast(), PAGE, MprotectFlags::empty()).unwrap();
            all
        };
        Self { all }
    }

    /// The last of the page: as many values as fit their type's alignment.
    ///
    /// # Safety
    /// All bytes must be a valid value.
    unsafe fn last<T>(&mut self, count: usize) -> &mut [T] {
        assert!(count * size_of::<T>() <= PAGE);
        // SAFETY: in the page, and borrowed as this is.
        unsafe { std::slice::from_raw_parts_mut(self.all.add(2 * PAGE).cast::<T>().sub(count), count) }
    }

    fn first_bytes(&mut self, bytes: &[u8]) -> &[u8] {
        // SAFETY: in the page, and borrowed as this is.
        let page = unsafe { std::slice::from_raw_parts_mut(self.all.add(PAGE), PAGE) };
        page[..bytes.len()].copy_from_slice(bytes);
        &page[..bytes.len()]
    }

    fn last_bytes(&mut self, bytes: &[u8]) -> &[u8] {
        // SAFETY: each byte is valid.
        let page = unsafe { self.last::<u8>(bytes.len()) };
        page.copy_from_slice(bytes);
        page
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no longer borrowed.
        unsafe { munmap(self.all.cast(), 3 * PAGE).unwrap() };
    }
}

fn whole(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

#[test]
fn nothing_outside_the_message_is_read_and_nothing_outside_the_storage_is_written() {
    let (mut message, mut tags, mut spans) = (Between::new(), Between::new(), Between::new());
    let parts: [&[u8]; 13] = [
        b"55=x\x01",
        b"1=2\x01",
        b"1=\x01",
        b"=\x01",
        b"\x01",
        b"=x\x01",
        b"x\x01",
        b"12345=x\x01",
        b"095=1\x01",
        b"95=5\x0196=a\x01=c\x01",
        b"95=9999\x0196=a\x01",
        b"348=3\x01349===\x01\x01",
        b"58=a longer text, a longer text, a longer text, a longer text, a longer text\x01",
    ];
    let mut random = fastrand::Rng::with_seed(0x5EED_9A6E);
    for round in 0..20_000 {
        let mut body = b"35=D\x01".to_vec();
        let one = round % (2 * parts.len());
        for _ in 0..random.usize(..90) {
            // The same part again and again, or any.
            body.extend_from_slice(parts.get(one).unwrap_or(&parts[random.usize(..parts.len())]));
        }
        let bytes = whole(&body);
        if bytes.len() > PAGE {
            continue;
        }
        let room = random.usize(..120);
        let mut found = Vec::new();
        for tier in Tier::available() {
            for at_end in [true, false] {
                let bytes = if at_end { message.last_bytes(&bytes) } else { message.first_bytes(&bytes) };
                let Frame::Message(framed) = Framer::new(PAGE).next(bytes) else { panic!("no message") };
                // SAFETY: whatever was written before are numbers.
                let (tags, spans) = unsafe { (tags.last::<u32>(room), spans.last::<Span>(room)) };
                let mut index = Index::new(tags, spans).with_tier(tier);
                found.push(index.build(framed).map(|message| (message.tags().to_vec(), message.fault())));
            }
        }
        assert!(found.windows(2).all(|two| two[0] == two[1]), "{}", bytes.escape_ascii());
    }
}
