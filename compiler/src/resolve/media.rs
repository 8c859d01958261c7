//! Media types by the ending of a file's name.

/// Returns the media type for the ending of `path`.
pub(super) fn of_path(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let name = name.strip_suffix(".j2").unwrap_or(name);
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "csv" => "text/csv",
        "css" => "text/css",
        "flac" => "audio/flac",
        "gif" => "image/gif",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "json" => "application/json",
        "kdl" | "log" | "txt" => "text/plain",
        "m4a" => "audio/mp4",
        "markdown" | "md" => "text/markdown",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "toml" => "application/toml",
        "wav" => "audio/wav",
        "webp" => "image/webp",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "zip" => "application/zip",
        _ => return None,
    })
}
