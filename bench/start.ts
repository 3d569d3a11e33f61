// How long a workflow step takes to start, beyond what Node itself takes: once as a step that has nothing to do (a
// fork's run, which gets no secrets), and once as one that looks at a service and plans.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { startControlStub } from '../test/action/control-stub.ts';
import { makeBundles, type Bundles } from './bundles.ts';
import type { Measured } from './figure.ts';
import { interleave, median, spread, type Contender } from './rounds.ts';

type Variables = Record<string, string>;

/** A program that is started again and again; beside its time it notes its CPU time (both in ms). */
interface Program extends Contender {
  cpu: number[];
}

/** A program from its start to its end; it has to end well. */
function program(args: readonly string[], cwd: string, env: Variables = {}): Program {
  const cpu: number[] = [];
  return {
    cpu,
    round: async () => {
      const began = performance.now();
      const child = spawn(process.execPath, ['--require', reportCpu, ...args], {
        cwd,
        env,
        stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      });
      const notes = child.stdio[3];
      if (!(notes instanceof Readable)) throw new Error('there is no descriptor 3');
      const [words, ms] = await Promise.all([
        text(notes),
        new Promise<number>((resolve, reject) => {
          child.on('error', reject);
          child.on('exit', (code) => {
            if (code === 0) resolve(performance.now() - began);
            else reject(new Error(`${args.join(' ')} ended with ${code}`));
          });
        }),
      ]);
      cpu.push(Number(words) / 1000);
      return ms;
    },
  };
}

const reportCpu = join(import.meta.dirname, 'report-cpu.cjs');

const runner: Variables = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/echo',
  GITHUB_SHA: 'a'.repeat(40),
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_SERVER_URL: 'https://github.com',
};

/** Sends the requests with plain `node:http`: the least that a step with the same requests costs. */
const plainRequests = `
const { Agent, get } = require('node:http');
const agent = new Agent({ keepAlive: true });
const ask = (address) => new Promise((resolve, reject) => get(address, { agent }, (reply) => {
  let text = '';
  reply.setEncoding('utf8').on('data', (more) => (text += more)).on('end', () => resolve(JSON.parse(text)));
}).on('error', reject));
(async () => {
  for (const address of JSON.parse(process.env.PLAIN_REQUESTS)) await ask(address);
  agent.destroy();
})();`;

const rounds = { rounds: 31, warmups: 2 };

/** Time from the start of a step to its end, and its CPU time, less those of a Node that does nothing (ms). */
export async function start(): Promise<Measured[]> {
  using bundles = await makeBundles();
  const workspace = mkdtempSync(join(tmpdir(), 'landfall-bench-'));
  try {
    return [...(await neutral(bundles, workspace)), ...(await planning(bundles, workspace))];
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

function neutral({ ours, plain }: Bundles, workspace: string): Promise<Measured[]> {
  const event = join(workspace, 'event.json');
  writeFileSync(
    event,
    JSON.stringify({ pull_request: { number: 1, head: { ref: 'update', sha: runner['GITHUB_SHA'] } } }),
  );
  const ofDependabot: Variables = {
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: event,
    GITHUB_ACTOR: 'dependabot[bot]',
  };
  return compared('start', workspace, {
    ours: program([ours], workspace, { ...runner, ...ofDependabot }),
    peer: program([plain], workspace, runner),
    notes: { ours: 'a step without secrets: reads its inputs, ends neutral', peer: 'the plain bundle reads an input' },
  });
}

async function planning({ ours, plain }: Bundles, workspace: string): Promise<Measured[]> {
  const stub = await startControlStub({ status: 'DEPLOYED' });
  try {
    const step = program([ours], workspace, { ...runner, ...inputs(stub.url) });
    await step.round();
    const requested = stub.requests.map((line) => `${stub.url}${line.replace(/^GET /, '')}`);
    if (requested.length === 0) throw new Error('the step sent no request');
    const env = { ...runner, PLAIN_REQUESTS: JSON.stringify(requested) };
    return await compared('start-and-plan', workspace, {
      ours: step,
      floor: program(['-e', plainRequests], workspace, env),
      peer: program([plain], workspace, env),
      notes: {
        ours: `a step that plans: config, client, ${requested.length} requests to loopback`,
        floor: 'the same requests by node:http, JSON.parse',
        peer: 'the plain bundle sends the same requests by undici',
      },
    });
  } finally {
    await stub.close();
  }
}

interface Programs {
  ours: Program;
  floor?: Program;
  peer: Program;
  notes: { ours: string; floor?: string; peer: string };
}

/** The same programs by the clock and by their CPU time, which other work on the machine disturbs less. */
async function compared(figure: string, workspace: string, programs: Programs): Promise<Measured[]> {
  const { ours, floor, peer, notes } = programs;
  const bare = program(['-e', '0'], workspace);
  const contenders: Readonly<Record<string, Program>> = { bare, ours, peer, ...(floor ? { floor } : {}) };
  const measured = await interleave(contenders, rounds);
  const by = (unit: string, name: string, values: (of: string) => readonly number[]): Measured => {
    const zero = median(values('bare'));
    return {
      figure: name,
      unit,
      ours: median(values('ours')) - zero,
      floor: floor ? median(values('floor')) - zero : 0,
      peer: median(values('peer')) - zero,
      notes: { floor: `node -e 0 takes ${zero.toFixed(1)} ms`, ...notes },
      targets: [
        { of: 'ours', most: 45 },
        { of: 'peer', most: 0.5 },
      ],
      spread: spread(values('ours')),
    };
  };
  return [
    by('ms over bare node', figure, (of) => measured[of] ?? []),
    by('ms CPU over bare node', `${figure}-cpu`, (of) => contenders[of]?.cpu.slice(-rounds.rounds) ?? []),
  ];
}

const inputs = (url: string): Variables => ({
  'INPUT_BASE-URL': url,
  'INPUT_API-KEY': 'key-of-the-service',
  INPUT_MODE: 'plan',
  INPUT_NAME: 'echo',
  INPUT_SOURCE: 'external_docker',
  'INPUT_IMAGE-URI': 'echo:1',
});
