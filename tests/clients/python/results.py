"""Reads what calls of tools bring."""

from typing import Any

import mcp_types as types
from report import want

BRIEFING_META_KEY = "dev.relay/briefing"


def texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


def briefing(result: types.CallToolResult) -> dict[str, Any]:
    want(not result.is_error, f"refused: {texts(result)}")
    found = (result.meta or {}).get(BRIEFING_META_KEY)
    want(found, f"the result brings no briefing: {result!r:.300}")
    return found


def handle(result: types.CallToolResult) -> str:
    return briefing(result)["briefing"]
