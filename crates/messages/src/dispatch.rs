//! Dispatching a message by its version.

/// Calls the `dispatch` of the version that a message is of, out of several:
/// `dispatch!(message, handler, context, [fix42, fix44])`.
///
/// The handler implements the `Handler` of each version, with the same `Answer`. The message goes
/// to the first version that it may be read as ([`Message::is_of`](crate::codec::Message::is_of)).
/// Session messages of FIXT.1.1 belong to each version over it. So does every message of
/// FIXT.1.1 to the module `fixt11`, which therefore comes last, if it is named at all.
///
/// FIX Latest may read messages of FIX.5.0SP2, which therefore comes before it.
///
/// The versions are modules of this crate or generated ones. Dialects of the same version are told
/// apart by their sessions, not by their messages.
///
/// # Errors
/// Returns [`WrongMessage`](crate::typed::WrongMessage), which names all versions, if the message
/// is of none of them.
///
/// ```
/// # #[cfg(all(feature = "fix42", feature = "fix44"))] {
/// use fixbolt_messages::codec::Message;
/// use fixbolt_messages::typed::WrongMessage;
/// use fixbolt_messages::{dispatch, fix42, fix44};
///
/// /// Notes the version of each order.
/// #[derive(Default)]
/// struct Desk(Vec<&'static str>);
///
/// impl fix42::Handler<()> for Desk {
///     type Answer = ();
///     fn on_order_single(&mut self, _: fix42::NewOrderSingle<'_>, _: &mut ()) {
///         self.0.push("4.2");
///     }
///     fn on_other(&mut self, _: Message<'_>, _: &mut ()) {}
/// }
///
/// impl fix44::Handler<()> for Desk {
///     type Answer = ();
///     fn on_new_order_single(&mut self, _: fix44::NewOrderSingle<'_>, _: &mut ()) {
///         self.0.push("4.4");
///     }
///     fn on_other(&mut self, _: Message<'_>, _: &mut ()) {}
/// }
///
/// fn received(message: Message<'_>, desk: &mut Desk) -> Result<(), WrongMessage> {
///     dispatch!(message, desk, &mut (), [fix42, fix44])
/// }
/// # }
/// ```
#[macro_export]
macro_rules! dispatch {
    ($message:expr, $handler:expr, $context:expr, [$($($module:ident)::+),+ $(,)?]) => {{
        let message: $crate::codec::Message<'_> = $message;
        $(if message.is_of($($module)::+::VERSION) {
            $($module)::+::dispatch(message, $handler, $context)
        } else)+ {
            let wanted = [$($($module)::+::VERSION),+];
            ::core::result::Result::Err($crate::typed::WrongMessage::Version(
                $crate::typed::WrongVersion::new(&message, &wanted),
            ))
        }
    }};
}
