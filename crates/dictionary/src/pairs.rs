//! Which length field goes with which data field, for dictionaries that do not say it themselves.
//!
//! FIX Orchestra states the pair (`lengthId`); QuickFIX XML cannot. These are the pairs of FIX Latest (EP269), which contain those
//! of every earlier version. Twelve of them are not neighbours in number (93 and 89, 1525 and 1527, ...), so no arithmetic here.

/// Pairs of length tag and data tag, ordered by data tag.
#[rustfmt::skip]
pub const DATA_LENGTH_PAIRS: [(u32, u32); 83] = [
    (93, 89), (90, 91), (95, 96), (212, 213), (348, 349), (350, 351), (352, 353), (354, 355),
    (356, 357), (358, 359), (360, 361), (362, 363), (364, 365), (445, 446), (618, 619), (621, 622),
    (1184, 1185), (1277, 1278), (1280, 1281), (1282, 1283), (1397, 1398), (1401, 1402), (1403, 1404), (1468, 1469),
    (1525, 1527), (1578, 1579), (1620, 1621), (1664, 1665), (1678, 1697), (1733, 1734), (1871, 1872), (1874, 1875),
    (2072, 2073), (2074, 2075), (2111, 2112), (2179, 2180), (2287, 2288), (2351, 2352), (2372, 2371), (2481, 2482),
    (2494, 2493), (2522, 2521), (2637, 2638), (2651, 2652), (2665, 2666), (2715, 2716), (2718, 2719), (2721, 2722),
    (2797, 2798), (2802, 2801), (2809, 2808), (2815, 2814), (40004, 40005), (40008, 40009), (40978, 40979), (40980, 40981),
    (40982, 40983), (40984, 40985), (40986, 40987), (40988, 40989), (41083, 41084), (41101, 41102), (41107, 41108), (41256, 41257),
    (41320, 41321), (41324, 41325), (41458, 41459), (41476, 41477), (41482, 41483), (41653, 41654), (41710, 41711), (41806, 41807),
    (41811, 41812), (41873, 41874), (41969, 41970), (42025, 42026), (42171, 42172), (42451, 42452), (43110, 42486), (42652, 42653),
    (43109, 42684), (42947, 42948), (43111, 42982),
];

/// The tag of the field that holds the length of data field `data_tag`, if the standard defines one.
pub fn length_tag_of(data_tag: u32) -> Option<u32> {
    DATA_LENGTH_PAIRS
        .binary_search_by_key(&data_tag, |&(_, data)| data)
        .ok()
        .map(|at| DATA_LENGTH_PAIRS[at].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_not_neighbours_are_found() {
        assert!(DATA_LENGTH_PAIRS.is_sorted_by_key(|&(_, data)| data));
        assert_eq!(length_tag_of(89), Some(93));
        assert_eq!(length_tag_of(96), Some(95));
        assert_eq!(length_tag_of(2371), Some(2372));
        assert_eq!(length_tag_of(97), None);
        let apart = DATA_LENGTH_PAIRS.iter().filter(|&&(length, data)| data != length + 1).count();
        assert_eq!(apart, 12);
    }
}
