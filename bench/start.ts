// How long a workflow step takes to start, beyond what Node itself takes: once as a step that has nothing to do (a
// fork's run, which gets no secrets), and once as one that looks at a service and plans.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlStub } from '../test/action/control-stub.ts';
import { makeBundles, type Bundles } from './bundles.ts';
import type { Measured } from './figure.ts';
import { interleave, median, spread, type Contender } from './rounds.ts';

type Variables = Record<string, string>;

/** A program from its start to its end (ms); it has to end well. */
function program(args: readonly string[], cwd: string, env: Variables = {}): Contender {
  return {
    round: () =>
      new Promise((resolve, reject) => {
        const began = performance.now();
        const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
        child.on('error', reject);
        child.on('exit', (code) => {
          if (code === 0) resolve(performance.now() - began);
          else reject(new Error(`${args.join(' ')} ended with ${code}`));
        });
      }),
  };
}

const runner: Variables = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/echo',
  GITHUB_SHA: 'a'.repeat(40),
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_SERVER_URL: 'https://github.com',
};

/** Asks for addresses with as little as Node has: what a step of the same requests costs at least. */
const plainAsks = `
const { Agent, get } = require('node:http');
const agent = new Agent({ keepAlive: true });
const ask = (address) => new Promise((resolve, reject) => get(address, { agent }, (reply) => {
  let text = '';
  reply.setEncoding('utf8').on('data', (more) => (text += more)).on('end', () => resolve(JSON.parse(text)));
}).on('error', reject));
(async () => {
  for (const address of JSON.parse(process.env.PLAIN_ASKS)) await ask(address);
  agent.destroy();
})();`;

const rounds = { rounds: 31, warmups: 2 };

/** Time from the start of a step to its end, less that of a Node that does nothing (ms). */
export async function start(): Promise<Measured[]> {
  using bundles = await makeBundles();
  const workspace = mkdtempSync(join(tmpdir(), 'landfall-bench-'));
  try {
    return [await neutral(bundles, workspace), await planning(bundles, workspace)];
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

const targets = [
  { of: 'ours', most: 45 },
  { of: 'peer', most: 0.5 },
] as const;

async function neutral({ ours, plain }: Bundles, workspace: string): Promise<Measured> {
  const measured = await interleave(
    {
      bare: program(['-e', '0'], workspace),
      ours: program([ours], workspace, { ...runner, GITHUB_ACTOR: 'dependabot[bot]' }),
      peer: program([plain], workspace, runner),
    },
    rounds,
  );
  const bare = median(measured.bare);
  return {
    figure: 'start',
    unit: 'ms over bare node',
    ours: median(measured.ours) - bare,
    floor: 0,
    peer: median(measured.peer) - bare,
    told: {
      ours: 'a step without secrets: reads its inputs, ends neutral',
      floor: `node -e 0 takes ${bare.toFixed(1)} ms`,
      peer: 'the plain bundle reads an input',
    },
    targets,
    spread: spread(measured.ours),
  };
}

async function planning({ ours, plain }: Bundles, workspace: string): Promise<Measured> {
  const stub = await startControlStub({ status: 'DEPLOYED' });
  try {
    const step = program([ours], workspace, { ...runner, ...inputs(stub.url) });
    await step.round();
    const asked = stub.requests.map((line) => `${stub.url}${line.replace(/^GET /, '')}`);
    if (asked.length === 0) throw new Error('the step asked for nothing');
    const env = { ...runner, PLAIN_ASKS: JSON.stringify(asked) };
    const measured = await interleave(
      {
        bare: program(['-e', '0'], workspace),
        ours: step,
        floor: program(['-e', plainAsks], workspace, env),
        peer: program([plain], workspace, env),
      },
      rounds,
    );
    const bare = median(measured.bare);
    return {
      figure: 'start-and-plan',
      unit: 'ms over bare node',
      ours: median(measured.ours) - bare,
      floor: median(measured.floor) - bare,
      peer: median(measured.peer) - bare,
      told: {
        ours: `a step that plans: config, client, ${asked.length} requests to loopback`,
        floor: 'the same requests by node:http, JSON.parse',
        peer: 'the plain bundle sends the same requests by undici',
      },
      targets,
      spread: spread(measured.ours),
    };
  } finally {
    await stub.close();
  }
}

const inputs = (url: string): Variables => ({
  'INPUT_BASE-URL': url,
  'INPUT_API-KEY': 'key-of-the-service',
  INPUT_MODE: 'plan',
  INPUT_NAME: 'echo',
  INPUT_SOURCE: 'external_docker',
  'INPUT_IMAGE-URI': 'echo:1',
});
