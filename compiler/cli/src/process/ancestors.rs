//! The programs that run this process, up to the first one of the system.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// The most steps up; each program runs another one.
const STEPS_MAX: usize = 256;

/// Words in the names of agents' clients.
const AGENTS: [&str; 10] = [
    "claude",
    "codex",
    "cursor",
    "gemini",
    "copilot",
    "opencode",
    "cline",
    "windsurf",
    "relay-hook",
    "relay-serve",
];

/// Returns the agent's client that runs this process, directly or through other programs.
///
/// # Errors
///
/// The system hides which program runs which.
pub(crate) fn agent_above() -> Result<Option<String>, Failure> {
    let unknown = || {
        Failure::error("this system does not say which programs run this one (/proc is missing)")
            .help("approve the call in the client, or change the policy")
    };
    let mut id = std::process::id();
    for _ in 0..STEPS_MAX {
        let folder = Path::new("/proc").join(id.to_string());
        let status = fs::read_to_string(folder.join("status")).map_err(|_| unknown())?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        id = parent.and_then(|id| id.trim().parse().ok()).ok_or_else(unknown)?;
        if id == 0 {
            return Ok(None);
        }
        let folder = Path::new("/proc").join(id.to_string());
        // Of another user, the names may be hidden; what runs as the person is the person's.
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        let words = line.split(|byte| *byte == 0).take(2).map(|word| String::from_utf8_lossy(word));
        let program = fs::read_link(folder.join("exe")).ok();
        let program = program.iter().map(|path| path.to_string_lossy());
        for name in words.chain(program) {
            let file = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            if AGENTS.iter().any(|agent| file.starts_with(agent)) || is_package(&name) {
                return Ok(Some(file));
            }
        }
    }
    Err(unknown())
}

/// Returns whether a script is one of a package of an agent's client.
fn is_package(path: &str) -> bool {
    let mut parts = path.split('/').skip_while(|part| *part != "node_modules");
    parts.any(|part| AGENTS.iter().any(|agent| part.starts_with(agent)))
}
