//! What the model is to see: which entries of a path decide the settings and which become messages.
//!
//! The answer is a plan of entry numbers; whoever has the bodies makes messages of them.

use crate::entry::kind::{Kind, Role};
use crate::index::{EntryIndex, Index};

/// How the context of a leaf is put together.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ContextPlan {
    /// Last `thinking_level_change` on the path.
    pub thinking_level: Option<EntryIndex>,
    /// Last `service_tier_change`.
    pub service_tier: Option<EntryIndex>,
    /// Last `mode_change`.
    pub mode: Option<EntryIndex>,
    /// Last `mcp_tool_selection`.
    pub tool_selection: Option<EntryIndex>,
    /// Every `ttsr_injection`, in order.
    pub injections: Vec<EntryIndex>,
    /// Model by role, in order of first appearance, each with the last value (WTF-8).
    pub models: Vec<(Vec<u8>, Vec<u8>)>,
    /// The last compaction.
    pub compaction: Option<EntryIndex>,
    /// Entries that become messages and stand before the compaction but are kept by it.
    pub kept: Vec<EntryIndex>,
    /// Entries that become messages: all, or those after the compaction.
    pub messages: Vec<EntryIndex>,
}

fn becomes_message(kind: Kind) -> bool {
    matches!(kind, Kind::Message | Kind::CustomMessage | Kind::BranchSummary)
}

/// Plans the context of the path that ends in `leaf`.
pub fn plan(index: &Index, leaf: Option<EntryIndex>) -> ContextPlan {
    let path = leaf.map(|leaf| index.path(leaf)).unwrap_or_default();
    let mut plan = ContextPlan::default();
    let mut compaction_place = None;
    // Looking a role up by its interned number keeps the common case free of comparisons.
    for (place, at) in path.iter().enumerate() {
        let Some(record) = index.get(*at) else { continue };
        match record.kind {
            Kind::ThinkingLevelChange => plan.thinking_level = Some(*at),
            Kind::ServiceTierChange => plan.service_tier = Some(*at),
            Kind::ModeChange => plan.mode = Some(*at),
            Kind::McpToolSelection => plan.tool_selection = Some(*at),
            Kind::TtsrInjection => plan.injections.push(*at),
            Kind::Compaction => {
                plan.compaction = Some(*at);
                compaction_place = Some(place);
            }
            Kind::Message if record.role == Role::Assistant => {
                if let Some(model) = index.string(record.aux) {
                    set_model(&mut plan.models, b"default", model);
                }
            }
            Kind::ModelChange => {
                if let Some(model) = index.string(record.aux) {
                    set_model(&mut plan.models, index.model_role(*at).unwrap_or(b"default"), model);
                }
            }
            _ => {}
        }
    }
    let is_message = |at: &&EntryIndex| index.get(**at).is_some_and(|record| becomes_message(record.kind));
    let Some(place) = compaction_place else {
        plan.messages = path.iter().filter(is_message).copied().collect();
        return plan;
    };
    let first_kept = index.get(path[place]).and_then(|record| index.string(record.aux));
    if let Some(first_kept) = first_kept {
        let start = path[..place].iter().position(|at| index.has_id(*at, first_kept));
        plan.kept = path[start.unwrap_or(place)..place].iter().filter(is_message).copied().collect();
    }
    plan.messages = path[place + 1..].iter().filter(is_message).copied().collect();
    plan
}

fn set_model(models: &mut Vec<(Vec<u8>, Vec<u8>)>, role: &[u8], model: &[u8]) {
    match models.iter_mut().find(|(known, _)| known == role) {
        Some((_, value)) if value == model => {}
        Some((_, value)) => *value = model.to_vec(),
        None => models.push((role.to_vec(), model.to_vec())),
    }
}
