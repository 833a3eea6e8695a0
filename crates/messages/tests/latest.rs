//! Groups to the depth that only FIX Latest has. Behind its feature, which no other test enables,
//! as its messages take as long to compile as those of all earlier versions (`cargo test -p
//! fixbolt-messages --features fix-latest --test latest`).

mod support;

use fixbolt_messages::codec::{Country, Version};
use fixbolt_messages::fix_latest::fields::{DeliveryScheduleSettlDay, StreamType};
use fixbolt_messages::fix_latest::groups::{
    instrmt_leg_grp, leg_stream_commodity_settl_day_grp, leg_stream_commodity_settl_period_grp,
    leg_stream_commodity_settl_time_grp, leg_stream_grp, quot_entry_grp, quot_set_grp,
};
use fixbolt_messages::fix_latest::prelude::*;
use fixbolt_messages::fix_latest::{MassQuote, mass_quote};

use support::{text_in, written_in};

#[test]
fn a_message_that_names_fix50sp2_may_be_one_of_fix_latest() {
    for (named, version, may_be) in [
        ("1128=9|", None, true),
        ("1128=9|1156=269|", None, true),
        ("1128=10|", None, true),
        ("", None, true),
        ("1128=8|", None, false),
        ("1128=9|", Some(Version::FixLatest), true),
        ("", Some(Version::FixLatest), true),
        ("", Some(Version::Fix50Sp2), true),
        ("1128=9|", Some(Version::Fix50Sp1), false),
    ] {
        text_in("FIXT.1.1", b"i", &format!("{named}117=q|"), |message| {
            let message = version.map_or(message, |version| message.with_version(Some(version)));
            assert_eq!(MassQuote::read(message).is_ok(), may_be, "{named} {version:?}");
        });
    }
}

#[test]
fn a_mass_quote_of_fix_latest_is_read_as_it_was_written_seven_groups_deep() {
    const DAYS: [(DeliveryScheduleSettlDay, &[&[u8]]); 2] = [
        (DeliveryScheduleSettlDay::MONDAY, &[b"08:00", b"13:00"]),
        (DeliveryScheduleSettlDay::FRIDAY, &[b"09:00"]),
    ];
    let body = |to| {
        let sent = MassQuote::send(to, mass_quote::Required { quote_id: b"Q" }, |quote| {
            let mut sets = quote.quote_sets();
            let mut set = sets.entry(quot_set_grp::Required { quote_set_id: b"S1", tot_no_quote_entries: 1 });
            let mut entries = set.quote_entries();
            let mut entry = entries.entry(quot_entry_grp::Required { quote_entry_id: b"E1" });
            let mut legs = entry.legs();
            for leg_symbol in [b"L1", b"L2"] {
                let mut leg = legs.entry(instrmt_leg_grp::Required { leg_symbol });
                let mut streams = leg.leg_streams();
                let leg_stream_type = StreamType::PHYSICAL_DELIVERY;
                let mut stream = streams.entry(leg_stream_grp::Required { leg_stream_type });
                let mut periods = stream.leg_stream_commodity_settl_periods();
                let mut period = periods.entry(leg_stream_commodity_settl_period_grp::Required {
                    leg_stream_commodity_settl_country: Country::new("DE").unwrap(),
                });
                let mut days = period.leg_stream_commodity_settl_days();
                for (day, starts) in DAYS {
                    let mut day = days.entry(leg_stream_commodity_settl_day_grp::Required {
                        leg_stream_commodity_settl_day: day,
                    });
                    let mut times = day.leg_stream_commodity_settl_times();
                    for start in starts {
                        let leg_stream_commodity_settl_start = *start;
                        let required = leg_stream_commodity_settl_time_grp::Required {
                            leg_stream_commodity_settl_start,
                        };
                        times.entry(required).leg_stream_commodity_settl_end("17:00");
                    }
                }
            }
        });
        sent.unwrap()
    };
    written_in("FIXT.1.1", &mut [0; 1024], body, |message| {
        let quote = MassQuote::read(message).unwrap();
        let sets: Vec<_> = quote.quote_sets().unwrap().collect();
        let entries: Vec<_> = sets[0].quote_entries().unwrap().collect();
        let legs = entries[0].legs().unwrap();
        assert_eq!((sets.len(), entries.len(), legs.len()), (1, 1, 2));
        for (leg, symbol) in legs.zip([b"L1", b"L2"]) {
            assert_eq!(leg.leg_symbol(), Ok(Some(symbol.into())));
            let stream = leg.leg_streams().unwrap().next().unwrap();
            let period = stream.leg_stream_commodity_settl_periods().unwrap().next().unwrap();
            let days = period.leg_stream_commodity_settl_days().unwrap();
            let read: Vec<_> = days
                .map(|day| {
                    let times = day.leg_stream_commodity_settl_times().unwrap();
                    let starts = times.map(|time| time.leg_stream_commodity_settl_start().unwrap());
                    (
                        day.leg_stream_commodity_settl_day().unwrap(),
                        starts.map(|start| start.as_bytes()).collect::<Vec<_>>(),
                    )
                })
                .collect();
            assert_eq!(read, DAYS.map(|(day, times)| (day, times.to_vec())));
        }
    });
}
