//! What the cascade is asked.

/// Whose call of which tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Question<'q> {
    /// The tenant; absent for a caller without one.
    pub tenant: Option<&'q str>,
    /// The tool.
    pub tool: Option<&'q str>,
    /// The user.
    pub user: Option<&'q str>,
}
