// Starts relay-serve for the official client.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/client';

import { want } from './report.mjs';

export const PROTOCOLS = ['legacy', 'modern'];
const MODERN = '2026-07-28';
const READY_MS_MAX = 15_000;

export function newClient(protocol, capabilities = {}) {
  return new Client(
    { name: 'relay-check', version: '1' },
    { capabilities, versionNegotiation: { mode: protocol === 'modern' ? 'auto' : 'legacy' } },
  );
}

export function wantProtocol(client, protocol) {
  const version = client.getNegotiatedProtocolVersion();
  want((version === MODERN) === (protocol === 'modern'), `got ${version}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Runs a server in a folder while `run` does, which gets the URL that clients ask. */
export async function withHttpServer(command, run, folder = undefined) {
  const address = `127.0.0.1:${await freePort()}`;
  const stdio = ['ignore', 'inherit', 'inherit'];
  const server = spawn(command[0], [...command.slice(1), '--http', address], { stdio, cwd: folder });
  const ended = new Promise((resolve) => server.once('exit', resolve).once('error', resolve));
  try {
    for (let waited = 0; ; waited += 50) {
      if (server.exitCode !== null) throw new Error(`relay-serve ended with ${server.exitCode} before it was ready`);
      if (waited > READY_MS_MAX) throw new Error(`relay-serve was not ready after ${READY_MS_MAX} ms`);
      const ready = await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(() => null);
      if (ready?.ok) break;
      await sleep(50);
    }
    await run(new URL(`http://${address}/mcp`));
  } finally {
    server.kill('SIGKILL');
    await ended;
  }
}
