package fixbolt.bench;

import java.math.BigDecimal;
import java.time.LocalDateTime;
import quickfix.Message;
import quickfix.UtcTimestampPrecision;
import quickfix.field.*;
import quickfix.fix44.NewOrderMultileg;

/**
 * NewOrderMultileg: 1,521 bytes and 124 fields, most of them with random values. Its amounts have up
 * to 42 digits, which no double holds, so they are decimals.
 */
final class Multileg extends Fixture {
    private static final LocalDateTime MORNING = LocalDateTime.of(2017, 1, 22, 6, 54);
    private static final BigDecimal MIN_QTY = new BigDecimal("792281624589241053767102627.850000000000000");
    private static final BigDecimal REPURCHASE_RATE = new BigDecimal("-5534023222112865484.700000000000000");
    private static final BigDecimal FACTOR = new BigDecimal("79228162477.370849433239945");
    private static final BigDecimal STRIKE_PRICE = new BigDecimal("79228162458924105376.710262785000000");
    private static final BigDecimal CONTRACT_MULTIPLIER = new BigDecimal("-3689348814312413.593900000000000");
    private static final BigDecimal COUPON_RATE = new BigDecimal("-792281.625142643375807");
    private static final BigDecimal PREV_CLOSE_PX = new BigDecimal("-7922816249581759353.271930061100000");
    private static final BigDecimal CASH_ORDER_QTY = new BigDecimal("-0.000000003689349");
    private static final BigDecimal ORDER_PERCENT = new BigDecimal("-5534.023223401355674");
    private static final BigDecimal ROUNDING_MODULUS = new BigDecimal("792281.624958175935327");
    private static final BigDecimal PRICE = new BigDecimal("36.893488143124136");
    private static final BigDecimal STOP_PX = new BigDecimal("79228162477370849459009.748992000000000");
    private static final BigDecimal COMMISSION = new BigDecimal("-79228.162495817593533");
    private static final BigDecimal MAX_SHOW = new BigDecimal("-792281.624773708494590");
    private static final BigDecimal PEG_OFFSET_VALUE = new BigDecimal("-79228162477370849.454714781696000");
    private static final BigDecimal DISCRETION_OFFSET_VALUE = new BigDecimal("-79228162514264337580659048.449000000000000");
    private static final BigDecimal PARTICIPATION_RATE = new BigDecimal("-55.340232221128655");

    private final String clOrdId;
    private final String secondary;
    private final String text;
    private final BigDecimal maxFloor;

    Multileg(int n) {
        super(n);
        clOrdId = "PZX" + seq;
        secondary = "EFZDRS" + seq;
        text = "MGBV" + seq;
        maxFloor = new BigDecimal("3.6893488143124" + seq);
    }

    @Override
    Message build() {
        NewOrderMultileg order = new NewOrderMultileg();
        setHeader(order);
        order.setField(new ClOrdID(clOrdId));
        order.setField(new SecondaryClOrdID(secondary));
        order.setField(new NoPartyIDs(0));
        order.setField(new TradeOriginationDate("20170122"));
        order.setField(new TradeDate("20170122"));
        order.setField(new Account("PKNOIWA"));
        order.setField(new AcctIDSource(3));
        order.setField(new AccountType(2));
        order.setField(new DayBookingInst('0'));
        order.setField(new BookingUnit('1'));
        order.setField(new AllocID("ZNOSMQBF"));
        order.setField(new NoAllocs(0));
        order.setField(new SettlType("9"));
        order.setField(new SettlDate("20170122"));
        order.setField(new CashMargin('2'));
        order.setField(new ClearingFeeIndicator("H"));
        order.setField(new HandlInst('3'));
        order.setDecimal(MinQty.FIELD, MIN_QTY);
        order.setDecimal(MaxFloor.FIELD, maxFloor);
        order.setField(new ExDestination("UYJN"));
        order.setField(new NoTradingSessions(0));
        order.setField(new ProcessCode('0'));
        order.setField(new Side('F'));
        order.setField(new Symbol("RSWQE"));
        order.setField(new SymbolSfx("WI"));
        order.setField(new SecurityID("FJXY"));
        order.setField(new SecurityIDSource("D"));
        order.setField(new NoSecurityAltID(0));
        order.setField(new CFICode("WAUIJ"));
        order.setField(new SecurityType("TIPS"));
        order.setField(new SecuritySubType("JXYCWAL"));
        order.setField(new MaturityMonthYear("201701w1"));
        order.setField(new MaturityDate("20170122"));
        order.setField(new PutOrCall(0));
        order.setField(new CouponPaymentDate("20170122"));
        order.setField(new RepoCollateralSecurityType("0"));
        order.setField(new RepurchaseTerm(1));
        order.setDecimal(RepurchaseRate.FIELD, REPURCHASE_RATE);
        order.setDecimal(Factor.FIELD, FACTOR);
        order.setField(new CreditRating("ESTXRVJK"));
        order.setField(new InstrRegistry("YSWHLF"));
        order.setField(new CountryOfIssue("IMGKYZT"));
        order.setField(new LocaleOfIssue("VZNO"));
        order.setField(new RedemptionDate("20170122"));
        order.setDecimal(StrikePrice.FIELD, STRIKE_PRICE);
        order.setField(new StrikeCurrency("CWKL"));
        order.setField(new OptAttribute('4'));
        order.setDecimal(ContractMultiplier.FIELD, CONTRACT_MULTIPLIER);
        order.setDecimal(CouponRate.FIELD, COUPON_RATE);
        order.setField(new Issuer("GHBFTU"));
        order.setField(new EncodedIssuerLen(2));
        order.setField(new EncodedIssuer("AA"));
        order.setField(new SecurityDesc("QUOJDHBP"));
        order.setField(new EncodedSecurityDescLen(2));
        order.setField(new EncodedSecurityDesc("BB"));
        order.setField(new Pool("DRSWQEF"));
        order.setField(new CPProgram(-2));
        order.setField(new CPRegType("UVZTX"));
        order.setField(new NoEvents(0));
        order.setField(new DatedDate("20170122"));
        order.setField(new InterestAccrualDate("20170122"));
        order.setDecimal(PrevClosePx.FIELD, PREV_CLOSE_PX);
        order.setField(new NoLegs(0));
        order.setField(new LocateReqd(false));
        order.setUtcTimeStamp(TransactTime.FIELD, MORNING, UtcTimestampPrecision.SECONDS);
        order.setField(new QtyType(1));
        order.setDecimal(CashOrderQty.FIELD, CASH_ORDER_QTY);
        order.setDecimal(OrderPercent.FIELD, ORDER_PERCENT);
        order.setField(new RoundingDirection('1'));
        order.setDecimal(RoundingModulus.FIELD, ROUNDING_MODULUS);
        order.setField(new OrdType('M'));
        order.setDecimal(Price.FIELD, PRICE);
        order.setDecimal(StopPx.FIELD, STOP_PX);
        order.setField(new Currency("USD"));
        order.setField(new ComplianceID("NHVWAUY"));
        order.setField(new SolicitedFlag(true));
        order.setField(new IOIID("ALPJNB"));
        order.setField(new QuoteID("KOCDXBP"));
        order.setUtcTimeStamp(EffectiveTime.FIELD, MORNING, UtcTimestampPrecision.SECONDS);
        order.setField(new ExpireDate("20170122"));
        order.setUtcTimeStamp(ExpireTime.FIELD, MORNING, UtcTimestampPrecision.SECONDS);
        order.setField(new GTBookingInst(2));
        order.setDecimal(Commission.FIELD, COMMISSION);
        order.setField(new CommType('4'));
        order.setField(new CommCurrency("VZTHIMGU"));
        order.setField(new FundRenewWaiv('N'));
        order.setField(new OrderRestrictions("7"));
        order.setField(new CustOrderCapacity(4));
        order.setField(new ForexReq(true));
        order.setField(new SettlCurrency("ZTXLMG"));
        order.setField(new BookingType(0));
        order.setField(new Text(text));
        order.setField(new EncodedTextLen(2));
        order.setField(new EncodedText("CC"));
        order.setField(new PositionEffect('C'));
        order.setField(new CoveredOrUncovered(0));
        order.setDecimal(MaxShow.FIELD, MAX_SHOW);
        order.setDecimal(PegOffsetValue.FIELD, PEG_OFFSET_VALUE);
        order.setField(new PegOffsetType(1));
        order.setField(new PegLimitType(2));
        order.setField(new PegRoundDirection(2));
        order.setField(new PegScope(1));
        order.setField(new DiscretionInst('6'));
        order.setDecimal(DiscretionOffsetValue.FIELD, DISCRETION_OFFSET_VALUE);
        order.setField(new DiscretionMoveType(1));
        order.setField(new DiscretionOffsetType(0));
        order.setField(new DiscretionLimitType(0));
        order.setField(new DiscretionRoundDirection(1));
        order.setField(new DiscretionScope(1));
        order.setField(new TargetStrategy(-3));
        order.setField(new TargetStrategyParameters("UOSMHBFZ"));
        order.setDecimal(ParticipationRate.FIELD, PARTICIPATION_RATE);
        order.setField(new CancellationRights('N'));
        order.setField(new MoneyLaunderingStatus('1'));
        order.setField(new RegistID("EFJDHS"));
        order.setField(new MultiLegRptTypeReq(1));
        return order;
    }

    @Override
    String text() {
        return wire("AB", """
                11=PZX%1$d|526=EFZDRS%1$d|453=0|229=20170122|75=20170122|1=PKNOIWA|660=3|581=2|\
                589=0|590=1|70=ZNOSMQBF|78=0|63=9|64=20170122|544=2|635=H|21=3|\
                110=792281624589241053767102627.850000000000000|111=3.6893488143124%1$d|100=UYJN|\
                386=0|81=0|54=F|55=RSWQE|65=WI|48=FJXY|22=D|454=0|461=WAUIJ|167=TIPS|762=JXYCWAL|\
                200=201701w1|541=20170122|201=0|224=20170122|239=0|226=1|\
                227=-5534023222112865484.700000000000000|228=79228162477.370849433239945|\
                255=ESTXRVJK|543=YSWHLF|470=IMGKYZT|472=VZNO|240=20170122|\
                202=79228162458924105376.710262785000000|947=CWKL|206=4|\
                231=-3689348814312413.593900000000000|223=-792281.625142643375807|106=GHBFTU|348=2|\
                349=AA|107=QUOJDHBP|350=2|351=BB|691=DRSWQEF|875=-2|876=UVZTX|864=0|873=20170122|\
                874=20170122|140=-7922816249581759353.271930061100000|555=0|114=N|\
                60=20170122-06:54:00|854=1|152=-0.000000003689349|516=-5534.023223401355674|468=1|\
                469=792281.624958175935327|40=M|44=36.893488143124136|\
                99=79228162477370849459009.748992000000000|15=USD|376=NHVWAUY|377=Y|23=ALPJNB|\
                117=KOCDXBP|168=20170122-06:54:00|432=20170122|126=20170122-06:54:00|427=2|\
                12=-79228.162495817593533|13=4|479=VZTHIMGU|497=N|529=7|582=4|121=Y|120=ZTXLMG|\
                775=0|58=MGBV%1$d|354=2|355=CC|77=C|203=0|210=-792281.624773708494590|\
                211=-79228162477370849.454714781696000|836=1|837=2|838=2|840=1|388=6|\
                389=-79228162514264337580659048.449000000000000|841=1|842=0|843=0|844=1|846=1|\
                847=-3|848=UOSMHBFZ|849=-55.340232221128655|480=N|481=1|513=EFJDHS|563=1|\
                """.formatted(seq));
    }
}
