//! The sections of format 1, in one table.

use crate::digest::Digest;

/// Declares the kinds of section, in the order of the file.
///
/// Each line is a name, its number in the file, the printed name, and the form of the section:
/// `settings` (canonical JSON of one value, decoded when the bundle is opened), `bytes`, or
/// `rows(N)` of N bytes each. `optional` marks a section that a reader may ignore of an unknown
/// kind, and `=> NAME` a section in a prebuilt group.
macro_rules! sections {
    ($($(#[$doc:meta])* $kind:ident = $number:literal $name:literal $form:ident $(($row:literal))? $($optional:ident)? $(=> $made:ident)?,)+) => {
        /// The kind of a section. The number is the one in the file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum Kind {
            $($(#[$doc])* $kind = $number,)+
        }

        impl Kind {
            /// Every kind, in the order of the file.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$kind),+];

            /// Returns the kind's name as `relay inspect` prints it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// Returns the length of one row in bytes; 1 for sections of bytes.
            pub(crate) const fn row_bytes(self) -> usize {
                match self { $(Self::$kind => row_bytes!($($row)?),)+ }
            }

            /// Returns whether the section is decoded when a bundle is opened.
            pub(crate) const fn is_settings(self) -> bool {
                match self { $(Self::$kind => is_settings!($form),)+ }
            }

            /// Returns whether this kind is critical: a reader must know it to accept the bundle.
            ///
            /// A reader can ignore sections that only explain (places, source, provenance) and
            /// still serve exactly the signed contents.
            pub(crate) const fn is_critical(self) -> bool {
                match self { $(Self::$kind => is_critical!($($optional)?),)+ }
            }

            /// Returns the prebuilt group of the section, which then follows from other sections.
            #[must_use]
            pub const fn prebuilt(self) -> Option<Prebuilt> {
                match self { $(Self::$kind => prebuilt!($($made)?),)+ }
            }
        }
    };
}

macro_rules! row_bytes {
    () => {
        1
    };
    ($bytes:literal) => {
        $bytes
    };
}

macro_rules! is_settings {
    (settings) => {
        true
    };
    ($other:ident) => {
        false
    };
}

macro_rules! is_critical {
    () => {
        true
    };
    (optional) => {
        false
    };
}

macro_rules! prebuilt {
    () => {
        None
    };
    ($made:ident) => {
        Some(Prebuilt::$made)
    };
}

/// A group of sections for answers of servers, derived from the others when a bundle is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prebuilt {
    /// The pages of the lists.
    Lists,
    /// The index of summaries and chapters.
    TagIndex,
    /// The index of skills.
    SkillIndex,
}

sections! {
    /// The identity of the bundle.
    Manifest = 1 "manifest" settings,
    /// The texts of the server's own messages.
    Messages = 2 "messages" settings,
    /// The settings of the gate, if sessions are gated.
    Gate = 3 "gate" settings,
    /// The tools, in the order of the list, if there are any.
    Tools = 4 "tools" settings,
    /// The roles, if the project has any.
    Roles = 5 "roles" settings,
    /// The settings of skills, if there are any.
    SkillSettings = 6 "skill-settings" settings,
    /// The policy for commands, if the project has one.
    Policy = 7 "policy" settings,
    /// All short strings, concatenated.
    Strings = 8 "strings" bytes,
    /// All bodies: literal text of prompts and resources, and binary content.
    Bodies = 9 "bodies" bytes,
    /// Lists of strings: references into `Strings`.
    StringLists = 10 "string-lists" rows(8),
    /// The settings of tools that start processes, if any are offered.
    ToolSettings = 11 "tool-settings" settings,
    /// The hosts that the project knows, if it names any.
    Hosts = 12 "hosts" settings,
    /// The prompts, sorted by name.
    Prompts = 16 "prompts" rows(108),
    /// Hash table from a prompt's name to its row.
    PromptIndex = 17 "prompt-index" rows(4),
    /// Chapters of prompts.
    Chapters = 18 "chapters" rows(12),
    /// Arguments of prompts and URI templates.
    Arguments = 19 "arguments" rows(48),
    /// Variants of prompts and URI templates.
    Variants = 20 "variants" rows(8),
    /// Messages of variants.
    PromptMessages = 21 "prompt-messages" rows(16),
    /// Parts of messages.
    Parts = 22 "parts" rows(40),
    /// Segments of texts.
    Segments = 23 "segments" rows(12),
    /// The facts of the tag index: one row.
    TagIndex = 24 "tag-index" rows(56) => TagIndex,
    /// The prompts in the order of selection: priority falling, then name.
    TagOrder = 25 "tag-order" rows(4) => TagIndex,
    /// The distinct words of summaries and chapters, each with the offset of its postings.
    TagWords = 26 "tag-words" rows(8) => TagIndex,
    /// The text of those words.
    TagText = 27 "tag-text" bytes => TagIndex,
    /// The prompts with each of those words.
    TagPostings = 28 "tag-postings" bytes => TagIndex,
    /// One or two bytes that many of those words hold, each with the place of its postings.
    TagGrams = 29 "tag-grams" rows(12) => TagIndex,
    /// The prompts with those bytes in a word.
    TagGramPostings = 30 "tag-gram-postings" bytes => TagIndex,
    /// The resources with a fixed URI, sorted by URI.
    Resources = 32 "resources" rows(76),
    /// Hash table from a resource's URI to its row.
    ResourceIndex = 33 "resource-index" rows(4),
    /// The URI templates.
    Templates = 34 "templates" rows(84),
    /// Pieces of URI templates.
    UriPieces = 35 "uri-pieces" rows(12),
    /// The tenants, sorted by name.
    Tenants = 36 "tenants" rows(12),
    /// Hash table from a tenant's name to its row.
    TenantIndex = 37 "tenant-index" rows(4),
    /// The roles of users.
    Users = 38 "users" rows(28),
    /// Hash table from an id to the first of its rows.
    UserIndex = 39 "user-index" rows(4),
    /// The class of callers that give no tenant, then the class of each tenant; absent, as the
    /// other sections of audiences, if everyone sees everything.
    TenantClasses = 40 "tenant-classes" rows(4),
    /// The audience of each class of tenants and role.
    AudienceTable = 42 "audience-table" rows(4),
    /// The audiences.
    Audiences = 43 "audiences" rows(72),
    /// The visible rows of each audience, as bits.
    AudienceMasks = 44 "audience-masks" bytes,
    /// The first rows of the pages of each audience.
    AudiencePages = 45 "audience-pages" rows(4) => Lists,
    /// The prompts in the index of each audience.
    AudienceIndex = 46 "audience-index" rows(4),
    /// The entries of the lists, in `PageBytes`.
    ListEntries = 47 "list-entries" rows(8) => Lists,
    /// Prebuilt pages of `prompts/list`.
    PromptPages = 48 "prompt-pages" rows(16) => Lists,
    /// Prebuilt pages of `resources/list`.
    ResourcePages = 49 "resource-pages" rows(16) => Lists,
    /// Prebuilt pages of `resources/templates/list`.
    TemplatePages = 50 "template-pages" rows(16) => Lists,
    /// Prebuilt pages of `tools/list`.
    ToolPages = 51 "tool-pages" rows(16) => Lists,
    /// The bytes of the prebuilt pages.
    PageBytes = 52 "page-bytes" bytes => Lists,
    /// The agent skills, sorted by URI.
    AgentSkills = 56 "agent-skills" rows(36),
    /// Hash table from the URI of a `SKILL.md` to the row of its agent skill.
    AgentSkillIndex = 57 "agent-skill-index" rows(4),
    /// The places of texts and settings.
    Places = 64 "places" rows(16) optional,
    /// The effective project as canonical KDL.
    Canonical = 65 "canonical" bytes optional,
    /// The build's provenance as JSON.
    Provenance = 66 "provenance" bytes optional,
    /// Data for reviewers ignored by answers, as JSON; absent if empty.
    Review = 67 "review" bytes optional,
    /// The skills, in the order of the cascade: level, priority, name.
    Skills = 72 "skills" rows(108),
    /// Patterns of skills.
    SkillTools = 73 "skill-tools" rows(12),
    /// The distinct patterns of skills, sorted.
    SkillPatterns = 74 "skill-patterns" rows(8) => SkillIndex,
    /// The combinations of tenant and user in selectors of skills.
    SkillScopes = 75 "skill-scopes" rows(24) => SkillIndex,
    /// Hash table from a tenant and a user to their row.
    SkillScopeIndex = 76 "skill-scope-index" rows(4) => SkillIndex,
    /// The lists of skills of each of those rows: one for each pattern, and one of the skills for
    /// any tool.
    SkillLists = 77 "skill-lists" rows(12) => SkillIndex,
    /// The skills of those lists.
    SkillPostings = 78 "skill-postings" rows(4) => SkillIndex,
    /// The topic of each skill.
    SkillTopics = 79 "skill-topics" rows(4) => SkillIndex,
    /// The tools compared with the patterns of skills when the bundle was built, sorted by name.
    KnownTools = 80 "known-tools" rows(16),
    /// Hash table from a tool's name to its row.
    KnownToolIndex = 81 "known-tool-index" rows(4),
    /// The patterns that match those tools.
    KnownToolPatterns = 82 "known-tool-patterns" rows(4),
    /// The facts about programs, in the form of relay-policy, if the project has a policy.
    Facts = 88 "facts" bytes,
    /// The rules of the policy, sorted by name.
    Rules = 96 "rules" rows(68),
    /// Conditions of rules.
    RuleConditions = 97 "rule-conditions" rows(36),
    /// Values of conditions.
    RuleValues = 98 "rule-values" rows(12),
    /// Texts on which rules were tried.
    RuleExamples = 99 "rule-examples" rows(16),
    /// The keys of rules, sorted.
    RuleKeys = 100 "rule-keys" rows(16),
    /// Hash table from a key to its row.
    RuleKeyIndex = 101 "rule-key-index" rows(4),
    /// The rules of each key.
    RuleKeyRules = 102 "rule-key-rules" rows(4),
    /// The automata of regexes in rules.
    Automata = 103 "automata" bytes,
}

/// Passes the contents of a bundle to a macro: settings, which are decoded when a bundle is opened,
/// and tables, in the order of writing.
///
/// A line is the field, its type, its section (the main one, if it has several), and its part in
/// the digest of a bundle's decisions: `decides`, `decides each` for a list whose items are hashed
/// one by one, `decides by FUNCTION` for the result of the function, or `silent`.
macro_rules! with_contents {
    ($apply:ident) => {
        $apply! {
            settings {
                /// The identity of the bundle.
                manifest: Manifest = Manifest, decides by decided;
                /// The texts of the server's own messages.
                messages: Messages = Messages, decides;
                /// The settings of the gate, if sessions are gated.
                gate: Option<Gate> = Gate, decides;
                /// The tools, in the order of the list, names unique.
                tools: Vec<Tool> = Tools, decides;
                /// The roles, sorted by name, names unique.
                roles: Vec<CallerRole> = Roles, decides;
                /// The use of skills in calls, if there are any.
                skill_settings: Option<SkillSettings> = SkillSettings, decides;
                /// The policy for commands, if the project has one.
                policy: Option<Policy> = Policy, decides;
                /// The settings of tools that start processes, if any are offered.
                tool_settings: Option<ToolSettings> = ToolSettings, decides;
                /// The hosts that the project knows, if it names any.
                hosts: Option<Hosts> = Hosts, decides;
            }
            tables {
                /// The prompts, sorted by name (code points), names unique.
                prompts: Vec<Prompt> = Prompts, decides each;
                /// The resources with a fixed URI, sorted by URI, URIs unique.
                resources: Vec<Resource> = Resources, decides each;
                /// The resources with variables in their URI, sorted by URI template.
                templates: Vec<ResourceTemplate> = Templates, decides each;
                /// The agent skills, sorted by URI, URIs unique.
                agent_skills: Vec<AgentSkill> = AgentSkills, decides each;
                /// The tenants, sorted by name, names unique.
                tenants: Vec<Tenant> = Tenants, decides;
                /// The roles of users, sorted by `who`, the id, and the tenant, those of any tenant
                /// last.
                users: Vec<User> = Users, decides;
                /// The skills, sorted by level, priority, name (code points), tenant, user and tools.
                skills: Vec<Skill> = Skills, decides each;
                // Decisions are the same with and without the comparison in advance.
                /// The tools compared with the patterns of skills in advance, sorted by name, names
                /// unique.
                known_tools: Vec<KnownTool> = KnownTools, silent;
                /// Prebuilt pages of `prompts/list`.
                prompt_pages: Vec<Page> = PromptPages, decides;
                /// Prebuilt pages of `resources/list`.
                resource_pages: Vec<Page> = ResourcePages, decides;
                /// Prebuilt pages of `resources/templates/list`.
                template_pages: Vec<Page> = TemplatePages, decides;
                /// Prebuilt pages of `tools/list`.
                tool_pages: Vec<Page> = ToolPages, decides;
                /// The audiences; absent if everyone sees everything.
                audiences: Option<Audiences> = Audiences, decides;
                // The policy holds the digest of the facts, which leaves places out.
                /// The facts about programs, in the form of relay-policy; empty unless the project
                /// has a policy.
                facts: Vec<u8> = Facts, silent;
                /// The rules of the policy, sorted by name, names unique.
                rules: Vec<Rule> = Rules, decides each;
                /// The automata of regexes in rules, as `AutomataWriter` writes them.
                automata: Vec<u8> = Automata, decides;
                /// The effective project as canonical KDL, every default written out.
                canonical: String = Canonical, silent;
                /// The build's provenance as JSON: compiler, source digests and build options.
                provenance: String = Provenance, silent;
                /// Names, reasons and settings for reviewers, which answers ignore.
                review: Review = Review, silent;
            }
        }
    };
}

pub(crate) use with_contents;

impl Kind {
    /// One more than the highest number of a kind.
    pub(crate) const NUMBERS: usize = Self::Automata as usize + 1;

    /// Returns the kind with this number; `None` for a number outside of format 1.0.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// Returns the number in the file.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// One row of a bundle's section table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionInfo {
    /// The number in the file.
    pub number: u32,
    /// The kind, if this reader knows it.
    pub kind: Option<Kind>,
    /// Whether a reader must know it.
    pub critical: bool,
    /// The offset of its data from the start of the file, in bytes.
    pub offset: u64,
    /// The length of its data; its digest tree is extra.
    pub length: u64,
    /// Its digest.
    pub digest: Digest,
}
