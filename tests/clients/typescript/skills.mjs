// Drives a server of agent skills with the skills client of the official TypeScript client: both protocols, both transports.
//
// The client checks each file against its entry in the list: size, digest, and front matter of its own parser.
//
//     node skills.mjs RELAY_SERVE BUNDLE EXPECT.json [argument for relay-serve ...]

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { INVALID_PARAMS, Report, STEP_MS_MAX, refused, want, within } from './report.mjs';
import { PROTOCOLS, newClient, wantProtocol, withHttpServer } from './serving.mjs';

const DIRECTORY = 'inode/directory';

function wantEqual(found, wanted, what) {
  want(isDeepStrictEqual(found, wanted), `${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

const rootOf = (uri) => uri.slice(0, -'/SKILL.md'.length);

/** The checks of one connection. */
class Checks {
  constructor(client, protocol, expect) {
    Object.assign(this, { client, protocol, expect, skills: new SkillsClient(client) });
  }

  async lists() {
    wantProtocol(this.client, this.protocol);
    want(this.skills.supported && this.skills.directoryRead, 'the server does not say that it has agent skills');
    const { skills, invalid } = await this.skills.list();
    wantEqual(invalid, [], 'invalid entries');
    wantEqual(skills.map(({ uri }) => uri), Object.keys(this.expect.skills), 'listed');
    for (const { uri, frontmatter, resources } of skills) {
      const own = this.expect.skills[uri];
      wantEqual(frontmatter, own.frontmatter, `front matter of ${uri}`);
      wantEqual(resources.map((file) => file.uri), own.files.map((file) => `${rootOf(uri)}/${file}`), `files of ${uri}`);
    }
  }

  async entries() {
    const { skills } = await this.skills.list();
    for (const listed of skills) {
      wantEqual((await this.skills.get(listed.uri)).skill, listed, 'the entry');
    }
  }

  async files() {
    const { skills } = await this.skills.list();
    for (const skill of skills) {
      for (const { uri, size } of skill.resources) {
        const file = await this.skills.read(skill, uri);
        want(file.verified && file.bytes.length === size, `${uri} is not verified`);
      }
      const { frontmatter, body } = await this.skills.read(skill);
      wantEqual(frontmatter, skill.frontmatter, 'the front matter of SKILL.md');
      want(body.length > 0, `${skill.uri} has no text`);
    }
  }

  /** All files below a folder, found by reading it and the folders in it. */
  async below(uri) {
    const found = [];
    for (const child of (await this.skills.readDirectory(uri)).resources) {
      if (child.mimeType === DIRECTORY) found.push(...(await this.below(child.uri)));
      else found.push(child.uri);
    }
    return found;
  }

  async folders() {
    const { skills } = await this.skills.list();
    for (const { uri, resources } of skills) {
      wantEqual((await this.below(rootOf(uri))).toSorted(), resources.map((file) => file.uri).toSorted(), `below ${uri}`);
    }
  }

  async unknown() {
    for (const uri of this.expect.unknown) await refused(this.skills.get(uri), INVALID_PARAMS);
    for (const uri of this.expect.no_folder) await refused(this.skills.readDirectory(uri), INVALID_PARAMS);
  }

  async run(report) {
    await report.check('the list has front matter and complete files', () => this.lists());
    await report.check('an entry equals the one in the list', () => this.entries());
    await report.check('each file is the one in the entry', () => this.files());
    await report.check('folders lead to the files of the entry', () => this.folders());
    await report.check('unknown skills and folders are refused', () => this.unknown());
  }
}

async function play(transport, where, protocol, expect, report) {
  report.where = `skills typescript ${where} ${protocol}`;
  const client = newClient(protocol);
  try {
    await within(STEP_MS_MAX, client.connect(transport));
    await new Checks(client, protocol, expect).run(report);
  } catch (error) {
    report.fail('connection', `${error?.name}: ${error?.message}`);
  } finally {
    await within(STEP_MS_MAX, client.close()).catch((error) => report.fail('close', error.message));
  }
}

const [relayServe, bundle, expectFile, ...extra] = process.argv.slice(2);
const expect = JSON.parse(readFileSync(expectFile, 'utf8'));
const command = [relayServe, bundle, ...extra];
const report = new Report([]);
try {
  for (const protocol of PROTOCOLS) {
    // The client passes on almost nothing of the environment, and the server finds its folders there.
    const stdio = { command: relayServe, args: [...command.slice(1), '--stdio'], env: { ...process.env } };
    await play(new StdioClientTransport(stdio), 'stdio', protocol, expect, report);
  }
  await withHttpServer(command, async (url) => {
    for (const protocol of PROTOCOLS) {
      await play(new StreamableHTTPClientTransport(url), 'http', protocol, expect, report);
    }
  });
} catch (error) {
  report.fail('start', error.message);
}
process.exit(report.close());
