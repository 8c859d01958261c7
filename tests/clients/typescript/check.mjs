// Drives relay-serve with the official TypeScript client: both protocols, both transports.
//
// The same checks as ../python/check.py, which explains them. What is asked for comes from what the server lists.
//
//     node check.mjs RELAY_SERVE BUNDLE_A BUNDLE_B EXPECT.json [argument for relay-serve ...]

import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { INVALID_PARAMS, Report, STEP_MS_MAX, Skip, refused, want, within } from './report.mjs';
import { handleOf } from './results.mjs';
import { PROTOCOLS, newClient, wantProtocol, withHttpServer } from './serving.mjs';

// Shorter than a step, so that the failure can say what was heard instead.
const HEAR_MS_MAX = 10_000;
const MARKER = 'relay-check';

const namesOf = (items, key) => new Set(items.map((item) => item[key]));

/** The checks of one connection. */
class Checks {
  heard = [];

  constructor(client, protocol, report, expect) {
    Object.assign(this, { client, protocol, report, expect });
    this.leave = expect.leave ?? [];
    client.setNotificationHandler('notifications/prompts/list_changed', () => void this.heard.push('prompts'));
    client.setNotificationHandler('notifications/resources/list_changed', () => void this.heard.push('resources'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void this.heard.push(params.uri));
  }

  // Without a cursor this client follows all of them.
  prompts = async () => (await this.client.listPrompts()).prompts.filter(({ name }) => !this.leave.includes(name));
  resources = async () => (await this.client.listResources()).resources;
  templates = async () => (await this.client.listResourceTemplates()).resourceTemplates;

  async choices(name, argument, value = '') {
    const ref = { type: 'ref/prompt', name };
    return (await this.client.complete({ ref, argument: { name: argument, value } })).completion.values;
  }

  /** The template with a known value or the marker for each variable. */
  async expanded(template) {
    let uri = template;
    for (const [slot, name] of template.matchAll(/\{([^}]*)\}/g)) {
      const ref = { type: 'ref/resource', uri: template };
      const { completion } = await this.client.complete({ ref, argument: { name, value: '' } });
      uri = uri.replace(slot, completion.values[0] ?? MARKER);
    }
    return uri;
  }

  /** Values for the required arguments, and those of them that are free text. */
  async filled(prompt) {
    const given = {};
    const markers = [];
    for (const argument of prompt.arguments ?? []) {
      if (!argument.required) continue;
      const [choice] = await this.choices(prompt.name, argument.name);
      if (choice === undefined) markers.push(`${MARKER}-${argument.name}`);
      given[argument.name] = choice ?? markers.at(-1);
    }
    return { given, markers };
  }

  async identity() {
    wantProtocol(this.client, this.protocol);
    const info = this.client.getServerVersion();
    want(info?.version, 'no serverInfo');
    want(info.name === this.expect.server, `the server calls itself ${info.name}`);
  }

  async instructions() {
    want(this.client.getInstructions(), 'no instructions');
  }

  async tools() {
    const { tools } = await this.client.listTools();
    want(namesOf(tools, 'name').size === tools.length, 'a tool is listed twice');
    return tools;
  }

  /** Keywords give a handle, a handle opens the gate, and the list is the same afterwards. */
  async gate(tools) {
    if (!namesOf(tools, 'name').has('begin_session')) throw new Skip('the project has no gate');
    if (!namesOf(tools, 'name').has('server_info')) throw new Skip('no known tool is gated');
    const begun = await this.client.callTool({ name: 'begin_session', arguments: { tags: [MARKER] } });
    const briefing = handleOf(begun);
    want(begun.content.at(-1).text.endsWith(briefing), 'the model does not see the handle');
    const info = await this.client.callTool({ name: 'server_info', arguments: { briefing } });
    want(!info.isError && info.content.length === 1, `not its result alone: ${JSON.stringify(info).slice(0, 200)}`);
    want(JSON.parse(info.content[0].text).name === this.expect.server, 'the result is not the server\'s');
    const after = (await this.client.listTools(undefined, { cacheMode: 'bypass' })).tools;
    want(JSON.stringify(after) === JSON.stringify(tools), 'a call changed the list');
  }

  async listedPrompts() {
    const prompts = await this.prompts();
    want(prompts.length > 0, 'no prompt is listed');
    want(namesOf(prompts, 'name').size === prompts.length, 'a prompt is listed twice');
    return prompts;
  }

  async getPrompts(prompts) {
    for (const prompt of prompts) {
      const { given, markers } = await this.filled(prompt);
      const { messages } = await this.client.getPrompt({ name: prompt.name, arguments: given });
      want(messages.length > 0, `${prompt.name} has no message`);
      const text = JSON.stringify(messages);
      for (const marker of markers) want(text.includes(marker), `${prompt.name} does not print ${marker}`);
    }
  }

  async missingArgument(prompts) {
    const prompt = prompts.find((prompt) => prompt.arguments?.some(({ required }) => required));
    if (!prompt) throw new Skip('no prompt has a required argument');
    await refused(this.client.getPrompt({ name: prompt.name, arguments: {} }), INVALID_PARAMS);
  }

  async unknownPrompt() {
    await refused(this.client.getPrompt({ name: `no-such-${MARKER}`, arguments: {} }), INVALID_PARAMS);
  }

  async complete(prompts) {
    let found = false;
    for (const prompt of prompts) {
      for (const argument of prompt.arguments ?? []) {
        const choices = await this.choices(prompt.name, argument.name);
        want(choices.length <= 100, `${prompt.name} offers more than 100 values`);
        if (!choices[0]) continue;
        found = true;
        const some = await this.choices(prompt.name, argument.name, choices[0][0]);
        want(some.includes(choices[0]), `${prompt.name} does not complete ${choices[0][0]}`);
        const none = await this.choices(prompt.name, argument.name, `${MARKER}-nothing-starts-so`);
        want(none.length === 0, `${prompt.name} completes what nothing starts with`);
      }
    }
    if (!found) throw new Skip('no argument has known values');
  }

  async wrongChoice(prompts) {
    for (const prompt of prompts) {
      for (const { name } of prompt.arguments ?? []) {
        if ((await this.choices(prompt.name, name)).length === 0) continue;
        const { given } = await this.filled(prompt);
        const wrong = { ...given, [name]: `no-such-${MARKER}` };
        await refused(this.client.getPrompt({ name: prompt.name, arguments: wrong }), INVALID_PARAMS);
        return;
      }
    }
    throw new Skip('no argument has known values');
  }

  async completeUnknown() {
    await refused(this.choices(`no-such-${MARKER}`, 'argument'), INVALID_PARAMS);
  }

  async listedResources() {
    const resources = await this.resources();
    want(namesOf(resources, 'uri').size === resources.length, 'a resource is listed twice');
    return resources;
  }

  async read(resources, kind) {
    let found = false;
    for (const { uri, mimeType, size } of resources) {
      const [content] = (await this.client.readResource({ uri })).contents;
      want(content, `${uri} is empty`);
      want(content.uri === uri, `${uri} is answered as ${content.uri}`);
      want(content.mimeType === mimeType, `${uri} is listed with another MIME type`);
      if (content[kind] === undefined) continue;
      found = true;
      const { length } = Buffer.from(content[kind], kind === 'blob' ? 'base64' : 'utf8');
      want(size === undefined || size === length, `${uri} has ${length} bytes, ${size} are listed`);
    }
    if (!found) throw new Skip(`no resource is a ${kind}`);
  }

  async readTemplates() {
    const templates = await this.templates();
    if (templates.length === 0) throw new Skip('no template is listed');
    for (const { uriTemplate } of templates) {
      const uri = await this.expanded(uriTemplate);
      const [content] = (await this.client.readResource({ uri })).contents;
      want(content?.uri === uri, `${uri} is not answered`);
      const printed = !uri.includes(MARKER) || (content.text?.includes(MARKER) ?? true);
      want(printed, `${uri} does not print its variable`);
    }
  }

  async unknownResource() {
    const uri = `${MARKER}://no-such-resource`;
    // This client reports the legacy code (-32002) as the modern one, too.
    const error = await refused(this.client.readResource({ uri }), INVALID_PARAMS);
    want(error.data?.uri === uri, `the error names no uri: ${JSON.stringify(error.data)}`);
  }

  async texts(resources) {
    const texts = new Map();
    for (const { uri } of resources) {
      const { contents } = await this.client.readResource({ uri }, { cacheMode: 'bypass' });
      texts.set(uri, JSON.stringify(contents));
    }
    return texts;
  }

  async untilHeard(what) {
    for (let waited = 0; waited < HEAR_MS_MAX; waited += 50) {
      if (this.heard.includes(what)) return;
      await sleep(50);
    }
    throw new Error(`a change of ${what} was not heard; heard ${this.heard}`);
  }

  async run(replace) {
    const check = this.report.check.bind(this.report);
    await check('server information', () => this.identity());
    await check('instructions', () => this.instructions());
    const tools = (await check('list tools', () => this.tools())) ?? [];
    await check('pass the gate', () => this.gate(tools), 'gate');
    const prompts = (await check('list prompts', () => this.listedPrompts())) ?? [];
    await check('get every prompt', () => this.getPrompts(prompts));
    await check('a missing argument is refused', () => this.missingArgument(prompts), 'required');
    await check('an unknown prompt is refused', () => this.unknownPrompt());
    await check('complete arguments', () => this.complete(prompts), 'choice');
    await check('a value that is no choice is refused', () => this.wrongChoice(prompts), 'choice');
    await check('completion of an unknown prompt is refused', () => this.completeUnknown());
    const resources = (await check('list resources', () => this.listedResources())) ?? [];
    await check('read text resources', () => this.read(resources, 'text'), 'text');
    await check('read binary resources', () => this.read(resources, 'blob'), 'binary');
    await check('read resource templates', () => this.readTemplates(), 'template');
    await check('an unknown resource is refused', () => this.unknownResource());
    const uris = resources.map(({ uri }) => uri);
    if (this.protocol === 'modern') {
      await check('listen', async () => {
        const filter = { promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: uris };
        const { honoredFilter } = await this.client.listen(filter);
        want(honoredFilter.promptsListChanged, 'prompt list changes are not honored');
        want(honoredFilter.resourcesListChanged, 'resource list changes are not honored');
      });
    } else {
      await check('ping', () => this.client.ping());
      await check('subscribe', async () => {
        for (const uri of uris) await this.client.subscribeResource({ uri });
      });
    }
    const before = (await check('read what may change', () => this.texts(resources))) ?? new Map();
    replace();
    await check('list changes are heard', async () => {
      await this.untilHeard('prompts');
      await this.untilHeard('resources');
    });
    await check('the new prompts are listed', async () => {
      const old = namesOf(prompts, 'name');
      const added = (await this.prompts()).filter(({ name }) => !old.has(name));
      want(added.length > 0, 'the list is the old one');
      for (const { name } of added) await this.client.getPrompt({ name, arguments: {} });
    });
    await check('the new resources are listed', async () => {
      const added = (await this.resources()).filter(({ uri }) => !before.has(uri));
      want(added.length > 0, 'the list is the old one');
      for (const { uri } of added) await this.client.readResource({ uri });
    });
    const updates = async () => {
      const after = await this.texts((await this.resources()).filter(({ uri }) => before.has(uri)));
      const changed = [...after].filter(([uri, text]) => text !== before.get(uri)).map(([uri]) => uri);
      if (changed.length === 0) throw new Skip('no content differs');
      if (!this.client.getServerCapabilities()?.resources?.subscribe) {
        throw new Skip('the server does not declare subscriptions');
      }
      for (const uri of changed) await this.untilHeard(uri);
    };
    await check('changed contents are heard', updates, 'updated');
  }
}

async function connection(transport, protocol, report, expect, replace) {
  const client = newClient(protocol);
  try {
    await within(STEP_MS_MAX, client.connect(transport));
    await new Checks(client, protocol, report, expect).run(replace);
  } catch (error) {
    report.fail('connection', `${error?.name}: ${error?.message}`);
  } finally {
    await within(STEP_MS_MAX, client.close()).catch((error) => report.fail('close', error.message));
  }
}

const [relayServe, bundleA, bundleB, expectFile, ...extra] = process.argv.slice(2);
const expect = JSON.parse(readFileSync(expectFile, 'utf8'));
const report = new Report(expect.must);
for (const transport of ['stdio', 'http']) {
  for (const protocol of PROTOCOLS) {
    report.where = `typescript ${transport} ${protocol}`;
    const folder = mkdtempSync(join(tmpdir(), 'relay-check-'));
    const served = join(folder, 'served.relay');
    const changed = join(folder, 'changed');
    copyFileSync(bundleA, served);
    const replace = () => {
      copyFileSync(bundleB, changed);
      renameSync(changed, served);
    };
    const command = [relayServe, served, ...extra];
    try {
      if (transport === 'http') {
        await withHttpServer(command, (url) =>
          connection(new StreamableHTTPClientTransport(url), protocol, report, expect, replace),
        );
      } else {
        // The client passes on almost nothing of the environment, and the server finds its keys there.
        const stdio = { command: relayServe, args: [...command.slice(1), '--stdio'], env: { ...process.env } };
        await connection(new StdioClientTransport(stdio), protocol, report, expect, replace);
      }
    } catch (error) {
      report.fail('start', error.message);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}
process.exit(report.close());
