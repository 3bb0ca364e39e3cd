//! The entry types and message roles that the core tells apart.

/// Type of an entry. Unknown types take part in the tree like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Kind {
    /// A type this version does not know.
    #[default]
    Unknown,
    /// `message`
    Message,
    /// `model_change`
    ModelChange,
    /// `thinking_level_change`
    ThinkingLevelChange,
    /// `service_tier_change`
    ServiceTierChange,
    /// `compaction`
    Compaction,
    /// `branch_summary`
    BranchSummary,
    /// `custom`
    Custom,
    /// `custom_message`
    CustomMessage,
    /// `label`
    Label,
    /// `ttsr_injection`
    TtsrInjection,
    /// `mcp_tool_selection`
    McpToolSelection,
    /// `session_init`
    SessionInit,
    /// `mode_change`
    ModeChange,
    /// `session`: a header, never an entry.
    Session,
    /// `title`: the line newer agents put before the header, never an entry.
    Title,
}

impl Kind {
    /// The kind named by the value of `type`.
    pub fn from_type(name: &[u8]) -> Self {
        match name {
            b"message" => Kind::Message,
            b"model_change" => Kind::ModelChange,
            b"thinking_level_change" => Kind::ThinkingLevelChange,
            b"service_tier_change" => Kind::ServiceTierChange,
            b"compaction" => Kind::Compaction,
            b"branch_summary" => Kind::BranchSummary,
            b"custom" => Kind::Custom,
            b"custom_message" => Kind::CustomMessage,
            b"label" => Kind::Label,
            b"ttsr_injection" => Kind::TtsrInjection,
            b"mcp_tool_selection" => Kind::McpToolSelection,
            b"session_init" => Kind::SessionInit,
            b"mode_change" => Kind::ModeChange,
            b"session" => Kind::Session,
            b"title" => Kind::Title,
            _ => Kind::Unknown,
        }
    }
}

/// Role of a message, as far as the core needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Role {
    /// No role, or one that decides nothing here.
    #[default]
    Other,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `toolResult`
    ToolResult,
    /// `hookMessage`, which version 3 renamed to `custom`.
    HookMessage,
}

impl Role {
    /// The role named by the value of `message.role`.
    pub fn from_name(name: &[u8]) -> Self {
        match name {
            b"user" => Role::User,
            b"assistant" => Role::Assistant,
            b"toolResult" => Role::ToolResult,
            b"hookMessage" => Role::HookMessage,
            _ => Role::Other,
        }
    }
}
