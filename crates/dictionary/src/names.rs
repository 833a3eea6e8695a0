//! Names as people write them: the form of code names for display, and the names that other engines
//! have for the same thing.
//!
//! Everything is identified by tag number, message type and code value; names are for display and
//! input. This module never changes a stored name.

/// Returns the name as `UPPER_SNAKE`: `NewOrderSingle` becomes `NEW_ORDER_SINGLE`. A name without
/// lower-case letters is returned unchanged.
///
/// ```
/// use fixbolt_dictionary::upper_snake;
/// assert_eq!(upper_snake("GoodTillCancel"), "GOOD_TILL_CANCEL");
/// assert_eq!(upper_snake("FIXOnly"), "FIX_ONLY");
/// assert_eq!(upper_snake("SELL_SHORT"), "SELL_SHORT");
/// ```
pub fn upper_snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let characters: Vec<char> = name.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            if !out.ends_with('_') && !out.is_empty() {
                out.push('_');
            }
            continue;
        }
        if at > 0 && character.is_uppercase() {
            let before = characters[at - 1];
            let starts_a_word = before.is_lowercase()
                || (before.is_ascii_digit()
                    && characters.get(at + 1).is_some_and(|after| after.is_lowercase()))
                || (before.is_uppercase()
                    && characters.get(at + 1).is_some_and(|after| after.is_lowercase()));
            if starts_a_word && !out.ends_with('_') {
                out.push('_');
            }
        }
        out.extend(character.to_uppercase());
    }
    while out.ends_with('_') {
        out.pop();
    }
    out
}

/// Returns whether two names are equal ignoring case and separators: `GOOD_TILL_CANCEL` and
/// `GoodTillCancel`.
pub(crate) fn same_code_name(left: &str, right: &str) -> bool {
    let letters = |name: &str| {
        name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>()
    };
    letters(left) == letters(right)
}

/// Returns the tag of the field that some dictionary of FIX Orchestra, QuickFIX or QuickFIX/J calls
/// `name` (in any case), if the dictionaries disagree about the name. A FIX 4.2 name finds a field
/// that was renamed later, and vice versa.
pub(crate) fn field_alias(name: &str) -> Option<u32> {
    FIELD_ALIASES
        .iter()
        .find(|(_, names)| names.iter().any(|alias| alias.eq_ignore_ascii_case(name)))
        .map(|&(tag, _)| tag)
}

/// Returns the type of the message that some dictionary calls `name` (in any case), if the
/// dictionaries disagree.
pub(crate) fn message_alias(name: &str) -> Option<&'static str> {
    MESSAGE_ALIASES
        .iter()
        .find(|(_, names)| names.iter().any(|alias| alias.eq_ignore_ascii_case(name)))
        .map(|&(msg_type, _)| msg_type)
}

/// Returns all names of the field with this tag in the dictionaries of FIX Orchestra, QuickFIX and
/// QuickFIX/J, if they disagree.
pub fn field_names(tag: u32) -> &'static [&'static str] {
    FIELD_ALIASES.iter().find(|alias| alias.0 == tag).map_or(&[], |alias| alias.1)
}

/// Returns all names of the message of this type in the dictionaries, if they disagree.
///
/// ```
/// use fixbolt_dictionary::message_names;
/// assert_eq!(message_names(b"D"), ["NewOrderSingle", "OrderSingle"]);
/// assert!(message_names(b"8").is_empty());
/// ```
pub fn message_names(msg_type: &[u8]) -> &'static [&'static str] {
    MESSAGE_ALIASES.iter().find(|alias| alias.0.as_bytes() == msg_type).map_or(&[], |alias| alias.1)
}

/// Fields with several names in versions and dialects.
const FIELD_ALIASES: &[(u32, &[&str])] = &[
    (22, &["IDSource", "SecurityIDSource"]),
    (23, &["IOIid", "IOIID"]),
    (27, &["IOIQty", "IOIShares"]),
    (32, &["LastQty", "LastShares"]),
    (33, &["LinesOfText", "NoLinesOfText"]),
    (53, &["Quantity", "Shares"]),
    (63, &["SettlType", "SettlmntTyp"]),
    (64, &["FutSettDate", "SettlDate"]),
    (68, &["ListNoOrds", "TotNoOrders"]),
    (74, &["AvgPrxPrecision", "AvgPxPrecision"]),
    (77, &["OpenClose", "PositionEffect"]),
    (80, &["AllocQty", "AllocShares"]),
    (193, &["FutSettDate2", "SettlDate2"]),
    (211, &["PegDifference", "PegOffsetValue"]),
    (218, &["Spread", "SpreadToBenchmark"]),
    (286, &["OpenCloseSettlFlag", "OpenCloseSettleFlag"]),
    (297, &["QuoteAckStatus", "QuoteStatus"]),
    (304, &["TotNoQuoteEntries", "TotQuoteEntries"]),
    (305, &["UnderlyingIDSource", "UnderlyingSecurityIDSource"]),
    (327, &["HaltReason", "HaltReasonChar", "HaltReasonInt"]),
    (389, &["DiscretionOffset", "DiscretionOffsetValue"]),
    (393, &["TotNoRelatedSym", "TotalNumSecurities"]),
    (418, &["BidTradeType", "TradeType"]),
    (491, &["CardIssNo", "CardIssNum"]),
    (509, &["RegistDetls", "RegistDtls"]),
    (557, &["TotNoSecurityTypes", "TotalNumSecurityTypes"]),
    (587, &["LegSettlType", "LegSettlmntTyp"]),
    (588, &["LegFutSettDate", "LegSettlDate"]),
    (982, &["ExpType", "ExpirationQtyType"]),
    (1008, &["SideTrdSubTyp", "SideTrdSubType"]),
    (1009, &["SideLastQty", "SideQty"]),
    (1059, &["UnderlyingInstrumentPartyID", "UndlyInstrumentPartyID"]),
    (1060, &["UnderlyingInstrumentPartyIDSource", "UndlyInstrumentPartyIDSource"]),
    (1061, &["UnderlyingInstrumentPartyRole", "UndlyInstrumentPartyRole"]),
    (1063, &["UnderlyingInstrumentPartySubID", "UndlyInstrumentPartySubID"]),
    (1064, &["UnderlyingInstrumentPartySubIDType", "UndlyInstrumentPartySubIDType"]),
    (1185, &["SecurityXML", "SecurityXMLData"]),
    (1195, &["OptPayAmount", "OptPayoutAmount"]),
    (1197, &["FuturesValuationMethod", "ValuationMethod"]),
    (1319, &["DerivativeFuturesValuationMethod", "DerivativeValuationMethod"]),
    (2676, &["MaximumPriceDeviation", "MaximumPricePercentage"]),
    (2798, &["EncodedMatchExceptionText", "EncodedMatchExecptionText", "EncodedMatchExecutionText"]),
];

/// Messages with several names in versions and dialects.
const MESSAGE_ALIASES: &[(&str, &[&str])] = &[
    ("6", &["IOI", "IndicationOfInterest"]),
    ("AC", &["MultilegOrderCancelReplace", "MultilegOrderCancelReplaceRequest"]),
    ("AU", &["ConfirmationAck", "Confirmation_Ack"]),
    ("BC", &["NetworkCounterpartySystemStatusRequest", "NetworkStatusRequest"]),
    ("BD", &["NetworkCounterpartySystemStatusResponse", "NetworkStatusResponse"]),
    ("BN", &["ExecutionAck", "ExecutionAcknowledgement"]),
    ("D", &["NewOrderSingle", "OrderSingle"]),
    ("E", &["NewOrderList", "OrderList"]),
    ("J", &["Allocation", "AllocationInstruction"]),
    ("P", &["AllocationAck", "AllocationInstructionAck"]),
    ("Q", &["DontKnowTrade", "DontKnowTradeDK"]),
    ("b", &["MassQuoteAck", "MassQuoteAcknowledgement", "QuoteAcknowledgement"]),
    ("n", &["XMLnonFIX", "XMLMessage"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_where_case_changes() {
        for (name, shown) in [
            ("Buy", "BUY"),
            ("NewOrderSingle", "NEW_ORDER_SINGLE"),
            ("FIXOnly", "FIX_ONLY"),
            ("EUCJP", "EUCJP"),
            ("UTF8", "UTF8"),
            ("YieldValueOf132", "YIELD_VALUE_OF132"),
            ("Day1Session", "DAY1_SESSION"),
            ("PARTIALLY_FILLED", "PARTIALLY_FILLED"),
            ("with space-and dash ", "WITH_SPACE_AND_DASH"),
        ] {
            assert_eq!(upper_snake(name), shown, "{name}");
        }
    }

    #[test]
    fn code_names_compare_without_case_and_separators() {
        assert!(same_code_name("GOOD_TILL_CANCEL", "GoodTillCancel"));
        assert!(!same_code_name("GOOD_TILL_CANCEL", "GoodTillDate"));
    }

    #[test]
    fn no_alias_stands_for_two_fields_or_messages() {
        let mut names: Vec<String> = FIELD_ALIASES
            .iter()
            .flat_map(|(_, names)| names.iter().map(|name| name.to_lowercase()))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        // The spelling of 23 differs only in case.
        assert_eq!(names.len() + 1, count);
        assert_eq!(field_alias("lastshares"), Some(32));
        assert_eq!(message_alias("OrderSingle"), Some("D"));
        assert_eq!(message_alias("Order"), None);
    }
}
