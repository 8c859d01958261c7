// Drives the approvals of relay-serve with the official TypeScript client: both protocols, both transports.
//
// The checks of approvals in ../python/shell.py, and what this client does by itself: it fills forms with their defaults.
//
//     node shell.mjs RELAY_SERVE BUNDLES [argument for relay-serve ...]
//
// BUNDLES is a folder with the projects of ../shell, of which this uses approvals.

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { Report, Skip, want } from './report.mjs';
import { PROTOCOLS, newClient, wantProtocol, withHttpServer } from './serving.mjs';

// The rule of ../shell/approvals, at its line.
const RULE = '(project.kdl:7)';
const ASKED = 'tier 2 (STATEFUL): removals: OPS-3';
const UNABLE = `[CONFIRM REQUIRED ${ASKED} ${RULE}]`;
const YES = { action: 'accept', content: { decision: 'run once' } };
const DONE = "[exit 0]\nremoved 'victim'\n";
const FORMS = { elicitation: { form: {} } };
const FORMS_WITH_DEFAULTS = { elicitation: { form: { applyDefaults: true } } };
const SECRET = 'secret-of-op';

function wantText(found, wanted) {
  want(found === wanted, `it says ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

/** A connected client, and the person whom it asks. */
class Operator {
  questions = [];

  constructor(client, folder) {
    Object.assign(this, { client, folder });
  }

  file = (name) => join(this.folder, name);
  hasVictim = () => existsSync(this.file('victim'));

  /** The text of a command's result, which is its only block. */
  async run(command) {
    const { content } = await this.client.callTool({ name: 'shell_exec', arguments: { command } });
    want(content.length === 1, `${content.length} blocks: ${JSON.stringify(content)}`);
    return content[0].text;
  }

  remove() {
    writeFileSync(this.file('victim'), '');
    return this.run('rm -v victim');
  }

  /** Records of commands: the answer to the question, or what was done without one. */
  records() {
    const records = readFileSync(this.file('audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    const commands = records.filter(({ tool, action }) => tool === 'shell_exec' && action !== 'begun');
    return commands.map(({ approval, action }) => approval ?? action);
  }
}

/** The scenarios of one protocol over one transport; each has a server and a folder of its own. */
class Scenarios {
  constructor(relayServe, bundles, extra, transport, protocol) {
    const bundle = join(bundles, 'approvals.relay');
    Object.assign(this, { command: [relayServe, bundle, ...extra], transport, protocol });
    this.isModern = protocol === 'modern';
  }

  /** Connects a client to a server, and runs `scenario` with it. `answer` is the person. */
  async operator(capabilities, answer, scenario) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'relay-check-')));
    try {
      let config = '[audit]\npath = "audit.jsonl"\n';
      if (this.transport === 'http') {
        const sha256 = createHash('sha256').update(SECRET).digest('hex');
        config += `[[auth.api-keys]]\nid = "op"\nsha256 = "${sha256}"\nprincipal = "op"\n`;
      }
      writeFileSync(join(folder, 'server.toml'), config);
      const files = ['--config', join(folder, 'server.toml'), '--state', join(folder, 'state')];
      const command = [...this.command, ...files];
      const connected = (transport) => this.connected(transport, folder, capabilities, answer, scenario);
      if (this.transport === 'http') {
        const requestInit = { headers: { Authorization: `Bearer rk_op_${SECRET}` } };
        const run = (url) => connected(new StreamableHTTPClientTransport(url, { requestInit }));
        await withHttpServer(command, run, folder);
      } else {
        const args = [...command.slice(1), '--stdio', '--principal', 'op'];
        // The client passes on almost nothing of the environment, and the server finds its keys there.
        const stdio = { command: command[0], args, env: { ...process.env }, cwd: folder };
        await connected(new StdioClientTransport(stdio));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async connected(transport, folder, capabilities, answer, scenario) {
    const client = newClient(this.protocol, capabilities);
    const operator = new Operator(client, folder);
    if (capabilities.elicitation) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        operator.questions.push(params);
        return answer(params);
      });
    }
    try {
      await client.connect(transport);
      wantProtocol(client, this.protocol);
      await scenario(operator);
    } finally {
      await client.close();
    }
  }

  wantRecords(operator, ...answers) {
    // A modern client has each question as a result of its own.
    const wanted = answers.flatMap((answer) => (this.isModern ? ['asked', answer] : [answer]));
    wantText(JSON.stringify(operator.records()), JSON.stringify(wanted));
  }

  /** Wants that this answer runs nothing, for this reason. */
  async refuses(capabilities, answer, why, word) {
    await this.operator(capabilities, () => structuredClone(answer), async (operator) => {
      wantText(await operator.remove(), `[DENIED ${ASKED}; ${why} ${RULE}]`);
      want(operator.hasVictim(), 'it ran');
      this.wantRecords(operator, word);
    });
  }

  async yes() {
    await this.operator(FORMS, () => sleep(500, YES), async (operator) => {
      for (let round = 0; round < 2; round += 1) {
        wantText(await operator.remove(), DONE);
        want(!operator.hasVictim(), 'it did not run');
      }
      const { questions } = operator;
      want(questions.length === 2, `asked ${questions.length} times`);
      const wanted =
        'An agent asks to run this with `shell_exec` on the server of `approvals`:\n\n    rm -v victim\n\n' +
        `Folder: ${operator.folder}\nCaller: op\nTier: 2 (STATEFUL)\nAsked because: removals: OPS-3 ${RULE}`;
      wantText(questions[0].message, wanted);
      const { required, properties } = questions[0].requestedSchema;
      wantText(JSON.stringify(required), '["decision"]');
      wantText(JSON.stringify(properties.decision.enum), '["do not run","run once"]');
      wantText(properties.decision.default, 'do not run');
      this.wantRecords(operator, 'approved', 'approved');
    });
  }

  async without() {
    await this.operator({}, undefined, async (operator) => {
      wantText(await operator.remove(), UNABLE);
      want(operator.hasVictim(), 'it ran');
      wantText(JSON.stringify(operator.records()), '["unable"]');
    });
  }

  async failing() {
    const fail = () => {
      throw new Error('nobody is here');
    };
    await this.operator(FORMS, fail, async (operator) => {
      const said = await operator.remove().catch((error) => error);
      if (this.isModern) {
        // The client has the question, and never repeats the call.
        want(said instanceof Error && said.message.includes('nobody is here'), `it says ${said}`);
      } else {
        wantText(said, UNABLE);
      }
      want(operator.hasVictim(), 'it ran');
      wantText(await operator.run('echo goes on'), '[exit 0]\ngoes on\n');
    });
  }

  async unasked() {
    await this.operator(FORMS, () => YES, async (operator) => {
      wantText(await operator.run('echo removed'), '[exit 0]\nremoved\n');
      const said = await operator.run('rm -v victim; shutdown now');
      want(said.startsWith('[DENIED ') && said.includes('never'), `it says ${said}`);
      want(operator.questions.length === 0, `asked ${JSON.stringify(operator.questions)}`);
    });
  }

  async together() {
    const answer = async ({ message }) => {
      // The second is answered while the first waits.
      const isFirst = message.includes('rm -v first');
      await sleep(isFirst ? 1500 : 200);
      return isFirst ? YES : { action: 'decline' };
    };
    await this.operator(FORMS, answer, async (operator) => {
      const order = [];
      const remove = async (name) => {
        writeFileSync(operator.file(name), '');
        const said = await operator.run(`rm -v ${name}`);
        order.push(name);
        return said;
      };
      const [first, second] = await Promise.all(['first', 'second'].map(remove));
      wantText(first, "[exit 0]\nremoved 'first'\n");
      want(second.includes('the person declined it'), `the second says ${second}`);
      wantText(order.join(), 'second,first');
    });
  }

  async once() {
    if (!this.isModern) throw new Skip('a call is not repeated');
    await this.operator(FORMS, () => YES, async (operator) => {
      for (const name of ['victim', 'other']) writeFileSync(operator.file(name), '');
      const call = (command, more = {}) => {
        const params = { name: 'shell_exec', arguments: { command }, ...more };
        return operator.client.callTool(params, { allowInputRequired: true });
      };
      const { resultType, requestState } = await call('rm -v victim');
      wantText(resultType, 'input_required');
      const answered = { requestState, inputResponses: { approve: YES } };
      for (const [command, wanted] of [
        ['rm -v other', 'the yes is for another call'],
        ['rm -v victim', DONE],
        ['rm -v victim', 'this yes was used already, and counts once'],
      ]) {
        const [{ text }] = (await call(command, answered)).content;
        want(text.includes(wanted), `${command}: ${text}`);
      }
      want(existsSync(operator.file('other')), 'the other call ran');
    });
  }

  async run(report) {
    const check = report.check.bind(report);
    const declined = 'the person declined it';
    const undecided = 'the client approved it without a decision of a person';
    const empty = { action: 'accept', content: {} };
    await check('a yes runs the command once', () => this.yes());
    for (const [name, capabilities, answer, why, word] of [
      ['a declined form', FORMS, { action: 'decline' }, declined, 'declined'],
      ['a closed form', FORMS, { action: 'cancel' }, 'the person closed the question', 'closed'],
      ['an empty form', FORMS, empty, undecided, 'undecided'],
      ['a form without content', FORMS, { action: 'accept' }, undecided, 'undecided'],
      ['an empty form that the client fills', FORMS_WITH_DEFAULTS, empty, declined, 'declined'],
    ]) {
      await check(`${name} runs nothing and says why`, () => this.refuses(capabilities, answer, why, word));
    }
    await check('a client that asks nobody runs nothing', () => this.without());
    await check('a client that fails to ask runs nothing', () => this.failing());
    await check('nobody is asked about what runs or is denied anyway', () => this.unasked());
    await check('calls wait for their own answers', () => this.together());
    await check('a yes counts once and for its call', () => this.once());
  }
}

const [relayServe, bundles, ...extra] = process.argv.slice(2);
const report = new Report([]);
for (const transport of ['stdio', 'http']) {
  for (const protocol of PROTOCOLS) {
    report.where = `shell typescript ${transport} ${protocol}`;
    await new Scenarios(relayServe, bundles, extra, transport, protocol).run(report);
  }
}
process.exit(report.close());
