//! Prints dispatching by MsgType: `AnyMessage`, an enum over all messages of the version, and
//! `Handler`, a trait with one method per message.

use crate::plan::{Plan, wanted};
use crate::{line, names};

/// Prints the enum, the trait and the function, in the root.
pub(crate) fn print(out: &mut String, plan: &Plan<'_>) {
    let version = names::in_a_line(&plan.dictionary.version().name);
    let messages: Vec<(String, String, String)> = plan
        .messages
        .iter()
        .map(|message| {
            let msg_type = message.msg_type.as_bytes().escape_ascii().to_string();
            let [view, module] = plan.message_names(message).map(String::from);
            (view, module, msg_type)
        })
        .collect();

    line!(out, "/// A message of {version}, by its MsgType (35).");
    line!(out, "#[derive(Clone, Debug)]\npub enum AnyMessage<'m> {{");
    for (view, _, msg_type) in &messages {
        line!(out, "    /// `{msg_type}`\n    {view}({view}<'m>),");
    }
    line!(out, "    /// A message of any other type.\n    Other(codec::Message<'m>),\n}}");
    line!(out, "impl<'m> AnyMessage<'m> {{");
    line!(out, "    /// Reads a message as one of its type.\n    ///\n    /// # Errors");
    line!(out, "    /// Returns [`typed::WrongMessage`] if the message is of another version.");
    line!(
        out,
        "    #[inline] pub fn read(message: codec::Message<'m>) -> ::core::result::Result<Self, typed::WrongMessage> {{"
    );
    line!(out, "        match message.msg_type() {{");
    for (view, _, msg_type) in &messages {
        line!(out, "            b\"{msg_type}\" => {view}::read(message).map(Self::{view}),");
    }
    line!(
        out,
        "            _ => typed::check_version(&message, {}).map(|()| Self::Other(message)),",
        wanted(plan.version())
    );
    line!(out, "        }}\n    }}\n}}");

    line!(out, "/// Handles messages of {version}: one method per type, called by [`dispatch`].");
    line!(out, "///");
    line!(
        out,
        "/// `C` is a context that the caller passes, for example the turn of a session. A method that is not implemented"
    );
    line!(out, "/// passes its message to [`Handler::on_other`].");
    line!(out, "pub trait Handler<C: ?::core::marker::Sized> {{");
    line!(out, "    /// The result of a method.\n    type Answer;");
    line!(out, "    /// Handles a message whose type has no method, or none that is implemented.");
    line!(out, "    fn on_other(&mut self, message: codec::Message<'_>, context: &mut C) -> Self::Answer;");
    for (view, module, msg_type) in &messages {
        line!(out, "    /// {view} ({msg_type}).");
        line!(
            out,
            "    #[inline] fn on_{module}(&mut self, message: {view}<'_>, context: &mut C) -> Self::Answer {{ self.on_other(message.message(), context) }}"
        );
    }
    line!(out, "}}");
    line!(out, "/// Calls the handler's method for the type of the message.\n///\n/// # Errors");
    line!(out, "/// Returns [`typed::WrongMessage`] if the message is of another version.");
    line!(
        out,
        "#[inline] pub fn dispatch<C: ?::core::marker::Sized, H: Handler<C> + ?::core::marker::Sized>(message: codec::Message<'_>, handler: &mut H, context: &mut C) -> ::core::result::Result<H::Answer, typed::WrongMessage> {{"
    );
    line!(out, "    ::core::result::Result::Ok(match AnyMessage::read(message)? {{");
    for (view, module, _) in &messages {
        line!(out, "        AnyMessage::{view}(message) => handler.on_{module}(message, context),");
    }
    line!(out, "        AnyMessage::Other(message) => handler.on_other(message, context),\n    }})\n}}");
}
