//! Trees and contexts by the letter of the rules, however long it takes.

use omp_session::context::plan;
use omp_session::index::NONE;
use omp_session::session::Session;
use std::collections::HashSet;
use std::path::Path;

/// What a line says, as far as it decides something.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its id; several may have the same.
    pub id: String,
    /// The id it names as its parent.
    pub parent: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// Seconds of its time; none for a time that cannot be read.
    pub time: Option<u8>,
}

/// The kinds that decide something in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    User,
    /// Provider and model.
    Assistant(String, String),
    /// Role and model.
    ModelChange(Option<String>, String),
    ThinkingLevel,
    Mode,
    Injection,
    Custom,
    CustomMessage,
    BranchSummary,
    /// The first entry that is kept.
    Compaction(String),
}

impl Entry {
    /// Its line.
    pub fn line(&self) -> String {
        let (kind, rest) = match &self.kind {
            Kind::User => ("message", r#""message":{"role":"user","content":"x"}"#.to_string()),
            Kind::Assistant(provider, model) => (
                "message",
                format!(r#""message":{{"role":"assistant","content":[],"provider":"{provider}","model":"{model}"}}"#),
            ),
            Kind::ModelChange(role, model) => {
                let role = role.as_ref().map_or(String::new(), |role| format!(r#","role":"{role}""#));
                ("model_change", format!(r#""model":"{model}"{role}"#))
            }
            Kind::ThinkingLevel => ("thinking_level_change", r#""thinkingLevel":"high""#.into()),
            Kind::Mode => ("mode_change", r#""mode":"plan""#.into()),
            Kind::Injection => ("ttsr_injection", r#""injectedRules":["r"]"#.into()),
            Kind::Custom => ("custom", r#""customType":"x""#.into()),
            Kind::CustomMessage => ("custom_message", r#""customType":"x","content":"c","display":true"#.into()),
            Kind::BranchSummary => ("branch_summary", r#""fromId":"root","summary":"s""#.into()),
            Kind::Compaction(kept) => {
                ("compaction", format!(r#""summary":"s","firstKeptEntryId":"{kept}","tokensBefore":1"#))
            }
        };
        let parent = self.parent.as_ref().map_or("null".to_string(), |parent| format!("\"{parent}\""));
        let id = &self.id;
        let time = self.time.map_or("soon".to_string(), |second| format!("2024-12-03T14:00:0{second}.000Z"));
        format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"{time}",{rest}}}"#)
    }
}

/// The parent of each entry, by number: the nearest earlier one of that id, else the first later one;
/// of a circle the first entry is a root.
pub fn parents(entries: &[Entry]) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = (0..entries.len())
        .map(|at| {
            let wanted = entries[at].parent.as_ref()?;
            let is = |other: &usize| entries[*other].id == *wanted;
            (0..at).rev().find(is).or_else(|| (at + 1..entries.len()).find(is).filter(|_| entries[at].id != *wanted))
        })
        .collect();
    for at in 0..entries.len() {
        let (mut seen, mut next) = (HashSet::new(), parents[at]);
        while let Some(parent) = next.filter(|parent| seen.insert(*parent)) {
            if parent == at {
                parents[at] = None;
                break;
            }
            next = parents[parent];
        }
    }
    parents
}

/// Every entry: the roots as they stand in the file, then the children of each entry in order of time. A
/// time that cannot be read is that of the sibling before it.
pub fn tree_order(entries: &[Entry], parents: &[Option<usize>]) -> Vec<u32> {
    let children = |parent: Option<usize>| (0..entries.len()).filter(move |at| parents[*at] == parent);
    let mut order: Vec<usize> = children(None).collect();
    for parent in 0..entries.len() {
        let mut sorted: Vec<(Option<u8>, usize)> = Vec::new();
        let mut last = None;
        for at in children(Some(parent)) {
            last = entries[at].time.or(last);
            let place = sorted.iter().position(|(time, _)| *time > last).unwrap_or(sorted.len());
            sorted.insert(place, (last, at));
        }
        order.extend(sorted.into_iter().map(|(_, at)| at));
    }
    order.into_iter().map(|at| at as u32).collect()
}

/// A context, by numbers of entries.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Context {
    pub thinking_level: Option<u32>,
    pub mode: Option<u32>,
    pub injections: Vec<u32>,
    pub models: Vec<(String, String)>,
    pub compaction: Option<u32>,
    pub kept: Vec<u32>,
    pub messages: Vec<u32>,
}

/// What the model is to see at `leaf`.
pub fn context(entries: &[Entry], leaf: usize) -> Context {
    let parents = parents(entries);
    let mut path = vec![leaf];
    while let Some(parent) = parents[path[path.len() - 1]] {
        path.push(parent);
    }
    path.reverse();
    let mut context = Context::default();
    let mut set = |role: &str, model: String| match context.models.iter_mut().find(|(known, _)| known == role) {
        Some((_, value)) => *value = model,
        None => context.models.push((role.to_string(), model)),
    };
    for at in &path {
        match &entries[*at].kind {
            Kind::Assistant(provider, model) => set("default", format!("{provider}/{model}")),
            Kind::ModelChange(role, model) if !model.is_empty() => {
                set(role.as_deref().unwrap_or("default"), model.clone())
            }
            _ => {}
        }
    }
    let last = |wanted: Kind| path.iter().rev().find(|at| entries[**at].kind == wanted).map(|at| *at as u32);
    context.thinking_level = last(Kind::ThinkingLevel);
    context.mode = last(Kind::Mode);
    context.injections = path.iter().filter(|at| entries[**at].kind == Kind::Injection).map(|at| *at as u32).collect();
    let messages = |path: &[usize]| -> Vec<u32> {
        let is = |at: &&usize| {
            matches!(entries[**at].kind, Kind::User | Kind::Assistant(..) | Kind::CustomMessage | Kind::BranchSummary)
        };
        path.iter().filter(is).map(|at| *at as u32).collect()
    };
    let compaction = path.iter().rposition(|at| matches!(entries[*at].kind, Kind::Compaction(_)));
    let Some(place) = compaction else {
        context.messages = messages(&path);
        return context;
    };
    context.compaction = Some(path[place] as u32);
    if let Kind::Compaction(kept) = &entries[path[place]].kind
        && let Some(first) = path[..place].iter().position(|at| entries[*at].id == *kept)
    {
        context.kept = messages(&path[first..place]);
    }
    context.messages = messages(&path[place + 1..]);
    context
}

/// Ids of both kinds: hex ones and others.
const IDS: [&str; 12] =
    ["00000001", "00000002", "00000003", "0000000a", "0000000A", "root", "x", "y", "ffffffff", "é", "null", "1"];

/// Entries of any kind that hang together in any way, four bytes for each.
pub fn from_bytes(data: &[u8]) -> Vec<Entry> {
    let id = |byte: u8| IDS[usize::from(byte) % IDS.len()].to_string();
    let entry = |bytes: &[u8]| {
        let kind = match bytes[2] % 16 {
            0..3 => Kind::User,
            3..6 => Kind::Assistant("p".into(), id(bytes[3])),
            6 => Kind::ModelChange(None, id(bytes[3])),
            7 => Kind::ModelChange(Some(id(bytes[3])), "m".into()),
            8 => Kind::ThinkingLevel,
            9 => Kind::Mode,
            10 => Kind::Injection,
            11 => Kind::Custom,
            12 => Kind::CustomMessage,
            13 => Kind::BranchSummary,
            _ => Kind::Compaction(id(bytes[3])),
        };
        // Half of the ids are their own, so that long paths come about.
        let own = if bytes[0] >= 128 { id(bytes[0]) } else { format!("{:08x}", 0x100 + u32::from(bytes[0])) };
        let parent = match bytes[1] {
            0..16 => None,
            16..128 => Some(format!("{:08x}", 0x100 + u32::from(bytes[1] - 16))),
            _ => Some(id(bytes[1])),
        };
        Entry { id: own, parent, kind, time: Some(bytes[3] / 16 % 8).filter(|second| *second < 7) }
    };
    data.chunks_exact(4).take(64).map(entry).collect()
}

/// Panics where a session of these entries sees another tree or context than the plain rules.
pub fn compare(entries: &[Entry]) {
    let mut text = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_string();
    entries.iter().for_each(|entry| text.extend([&entry.line(), "\n"]));
    let session = Session::from_text(text.into_bytes(), Path::new("made"), 1).expect("a session").expect("a header");
    let index = session.index();
    let found: Vec<Option<usize>> =
        index.records().iter().map(|record| Some(record.parent as usize).filter(|_| record.parent != NONE)).collect();
    assert_eq!(found, parents(entries));
    assert_eq!(index.tree_order().order, tree_order(entries, &found));
    for leaf in 0..entries.len() {
        let plan = plan(index, Some(leaf as u32));
        let text = |wtf8: Vec<u8>| String::from_utf8(wtf8).expect("UTF-8");
        let seen = Context {
            thinking_level: plan.thinking_level,
            mode: plan.mode,
            injections: plan.injections,
            models: plan.models.into_iter().map(|(role, model)| (text(role), text(model))).collect(),
            compaction: plan.compaction,
            kept: plan.kept,
            messages: plan.messages,
        };
        assert_eq!(seen, context(entries, leaf), "at {leaf} of {entries:?}");
    }
}
