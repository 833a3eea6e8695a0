//! The other messages of published figures, as text: those of AIM, and the four of FsFIX, with
//! groups; and a long one with 300 fields.
//!
//! Each function returns member `n` of a ring of [`RING`](crate::messages::RING) messages of the
//! same size.

use crate::messages::message;

/// AIM-97: a NewOrderSingle of FIX.4.4 with 97 bytes and 10 fields.
#[must_use]
pub fn aim_97(n: u64) -> Vec<u8> {
    let (quantity, price, id) = (100 + n, 3000 + n * 7, 137_386 + n * 31);
    message(
        "FIX.4.4",
        &format!(
            "35=D|49=TEST_INSTANCE1|56=aimsGateway|38={quantity}|44={price}|55=AIMS.L|11={id}_{}|",
            n % 10
        ),
    )
}

/// AIM-158: the longer one, 158 bytes and 15 fields. As published, the hour of TransactTime (60)
/// has one digit, which is not a valid time.
#[must_use]
pub fn aim_158(n: u64) -> Vec<u8> {
    aim(n, "2:36:26")
}

/// AIM-158 with the intended hour of TransactTime (60), one byte longer than [`aim_158`].
#[must_use]
pub fn valid_aim_158(n: u64) -> Vec<u8> {
    aim(n, "22:36:26")
}

fn aim(n: u64, time: &str) -> Vec<u8> {
    let (minute, quantity, price, id) = (n % 60, 100 + n, 3000 + n * 7, 137_386 + n * 31);
    message(
        "FIX.4.4",
        &format!(
            "35=D|52=20131112-22:{minute:02}:26.646|49=TEST_INSTANCE1|56=aimsGateway|54=1|40=2|60=20131112-{time}|\
             38={quantity}|59=3|44={price}|55=AIMS.L|11={id}_{}|",
            n % 10
        ),
    )
}

/// Header fields of the FsFIX messages: MsgSeqNum (34), second and millisecond of SendingTime (52).
fn stamp(n: u64) -> (u64, u64, u64) {
    (10 + n, n % 60, n * 37 % 1000)
}

/// Returns what the four have in common, with header fields in their own order.
fn fsfix(n: u64, msg_type: &str, body: &str) -> Vec<u8> {
    let (seq, second, milli) = stamp(n);
    let time = format!("20071123-05:30:{second:02}.{milli:03}");
    message("FIX.4.4", &format!("35={msg_type}|34={seq}|49=senderCompID|52={time}|56=targetCompID|{body}"))
}

/// Symbol (55) of the market data request.
#[must_use]
pub fn pair(n: u64) -> String {
    format!("EUR/U{}D", char::from(b'A' + (n % 26) as u8))
}

/// MDReqID (262).
#[must_use]
pub fn md_req_id(n: u64) -> String {
    format!("MDRQ-{}", 1_487_838_687_427 + n * 1_009)
}

/// MarketDataRequest: two groups of one field each.
#[must_use]
pub fn market_data_request(n: u64) -> Vec<u8> {
    let (id, pair) = (md_req_id(n), pair(n));
    fsfix(n, "V", &format!("262={id}|263=1|264=1|267=2|269=0|269=1|146=1|55={pair}|"))
}

/// LegSymbol (600) and LegSymbolSfx (601) of three legs.
#[must_use]
pub fn legs(n: u64) -> [(String, &'static str); 3] {
    let letter = char::from(b'A' + (n % 26) as u8);
    [(format!("BCDE{letter}"), "PQRS"), (format!("CDEF{letter}"), "QRST"), (format!("DEFG{letter}"), "RSTU")]
}

/// LegSecurityAltID (605) and its source (606) of each leg.
pub const LEG_IDS: [&[(&str, &str)]; 3] =
    [&[("12345", "QWERTYU"), ("23456", "ASDFGHJ")], &[("34567", "ZXCVBNM")], &[("45678", "POIUYTR")]];

/// QuoteStatusRequest: a group of three legs.
#[must_use]
pub fn quote_status_request(n: u64) -> Vec<u8> {
    let legs: String = legs(n).iter().map(|(symbol, suffix)| format!("600={symbol}|601={suffix}|")).collect();
    fsfix(n, "a", &format!("55=ABC{}|555=3|{legs}", 10 + n))
}

/// QuoteStatusRequest: three legs with a group in each.
#[must_use]
pub fn nested_quote_status_request(n: u64) -> Vec<u8> {
    let legs = legs(n).into_iter().zip(LEG_IDS).map(|((symbol, suffix), ids)| {
        let alternatives: String = ids.iter().map(|(id, source)| format!("605={id}|606={source}|")).collect();
        format!("600={symbol}|601={suffix}|604={}|{alternatives}", ids.len())
    });
    fsfix(n, "a", &format!("55=ABC{}|555=3|{}", 10 + n, legs.collect::<String>()))
}

/// MarketDataIncrementalRefresh: 300 fields in 48 entries of six.
#[must_use]
pub fn market_data_refresh(n: u64) -> Vec<u8> {
    let (seq, second, milli) = stamp(n);
    let entries = (0..48).map(|entry| {
        let (side, price, size) = (entry % 2, 10_000 + n * 7 + entry, 100 + (n + entry * 31) % 900);
        let minute = (n + entry) % 60;
        format!("279=0|269={side}|55={}|270={price}.5|271={size}|273=05:{minute:02}:00.{milli:03}|", pair(n))
    });
    let (id, entries) = (md_req_id(n), entries.collect::<String>());
    let header = format!("34={seq}|49=senderCompID|52=20071123-05:30:{second:02}.{milli:03}|56=targetCompID");
    message("FIX.4.4", &format!("35=X|{header}|50=DESK|57=HOUSE|262={id}|268=48|{entries}"))
}

/// NewOrderMultileg: 1,521 bytes and 124 fields, most of them with random values; amounts of up to
/// 42 digits.
#[must_use]
pub fn new_order_multileg(n: u64) -> Vec<u8> {
    let (seq, second, milli) = stamp(n);
    message(
        "FIX.4.4",
        &format!(
            "35=AB|34={seq}|49=senderCompID|52=20071123-05:30:{second:02}.{milli:03}|56=targetCompID|11=PZX{seq}|\
             526=EFZDRS{seq}|453=0|229=20170122|75=20170122|1=PKNOIWA|660=3|581=2|589=0|590=1|70=ZNOSMQBF|78=0|\
             63=9|64=20170122|544=2|635=H|21=3|110=792281624589241053767102627.850000000000000|\
             111=3.6893488143124{seq}|100=UYJN|386=0|81=0|54=F|55=RSWQE|65=WI|48=FJXY|22=D|454=0|461=WAUIJ|\
             167=TIPS|762=JXYCWAL|200=201701w1|541=20170122|201=0|224=20170122|239=0|226=1|\
             227=-5534023222112865484.700000000000000|228=79228162477.370849433239945|255=ESTXRVJK|543=YSWHLF|\
             470=IMGKYZT|472=VZNO|240=20170122|202=79228162458924105376.710262785000000|947=CWKL|206=4|\
             231=-3689348814312413.593900000000000|223=-792281.625142643375807|106=GHBFTU|348=2|349=AA|\
             107=QUOJDHBP|350=2|351=BB|691=DRSWQEF|875=-2|876=UVZTX|864=0|873=20170122|874=20170122|\
             140=-7922816249581759353.271930061100000|555=0|114=N|60=20170122-06:54:00|854=1|\
             152=-0.000000003689349|516=-5534.023223401355674|468=1|469=792281.624958175935327|40=M|\
             44=36.893488143124136|99=79228162477370849459009.748992000000000|15=USD|376=NHVWAUY|377=Y|23=ALPJNB|\
             117=KOCDXBP|168=20170122-06:54:00|432=20170122|126=20170122-06:54:00|427=2|\
             12=-79228.162495817593533|13=4|479=VZTHIMGU|497=N|529=7|582=4|121=Y|120=ZTXLMG|775=0|58=MGBV{seq}|\
             354=2|355=CC|77=C|203=0|210=-792281.624773708494590|211=-79228162477370849.454714781696000|836=1|\
             837=2|838=2|840=1|388=6|389=-79228162514264337580659048.449000000000000|841=1|842=0|843=0|844=1|\
             846=1|847=-3|848=UOSMHBFZ|849=-55.340232221128655|480=N|481=1|513=EFJDHS|563=1|"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::RING;
    use std::collections::BTreeSet;

    #[test]
    fn every_member_of_a_ring_has_the_published_size_and_differs_from_the_others() {
        for (message, size) in [
            (aim_97 as fn(u64) -> Vec<u8>, (97, 10)),
            (aim_158, (158, 15)),
            (valid_aim_158, (159, 15)),
            (market_data_request, (161, 16)),
            (quote_status_request, (163, 16)),
            (nested_quote_status_request, (269, 27)),
            (market_data_refresh, (3_019, 300)),
            (new_order_multileg, (1521, 124)),
        ] {
            let ring: BTreeSet<Vec<u8>> = (0..RING as u64).map(message).collect();
            let sizes: BTreeSet<(usize, usize)> = ring
                .iter()
                .map(|bytes| (bytes.len(), bytes.iter().filter(|byte| **byte == 1).count()))
                .collect();
            assert_eq!((sizes, ring.len()), ([size].into(), RING));
        }
    }
}
