// Drives one server of examples/platform with the official TypeScript client, for callers that may see different things.
//
// The same checks as ../python/callers.py, which explains them.
//
//     node callers.mjs RELAY_SERVE BUNDLE EXPECT.json FOLDER [argument for relay-serve ...]

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { INVALID_PARAMS, Report, STEP_MS_MAX, refused, want, within } from './report.mjs';
import { handleOf } from './results.mjs';
import { PROTOCOLS, newClient, wantProtocol, withHttpServer } from './serving.mjs';

const CONTEXT_META_KEY = 'dev.relay/skill-context';
const KINDS = ['prompts', 'resources', 'tools'];

function wantEqual(found, wanted, what) {
  want(isDeepStrictEqual(found, wanted), `${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

/** The error for a name, in the form that it has for every other name. */
async function errorWithoutName(ask, name) {
  const { code, message, data } = await refused(ask(name), INVALID_PARAMS);
  const text = JSON.stringify({ code, message, data });
  want(text.includes(name), `the error does not name ${name}: ${text}`);
  return text.replaceAll(name, 'NAME');
}

/** The checks of one caller over one connection. */
class Checks {
  constructor(client, protocol, name, { tool, callers }) {
    Object.assign(this, { client, protocol, tool, own: callers[name] });
    // What others see and this caller does not.
    this.hidden = {};
    for (const kind of KINDS) {
      const seen = new Set(Object.values(callers).flatMap((other) => other[kind]));
      this.hidden[kind] = [...seen].filter((name) => !this.own[kind].includes(name));
    }
  }

  wantNoTrace(text) {
    for (const name of KINDS.flatMap((kind) => this.hidden[kind])) {
      want(!text.includes(name), `${name} is hidden and appears: ${text.slice(0, 2000)}`);
    }
  }

  // Without a cursor this client follows all of them.
  prompts = async () => (await this.client.listPrompts()).prompts;
  resources = async () => (await this.client.listResources()).resources;
  tools = async () => (await this.client.listTools()).tools;
  call = (name, given = {}) => this.client.callTool({ name, arguments: given });

  async lists() {
    wantProtocol(this.client, this.protocol);
    wantEqual((await this.prompts()).map(({ name }) => name), this.own.prompts, 'listed prompts');
    wantEqual((await this.resources()).map(({ uri }) => uri), this.own.resources, 'listed resources');
    wantEqual((await this.tools()).map(({ name }) => name), this.own.tools, 'listed tools');
  }

  async instructions() {
    const said = this.client.getInstructions() ?? '';
    want(said.includes(this.own.instructions), `${this.own.instructions} is missing: ${said}`);
    const index = said.split('\n').filter((line) => line.startsWith('- ')).map((line) => line.slice(2).split(':')[0]);
    wantEqual(index, this.own.index, 'the index has');
    this.wantNoTrace(said);
  }

  async listedIsAnswered() {
    for (const { name, arguments: known } of await this.prompts()) {
      if (known?.some(({ required }) => required)) continue;
      want((await this.client.getPrompt({ name })).messages.length > 0, `${name} has no message`);
    }
    for (const { uri } of await this.resources()) {
      want((await this.client.readResource({ uri })).contents.length > 0, `${uri} is empty`);
    }
  }

  /** Wants this many blocks, the first of them with the text and the names of the skills that apply. */
  wantContext(result, blocks) {
    const text = JSON.stringify(result);
    want(!result.isError && result.content.length === blocks, `not ${blocks} blocks: ${text}`);
    const context = {
      type: 'text',
      text: this.own.context.join('\n'),
      annotations: { audience: ['assistant'] },
      _meta: { [CONTEXT_META_KEY]: { skills: this.own.skills } },
    };
    wantEqual(result.content[0], context, 'the first block is');
    this.wantNoTrace(text);
  }

  /** Wants this caller in the last block, which is the result of server_info. */
  wantCaller(result) {
    const { id, tenant, role, issuer } = JSON.parse(result.content.at(-1).text).caller;
    const { principal, by } = this.own;
    const wanted = { id: principal, tenant: this.own.tenant, role: this.own.role, issuer: by.issuer };
    wantEqual({ id, tenant, role, issuer }, wanted, 'server_info says');
  }

  async contexts() {
    const first = await this.call(this.tool);
    this.wantContext(first, 3);
    const { text } = first.content[1];
    want(text.includes('common-mistakes'), `the second block is no briefing: ${text}`);
    this.wantCaller(first);
    const begun = await this.call('begin_session', { tags: ['orders', 'contract'] });
    this.wantContext(begun, 2);
    const second = await this.call(this.tool, { briefing: handleOf(begun) });
    this.wantContext(second, 2);
    this.wantCaller(second);
  }

  async explained() {
    const answer = await this.call('explain_context', { tool: this.tool, user: this.own.principal });
    const announced = JSON.parse(answer.content.at(-1).text).resolved_context;
    wantEqual(announced, this.own.context.join('\n'), 'announced');
  }

  async subscriptions() {
    const asked = [...this.hidden.resources, ...this.own.resources];
    const { honoredFilter } = await this.client.listen({ resourceSubscriptions: asked });
    wantEqual(honoredFilter.resourceSubscriptions?.toSorted(), this.own.resources.toSorted(), 'honored');
  }

  async hiddenIsUnknown(kind, unknown, asks) {
    for (const ask of asks) {
      const expected = await errorWithoutName(ask, unknown);
      for (const name of this.hidden[kind]) {
        const error = await errorWithoutName(ask, name);
        want(error === expected, `${name} is answered by ${error}, an unknown one by ${expected}`);
      }
    }
  }

  async run(report) {
    const { client } = this;
    await report.check('lists', () => this.lists());
    await report.check('instructions', () => this.instructions());
    await report.check('what is listed is answered', () => this.listedIsAnswered());
    await report.check('calls begin with the context', () => this.contexts());
    if (this.own.tools.includes('explain_context')) {
      await report.check('explain_context announces the context', () => this.explained());
    }
    if (this.protocol === 'modern') {
      await report.check('only what is listed is subscribed to', () => this.subscriptions());
    }
    const complete = (name) =>
      client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } });
    const prompts = [(name) => client.getPrompt({ name }), complete];
    const resources = [(uri) => client.readResource({ uri })];
    if (this.protocol === 'legacy') resources.push((uri) => client.subscribeResource({ uri }));
    for (const [kind, unknown, asks] of [
      ['prompts', 'no-such-prompt', prompts],
      ['resources', 'halden://no-such-resource', resources],
      ['tools', 'no_such_tool', [(name) => this.call(name)]],
    ]) {
      if (this.hidden[kind].length === 0) continue;
      const name = `hidden ${kind} are answered as unknown ones`;
      await report.check(name, () => this.hiddenIsUnknown(kind, unknown, asks));
    }
  }
}

async function connected(url, protocol, credential) {
  const client = newClient(protocol);
  const requestInit = { headers: { Authorization: `Bearer ${credential}` } };
  await within(STEP_MS_MAX, client.connect(new StreamableHTTPClientTransport(url, { requestInit })));
  return client;
}

async function turnedAway(url, protocol, credential, reason) {
  let client;
  try {
    client = await connected(url, protocol, credential);
  } catch (error) {
    want(error instanceof SdkHttpError, `${error?.name}: ${error?.message}`);
    want(error.status === 401, `answered with ${error.status}`);
    want(error.data.text.trim() === reason, `answered with ${error.data.text}`);
    return;
  }
  await client.close();
  throw new Error('the caller was let in');
}

async function play(url, protocol, expect, credential, report) {
  const where = (name) => `callers typescript ${protocol} ${name}`;
  const clients = new Map();
  try {
    for (const name of Object.keys(expect.callers)) {
      report.where = where(name);
      clients.set(name, await connected(url, protocol, credential(name)));
    }
    for (const [name, client] of clients) {
      report.where = where(name);
      await new Checks(client, protocol, name, expect).run(report);
    }
  } catch (error) {
    report.fail('connection', `${error?.name}: ${error?.message}`);
  } finally {
    for (const client of clients.values()) {
      await within(STEP_MS_MAX, client.close()).catch((error) => report.fail('close', error.message));
    }
  }
  for (const [name, { reason }] of Object.entries(expect.refused)) {
    report.where = where(name);
    await report.check('status 401', () => turnedAway(url, protocol, credential(name), reason));
  }
}

const [relayServe, bundle, expectFile, folder, ...extra] = process.argv.slice(2);
const expect = JSON.parse(readFileSync(expectFile, 'utf8'));
const credential = (name) => readFileSync(join(folder, `${name}.credential`), 'utf8');
const report = new Report([]);
try {
  await withHttpServer([relayServe, bundle, '--config', join(folder, 'server.toml'), ...extra], async (url) => {
    for (const protocol of PROTOCOLS) await play(url, protocol, expect, credential, report);
  });
} catch (error) {
  report.fail('start', error.message);
}
process.exit(report.close());
