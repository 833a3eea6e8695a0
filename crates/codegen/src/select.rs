//! A subset of a dictionary's messages, with the components, groups and code sets that they use.
//! Every name and type is the same as in all messages.

use std::collections::HashSet;

use fixbolt_dictionary::MessageDef;

use crate::GenerateError;
use crate::plan::Plan;

impl Plan<'_> {
    /// Keeps the messages with these MsgTypes, and what they, header and trailer use.
    pub(crate) fn select(&mut self, types: &[String]) -> Result<(), Vec<GenerateError>> {
        let all = self.dictionary.messages();
        let unknown = types.iter().filter(|wanted| all.iter().all(|message| message.msg_type != **wanted));
        let errors: Vec<GenerateError> = unknown.map(|wanted| error(wanted, all)).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        self.messages.retain(|message| types.contains(&message.msg_type));
        self.reach();
        let layouts = self.layouts();
        let used: HashSet<u32> =
            layouts.iter().flat_map(|layout| &layout.all).map(|placed| placed.tag).collect();
        for set in &mut self.code_sets {
            set.printed = set.fields.iter().any(|field| used.contains(&field.tag));
        }
        Ok(())
    }
}

fn error(wanted: &str, all: &[MessageDef]) -> GenerateError {
    let lower = wanted.to_lowercase();
    let is_near = |message: &&MessageDef| {
        let (name, msg_type) = (message.name.to_lowercase(), message.msg_type.to_lowercase());
        msg_type == lower || name == lower || lower.len() > 3 && name.contains(&lower)
    };
    let shown = |message: &MessageDef| format!("{} ({})", message.msg_type, message.name);
    let near: Vec<String> = all.iter().filter(is_near).map(shown).collect();
    let near = match near.is_empty() {
        true => format!("the types are {}", all.iter().map(shown).collect::<Vec<_>>().join(", ")),
        false => format!("near it are {}", near.join(", ")),
    };
    GenerateError {
        element: "messages".to_string(),
        definition: None,
        reason: format!("no message has the MsgType {wanted:?}; {near}"),
    }
}
