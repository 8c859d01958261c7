//! Values of the engine -> values of MCP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::Content;
use relay_engine::audit_record::OutputHash;
use relay_engine::prompt::{Message, Part};
use rmcp::model::{ContentBlock, PromptMessage, ResourceContents, Role};

/// Converts the messages of a prompt. MCP has one content a message, so a message of several parts
/// becomes as many messages of the same role.
pub(super) fn messages(messages: Vec<Message<'_>>, output: &mut OutputHash) -> Vec<PromptMessage> {
    let count = messages.iter().map(|message| message.parts.len()).sum();
    let mut converted = Vec::with_capacity(count);
    for Message { role, parts } in messages {
        for part in parts {
            let role = match role {
                relay_bundle::Role::User => Role::User,
                relay_bundle::Role::Assistant => Role::Assistant,
            };
            converted.push(PromptMessage::new(role, content(part, output)));
        }
    }
    converted
}

fn content(part: Part<'_>, output: &mut OutputHash) -> ContentBlock {
    match part {
        Part::Text(text) => {
            output.update(text.as_bytes());
            ContentBlock::text(text)
        }
        Part::Image(mime, bytes) => {
            output.update(bytes);
            ContentBlock::image(STANDARD.encode(bytes), mime)
        }
        Part::Audio(mime, bytes) => {
            output.update(bytes);
            ContentBlock::audio(STANDARD.encode(bytes), mime)
        }
        Part::ResourceText(uri, mime, text) => {
            ContentBlock::resource(text_resource(uri, mime, text, output))
        }
        Part::ResourceBlob(uri, mime, bytes) => {
            ContentBlock::resource(resource(uri, mime, Content::Blob(bytes), output))
        }
    }
}

/// Converts the content of a resource.
pub(super) fn resource(
    uri: String,
    mime: Option<&str>,
    content: Content<&str, &[u8]>,
    output: &mut OutputHash,
) -> ResourceContents {
    match content {
        Content::Text(text) => text_resource(uri, mime, text.to_owned(), output),
        Content::Blob(bytes) => {
            output.update(bytes);
            ResourceContents::BlobResourceContents {
                uri,
                mime_type: mime.map(ToOwned::to_owned),
                blob: STANDARD.encode(bytes),
                meta: None,
            }
        }
    }
}

/// Converts a text filled for one request.
pub(super) fn text_resource(
    uri: String,
    mime: Option<&str>,
    text: String,
    output: &mut OutputHash,
) -> ResourceContents {
    output.update(text.as_bytes());
    ResourceContents::TextResourceContents {
        uri,
        mime_type: mime.map(ToOwned::to_owned),
        text,
        meta: None,
    }
}
