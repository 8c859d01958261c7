//! The bounds that make every template end soon and small, even a hostile one.

/// Combinations of arguments that one prompt is rendered for.
pub(crate) const VARIANTS_MAX: u64 = 64;
/// Bytes of one template.
pub(crate) const TEMPLATE_BYTES_MAX: usize = 256 * 1024;
/// Templates of one prompt, with all that they include.
pub(super) const SOURCES_MAX: usize = 256;
/// Bytes of one rendered text.
pub(crate) const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of all rendered texts of one prompt.
pub(crate) const TOTAL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Tokens of one tag. The parser and every walk of its tree recurse over the contents of a tag.
pub(super) const TAG_TOKENS_MAX: usize = 600;
/// Prefix operators of one tag: each is a level of the tree.
pub(super) const TAG_PREFIXES_MAX: usize = 50;
/// Brackets inside brackets of one tag.
pub(super) const BRACKETS_MAX: usize = 12;
/// Levels of blocks inside blocks: a block counts 2, each `elif` for 1 more.
pub(super) const LEVELS_MAX: usize = 100;

/// Instructions of one rendering, with those that rewriting adds: the engine's fuel.
pub(super) const STEPS_MAX: u64 = 350_000;
/// Calls, includes and loops inside each other, as the engine weighs them (an include 10, a
/// macro 4, a loop 1).
pub(super) const CALLS_MAX: usize = 200;
/// Bytes that the operators, filters and captures of one rendering may read and write.
pub(super) const WORK_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of one value and all its contents.
pub(super) const VALUE_MAX: u64 = 1024 * 1024;
/// The bytes that one item of a list or map counts.
pub(super) const ITEM_BYTES: u64 = 16;
/// Lists inside lists.
pub(super) const VALUE_DEPTH_MAX: usize = 32;

/// The most that all templates of a project may cost, beyond [`PROMPT_COST`] for each prompt: 1 for
/// a byte that is read or written, [`STEP_COST`] for an instruction and [`TEXT_COST`] for a byte of
/// a rendered text.
pub(super) const PROJECT_COST_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The part of the cost of each prompt that is free.
pub(super) const PROMPT_COST: u64 = 1024 * 1024;
pub(super) const STEP_COST: u64 = 64;
pub(super) const TEXT_COST: u64 = 16;
