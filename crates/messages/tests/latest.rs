//! Groups to the depth that only FIX Latest has. Behind its feature, which no other test enables,
//! as its messages take as long to compile as those of all earlier versions (`cargo test -p
//! fixbolt-messages --features fix-latest --test latest`).

mod support;

use fixbolt_messages::codec::Country;
use fixbolt_messages::fix_latest::fields::{DeliveryScheduleSettlDay, StreamType};
use fixbolt_messages::fix_latest::groups::{
    instrmt_leg_grp, leg_stream_commodity_settl_day_grp, leg_stream_commodity_settl_period_grp,
    leg_stream_commodity_settl_time_grp, leg_stream_grp, quot_entry_grp, quot_set_grp,
};
use fixbolt_messages::fix_latest::prelude::*;
use fixbolt_messages::fix_latest::{MassQuote, mass_quote};

use support::written;

#[test]
fn a_mass_quote_of_fix_latest_is_read_as_it_was_written_seven_groups_deep() {
    const DAYS: [(DeliveryScheduleSettlDay, &[&[u8]]); 2] = [
        (DeliveryScheduleSettlDay::Monday, &[b"08:00", b"13:00"]),
        (DeliveryScheduleSettlDay::Friday, &[b"09:00"]),
    ];
    let body = |to| {
        let mut quote = MassQuote::write(to, mass_quote::Required { quote_id: b"Q" });
        quote.quote_sets([b"S1"], |new, quote_set_id| {
            new.entry(quot_set_grp::Required { quote_set_id, tot_no_quote_entries: 1 })
                .quote_entries([b"E1"], |new, quote_entry_id| {
                    new.entry(quot_entry_grp::Required { quote_entry_id })
                        .legs([b"L1", b"L2"], |new, leg_symbol| {
                            new.entry(instrmt_leg_grp::Required { leg_symbol })
                                .leg_streams([()], |new, ()| {
                                    let leg_stream_type = StreamType::PHYSICAL_DELIVERY;
                                    new.entry(leg_stream_grp::Required { leg_stream_type })
                                        .leg_stream_commodity_settl_periods([()], |new, ()| {
                                            let required = leg_stream_commodity_settl_period_grp::Required {
                                                leg_stream_commodity_settl_country: Country::new("DE").unwrap(),
                                            };
                                            new.entry(required)
                                                .leg_stream_commodity_settl_days(DAYS, |new, (day, times)| {
                                                    let required = leg_stream_commodity_settl_day_grp::Required {
                                                        leg_stream_commodity_settl_day: day,
                                                    };
                                                    new.entry(required)
                                                        .leg_stream_commodity_settl_times(times, |new, start| {
                                                            new.entry(leg_stream_commodity_settl_time_grp::Required {
                                                                leg_stream_commodity_settl_start: start,
                                                            })
                                                            .leg_stream_commodity_settl_end(b"17:00")
                                                            .done()
                                                        })
                                                        .done()
                                                })
                                                .done()
                                        })
                                        .done()
                                })
                                .done()
                        })
                        .done()
                })
                .done()
        });
        quote.send().unwrap()
    };
    written(&mut [0; 1024], body, |message| {
        let quote = MassQuote::read(message).unwrap();
        let sets: Vec<_> = quote.quote_sets().unwrap().collect();
        let entries: Vec<_> = sets[0].quote_entries().unwrap().collect();
        let legs = entries[0].legs().unwrap();
        assert_eq!((sets.len(), entries.len(), legs.len()), (1, 1, 2));
        for (leg, symbol) in legs.zip([b"L1", b"L2"]) {
            assert_eq!(leg.leg_symbol(), Ok(Some(&symbol[..])));
            let stream = leg.leg_streams().unwrap().next().unwrap();
            let period = stream.leg_stream_commodity_settl_periods().unwrap().next().unwrap();
            let days = period.leg_stream_commodity_settl_days().unwrap();
            let read: Vec<_> = days
                .map(|day| {
                    let times = day.leg_stream_commodity_settl_times().unwrap();
                    let starts = times.map(|time| time.leg_stream_commodity_settl_start().unwrap());
                    (day.leg_stream_commodity_settl_day().unwrap(), starts.collect::<Vec<_>>())
                })
                .collect();
            assert_eq!(read, DAYS.map(|(day, times)| (day, times.to_vec())));
        }
    });
}
