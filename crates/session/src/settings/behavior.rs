//! How a session reacts where the standard leaves room or engines differ, as data: one field for
//! each row of docs/conformance.md. The session's code asks for a reaction, never for the engine it
//! comes from.

use fixbolt_dictionary::Policy;

/// Which engine a session imitates where the standard leaves room or engines differ.
/// docs/conformance.md lists every difference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Compatibility {
    /// The letter of the FIX session standard.
    #[default]
    Standard,
    /// The behavior of QuickFIX (C++), which its acceptance scripts expect.
    QuickFix,
    /// The behavior of QuickFIX/J, which its acceptance scripts expect.
    QuickFixJ,
}

impl Compatibility {
    /// Returns the reactions that this value stands for.
    pub(crate) const fn behavior(self) -> Behavior {
        match self {
            Self::Standard => Behavior::STANDARD,
            Self::QuickFix => Behavior::QUICKFIX,
            Self::QuickFixJ => Behavior::QUICKFIXJ,
        }
    }

    /// Returns the engine's checks of received messages against the dictionary.
    #[must_use]
    pub fn validation(self) -> Policy {
        match self {
            Self::Standard => Policy::standard(),
            Self::QuickFix => Policy::quickfix(),
            Self::QuickFixJ => Policy::quickfixj(),
        }
    }
}

/// Declares a reaction with its alternatives.
macro_rules! reactions {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub(crate) enum $name { $($(#[$variant_doc])* $variant,)* }
        )*
    };
}

reactions! {
    /// What is sent before a connection is closed.
    Farewell {
        /// A Logout with a Text that says why.
        Logout,
        /// Nothing.
        Silence,
    }
    /// How a Logon that the dictionary refuses is answered.
    InvalidLogon {
        /// A Reject, then a Logout.
        RejectAndLogout,
        /// A Logout whose Text is "Invalid Logon message: REASON, field=TAG"; also for SendingTime
        /// out of range.
        OneLogout,
    }
    /// How a message with PossDupFlag=Y is treated if its OrigSendingTime is missing or too late.
    PossDupFault {
        /// A Reject; the session goes on.
        Rejected,
        /// A Reject, then a Logout.
        RejectedAndLoggedOut,
        /// The message is processed.
        NotChecked,
    }
    /// Whether a Reject names the field in error.
    RefTagId {
        /// RefTagID (371) names it.
        Named,
        /// RefTagID (371) is left out.
        Omitted,
    }
    /// The Text of a Logout after a Reject.
    LogoutText {
        /// The Text of the Reject, unchanged.
        Given,
        /// The Text of the Reject followed by ", field=TAG".
        GivenWithField,
        /// No Text.
        Omitted,
    }
    /// How an empty SenderCompID or TargetCompID is treated.
    EmptyCompId {
        /// As a wrong CompID.
        WrongCompId,
        /// As a field without a value: Reject 373=4, and the session goes on.
        EmptyValue,
    }
    /// How a message that contains a field without `=` is treated.
    FieldWithoutEquals {
        /// Reject 373=17 with the tag of the field before it.
        Rejected,
        /// The message counts as garbled.
        Ignored,
    }
    /// Whether a Heartbeat is sent when it is due while our own TestRequest is unanswered.
    HeartbeatWhileTesting {
        /// It is sent.
        Sent,
        /// It is not sent.
        Held,
    }
    /// The TestReqID (112) of our TestRequests.
    TestReqId {
        /// A different number for each.
        Counted,
        /// Always TEST.
        Fixed,
    }
    /// How a ResendRequest is answered that asks for nothing: 7=0, 7 above the last sequence
    /// number, or 7 above 16.
    EmptyResendRequest {
        /// Reject 373=5 with 371=7 or 16.
        Rejected,
        /// Nothing is sent; 7=0 is read as 1.
        Passed,
    }
    /// How a message is treated whose sequence number is too low.
    TooLow {
        /// Logout "MsgSeqNum too low", disconnect.
        Disconnected,
        /// It is answered as if the number were right.
        Answered,
    }
    /// How a ResendRequest is treated that arrives after a gap that was already asked for.
    ResendRequestBeyondGap {
        /// It is answered, then the gap is requested again.
        AskedAgain,
        /// It is answered.
        Answered,
    }
    /// How a gap fill is treated whose NewSeqNo (36) is not above its own sequence number.
    GapFillBackwards {
        /// Reject 373=5 whose Text contains the value; its sequence number is used.
        Rejected,
        /// If 36 is below NextNumIn, as a Reset to a lower number; its sequence number is not used.
        AsLowerReset,
    }
    /// When application messages are sent after a Logon before which messages are missing.
    SendingAfterGap {
        /// Once our request for them was followed by something: the first of them, a ResendRequest
        /// of the counterparty, or ten seconds without either (HeartBtInt, if that is longer).
        HeldBack,
        /// At once.
        AtOnce,
    }
    /// Whether our messages have a field that the standard leaves optional.
    OptionalField {
        /// It is sent.
        Sent,
        /// It is not sent.
        Omitted,
    }
    /// How the reject of a message of FIXT.1.1 that did not name its version says which one it was
    /// read as.
    VersionOfRejected {
        /// RefApplVerID (1130) of Reject, and of BusinessMessageReject since FIX.5.0SP1.
        RefApplVerId,
        /// DefaultApplVerID (1137) of BusinessMessageReject.
        DefaultApplVerId,
        /// Not at all.
        Omitted,
    }
    /// What happens after a Logout was answered.
    AfterLogout {
        /// The other side has ten seconds to close the connection.
        AwaitClose,
        /// The connection is closed.
        Close,
    }
    /// How a Logout is treated whose sequence number is too high.
    LogoutTooHigh {
        /// The gap is requested first; the Logout is answered once the gap is filled.
        GapFirst,
        /// It is answered at once.
        Answered,
    }
    /// The Text of a Reject for a violation of the dictionary.
    ViolationText {
        /// The reason in words.
        Reason,
        /// The reason in words followed by ", field=TAG".
        ReasonWithField,
    }
    /// How the Text of a Reject names the field in error before FIX.4.2, which has no RefTagID
    /// (371).
    TagInText {
        /// Its tag follows in brackets.
        InBrackets,
        /// ", field=TAG" follows.
        AsField,
    }
    /// Which of several violations in one message is rejected.
    FirstViolation {
        /// The first one in the message.
        InWireOrder,
        /// Duplicate tags, wrong order of header, body and trailer, and wrong group members before
        /// all other violations.
        StructureFirst,
        /// Wrong order of header, body and trailer, then MsgType, then required fields that are
        /// missing, then the other fields of the header, the trailer and the body, by their tags,
        /// and the members of groups last.
        ByTag,
    }
    /// What is lost after a wrong BodyLength (9).
    WrongBodyLength {
        /// One message: reading continues at the next `SOH 8=FIX`.
        CostsOneMessage,
        /// If the length is too long, also the message in which it ends: reading continues after
        /// the next CheckSum (10).
        SwallowsTheNext,
    }
}

/// Declares [`Behavior`] and its three constants from a table.
macro_rules! behavior {
    ($($(#[$doc:meta])* $field:ident: $type:ident = $standard:ident, $quickfix:ident, $quickfixj:ident;)*) => {
        /// How a session reacts where the standard leaves room or engines differ: one field for
        /// each row of docs/conformance.md.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) struct Behavior { $($(#[$doc])* pub(crate) $field: $type,)* }

        impl Behavior {
            /// The letter of the FIX session standard.
            pub(crate) const STANDARD: Self = Self { $($field: $type::$standard,)* };
            /// QuickFIX (C++).
            pub(crate) const QUICKFIX: Self = Self { $($field: $type::$quickfix,)* };
            /// QuickFIX/J.
            pub(crate) const QUICKFIXJ: Self = Self { $($field: $type::$quickfixj,)* };

            /// Returns each field and its reaction in the order of declaration, for the test of
            /// docs/conformance.md.
            #[cfg(test)]
            fn rows(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), format!("{:?}", self.$field))),*]
            }
        }
    };
}

behavior! {
    /// 1S-d: a Logon with SendingTime far off, negative HeartBtInt, or 141=Y with 34 above 1.
    refused_logon: Farewell = Logout, Silence, Logout;
    /// 1S-d: a Logon that the dictionary refuses.
    invalid_logon: InvalidLogon = RejectAndLogout, RejectAndLogout, OneLogout;
    /// 1S-d: a Logon outside the session's schedule.
    logon_outside_schedule: Farewell = Logout, Silence, Logout;
    /// 1S-d: a Logon without MsgSeqNum.
    logon_without_seq_num: Farewell = Logout, Silence, Logout;
    /// 1S-d: a Logon of FIXT.1.1 without DefaultApplVerID (1137).
    logon_without_appl_ver_id: Farewell = Logout, Silence, Logout;
    /// 1S-a: MaxMessageSize (383) in our Logons, since FIX.4.2.
    max_message_size_in_logon: OptionalField = Sent, Omitted, Omitted;
    /// 1S-a: new application messages after a Logon whose sequence number is too high.
    sending_after_logon_gap: SendingAfterGap = HeldBack, AtOnce, AtOnce;
    /// A message without MsgSeqNum in the session.
    message_without_seq_num: Farewell = Logout, Silence, Logout;
    /// A second Logon in the session, without 141=Y.
    second_logon: Farewell = Logout, Silence, Silence;
    /// 2f: OrigSendingTime after SendingTime, sequence number as expected.
    late_orig_sending_time: PossDupFault = Rejected, NotChecked, RejectedAndLoggedOut;
    /// 2f: OrigSendingTime after SendingTime, sequence number too low.
    late_orig_sending_time_too_low: PossDupFault = Rejected, RejectedAndLoggedOut, RejectedAndLoggedOut;
    /// 2f: whether the Reject names OrigSendingTime.
    orig_sending_time_tag: RefTagId = Named, Omitted, Named;
    /// 2g: PossDupFlag=Y without OrigSendingTime, sequence number as expected.
    missing_orig_sending_time: PossDupFault = Rejected, NotChecked, Rejected;
    /// 2k: whether the Reject names SenderCompID or TargetCompID.
    comp_id_tag: RefTagId = Named, Omitted, Omitted;
    /// 2k: the Text of the Logout.
    comp_id_logout_text: LogoutText = Given, Omitted, Given;
    /// 2m: wrong BodyLength.
    wrong_body_length: WrongBodyLength = CostsOneMessage, SwallowsTheNext, SwallowsTheNext;
    /// 2o: whether the Reject names SendingTime.
    sending_time_tag: RefTagId = Named, Omitted, Named;
    /// 2f and 2o: the Text of the Logout.
    sending_time_logout_text: LogoutText = Given, Omitted, GivenWithField;
    /// 2q: whether the Reject of an unknown MsgType names the tag of MsgType.
    msg_type_tag: RefTagId = Omitted, Omitted, Named;
    /// 2r: which field of a reject names the version that a message of FIXT.1.1 was read as.
    version_of_rejected: VersionOfRejected = RefApplVerId, DefaultApplVerId, Omitted;
    /// 2c: SessionStatus (1409) in our Logouts, in FIXT.1.1.
    session_status: OptionalField = Sent, Omitted, Omitted;
    /// 4a: the Heartbeat that is due while our own TestRequest is unanswered.
    heartbeat_while_testing: HeartbeatWhileTesting = Sent, Held, Held;
    /// 6: TestReqID of our TestRequest.
    test_req_id: TestReqId = Counted, Fixed, Fixed;
    /// 6: our TestRequest is not answered.
    unanswered_test_request: Farewell = Logout, Silence, Silence;
    /// 8: a ResendRequest that asks for nothing.
    empty_resend_request: EmptyResendRequest = Rejected, Passed, Passed;
    /// 8: a ResendRequest whose own sequence number is too low.
    resend_request_too_low: TooLow = Disconnected, Answered, Disconnected;
    /// 10e: a gap fill with 36 not above 34.
    gap_fill_backwards: GapFillBackwards = Rejected, AsLowerReset, AsLowerReset;
    /// 11c: whether the Reject of a Reset to a lower number names NewSeqNo.
    lower_reset_tag: RefTagId = Named, Omitted, Named;
    /// 13b: what happens after a Logout was answered.
    after_logout: AfterLogout = AwaitClose, Close, Close;
    /// 13b: a Logout whose sequence number is too high.
    logout_too_high: LogoutTooHigh = GapFirst, Answered, Answered;
    /// 13b: a Logout whose sequence number is too low.
    logout_too_low: TooLow = Disconnected, Answered, Answered;
    /// 14d: SenderCompID or TargetCompID without a value.
    empty_comp_id: EmptyCompId = WrongCompId, EmptyValue, EmptyValue;
    /// 14f: the Text of a Reject for a violation of the dictionary, and for CompIDs and SendingTime
    /// that are missing or malformed.
    violation_text: ViolationText = Reason, Reason, ReasonWithField;
    /// 14: how a Reject before FIX.4.2 names the field in error in its Text.
    tag_in_text: TagInText = InBrackets, InBrackets, AsField;
    /// 14j: which of several violations is rejected.
    first_violation: FirstViolation = InWireOrder, ByTag, StructureFirst;
    /// 14k: a field without `=`.
    field_without_equals: FieldWithoutEquals = Rejected, Ignored, Ignored;
    /// 20: a ResendRequest that arrives after a gap that was already asked for.
    resend_request_beyond_gap: ResendRequestBeyondGap = AskedAgain, Answered, Answered;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cells of a row of docs/conformance.md that begins with a field's name, each up
    /// to its first colon.
    fn row(line: &str) -> Option<(String, [String; 3])> {
        let cells: Vec<_> = line.strip_prefix("| `")?.split(" | ").collect();
        let [field, _, standard, quickfix, quickfixj] = cells.as_slice() else { return None };
        let reaction = |cell: &str| cell.split('`').nth(1).unwrap_or_default().to_owned();
        Some((
            field.trim_end_matches('`').to_owned(),
            [standard, quickfix, quickfixj].map(|cell| reaction(cell)),
        ))
    }

    #[test]
    fn every_row_of_the_documents_table_is_a_field_with_these_three_reactions() {
        let page = include_str!("../../../../docs/conformance.md");
        let written: Vec<_> = page.lines().filter_map(row).collect();
        let columns = [Behavior::STANDARD, Behavior::QUICKFIX, Behavior::QUICKFIXJ].map(|all| all.rows());
        let [standard, quickfix, quickfixj] = &columns;
        let built: Vec<_> = standard
            .iter()
            .zip(quickfix)
            .zip(quickfixj)
            .map(|((s, q), j)| (s.0.to_owned(), [s.1.clone(), q.1.clone(), j.1.clone()]))
            .collect();
        assert_eq!(written, built, "docs/conformance.md on the left, Behavior on the right");
    }
}
