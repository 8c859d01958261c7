// Reads what calls of tools bring.

import { want } from './report.mjs';

/** The handle of the briefing that came with a result. */
export function handleOf(result) {
  const briefing = result._meta?.['dev.relay/briefing']?.briefing;
  want(!result.isError && briefing, `no briefing: ${JSON.stringify(result).slice(0, 200)}`);
  return briefing;
}
