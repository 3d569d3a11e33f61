import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { memoryWatch } from '../../../../src/services/control/compute/memory-bound.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { processFamily } from '../../../../src/services/control/compute/process-family.ts';
import { listProcesses } from '../../../../src/services/control/compute/process-list.ts';
import { changeOwner } from '../../../../src/services/control/isolation/change-owner.ts';
import { openFakeAgent, runs, specOf, until } from './agents.ts';

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

/** As root, a deployment has a user of its own, so that none of its processes can hide. */
const isRoot = process.geteuid?.() === 0;
const number = randomInt(1_700_000_000, 1_800_000_000);
const user = isRoot ? { uid: number, gid: number } : undefined;

/** Starts an agent that starts our program in the given way. */
async function agentThatStarts(program: string, way: string, memoryMb: number) {
  const spec = specOf();
  atTheEnd.push(spec.remove);
  const { folder, homeFolder } = spec.program;
  const own = join(folder, 'own');
  const { node, agentServer } = openFakeAgent(folder);
  chmodSync(folder, 0o711);
  for (const each of [own, homeFolder]) mkdirSync(each);
  writeFileSync(join(own, 'eat'), `exec '${node}' -e '${eater}'\n`);
  writeFileSync(join(own, 'sit'), `echo $$ > '${own}/new'; mv '${own}/new' '${own}/pid'; exec sleep 600\n`);
  if (user) for (const each of [own, homeFolder]) await changeOwner(each, user);
  let looks = 0;
  const memory = memoryWatch(systemClock, () => {
    looks += 1;
    return listProcesses();
  });
  const secrets = [{ name: 'FAKE_RUN', value: way.replace('$IT', `/bin/sh '${join(own, program)}'`) }];
  const start = await processCompute({ clock: systemClock, node, agentServer, memory }).start(
    { ...spec, user, secrets, resourceSpec: { memory_limit_mb: memoryMb } },
    new AbortController().signal,
  );
  if (start.kind === 'running') atTheEnd.push(() => start.agent.stop(0));
  /** Resolves with the id of `sit` once it runs and was observed. */
  const pid = async (): Promise<number> => {
    await until(() => existsSync(join(own, 'pid')));
    const before = looks;
    await until(() => looks > before);
    return Number(readFileSync(join(own, 'pid'), 'utf8'));
  };
  return { start, pid };
}

const eater = 'const held = []; setInterval(() => held.push(Buffer.alloc(20e6, 1)), 50)';

/** Ways out of a process group. The last is detected only if the deployment has a user of its own. */
const ways = [
  ['calls setsid', 'setsid $IT &'],
  ['calls setsid and forks twice', 'setsid /bin/sh -c "$IT &" &'],
  ['clears its environment as well', 'env -i setsid $IT & sleep 600'],
  ['clears its environment and forks twice', 'env -i setsid /bin/sh -c "$IT &" &'],
].slice(0, isRoot ? 4 : 3);

describe('an agent and its processes outside the process group', () => {
  test.each(ways)('have one memory limit: %s', async (_, way) => {
    const { start } = await agentThatStarts('eat', way, 400);
    const end = start.kind === 'running' ? await start.agent.exited : start.reason;
    expect(end).toMatch(/it took \d+ MB of memory, more than its limit of 400 MB, and was stopped/);
    if (user) await until(() => ofUser(user.uid) === 0);
  });

  test.each(ways)('are ended together: %s', async (_, way) => {
    const { start, pid } = await agentThatStarts('sit', way, 2_048);
    const sitting = await pid();
    expect(runs(sitting)).toBe(true);
    if (start.kind === 'running') await start.agent.stop();
    expect(runs(sitting)).toBe(false);
  });
});

const ofUser = (uid: number): number =>
  listProcesses().filter(({ pid }) => new RegExp(`^Uid:\\s+${uid}\\b`, 'm').test(statusOf(pid))).length;

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

describe('a process family', () => {
  /** Starts a process that sleeps, with the given user and marker. */
  async function sleeper(as: object, mark: Record<string, string>): Promise<number> {
    const child = spawn('/bin/sh', ['-c', 'echo on; exec sleep 600'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', ...mark },
      stdio: ['ignore', 'pipe', 'ignore'],
      ...as,
    });
    atTheEnd.push(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child.pid ?? 0;
  }

  test('leaves an unmarked process to another family of its user while one exists', async () => {
    const first = processFamily({ mark: ['LANDFALL_AGENT', randomUUID()], user }, systemClock);
    const second = processFamily({ mark: ['LANDFALL_AGENT', randomUUID()], user }, systemClock);
    const own = await sleeper({ ...user }, first.mark);
    const others = await sleeper({ ...user }, second.mark);
    const hiding = await sleeper({ ...user }, {});
    expect(first.usage().processes).toBe(user ? 2 : 1);
    await first.end();
    expect([own, others, hiding].map(runs)).toEqual([false, true, true]);
    await second.end();
    // Without separate users the owner of a process is unknown.
    expect([others, hiding].map(runs)).toEqual([false, !user]);
  });

  test('excludes a process of another user with its marker', async () => {
    const family = processFamily({ mark: ['LANDFALL_AGENT', randomUUID()], user }, systemClock);
    const forged = await sleeper(user ? { uid: user.uid + 1, gid: user.gid + 1 } : {}, family.mark);
    expect(family.usage().processes).toBe(user ? 0 : 1);
    await family.end();
    expect(runs(forged)).toBe(Boolean(user));
  });
});
