//! A body on its way from another thread to its session.

use fixbolt_codec::Body;

/// A finished body, and what its writer knows of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostedBody<'b> {
    pub(crate) body: Body<'b>,
    /// Whether one of its fields may be a secret of the session; `false` is certain.
    pub(crate) may_have_secrets: bool,
}
