import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startGuarded } from '../../../../src/services/control/compute/guarded-process.ts';
import { runs, until } from './agents.ts';
import { endWithTest } from '../../../child-process.ts';

// Folders that everyone may list: commands must work there too.
const requested = { cwd: '/', env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, withInput: false, graceSeconds: 0 };
const textOf = async (output: AsyncIterable<Buffer>): Promise<string> =>
  String(Buffer.concat(await Array.fromAsync(output)));

test('passes arguments unchanged and reports the exit of a command', async () => {
  const started = startGuarded(
    { ...requested, command: 'printf', args: ['%s|', 'a b', '$HOME', '-n', "it's"] },
    systemClock,
  );
  expect(await textOf(started.stdout)).toBe("a b|$HOME|-n|it's|");
  expect(await started.ended).toEqual({ kind: 'exited', code: 0 });
});

test.each([
  ['a command that fails', 'false', requested.cwd, { kind: 'exited', code: 1 }],
  ['a missing command', 'no-such-command', requested.cwd, { kind: 'exited', code: 127 }],
  ['a missing folder', 'true', '/nowhere', { kind: 'exited', code: 126 }],
])('%s', async (_, command, cwd, end) => {
  expect(await startGuarded({ ...requested, command, args: [], cwd }, systemClock).ended).toEqual(end);
});

const asRoot = process.geteuid?.() === 0;

test.each(asRoot ? ['by itself', 'through a link'] : [])(
  'does not enter a root-only folder for another user (%s)',
  async (how) => {
    const root = mkdtempSync(join(tmpdir(), 'landfall-guard-'));
    chmodSync(root, 0o711);
    mkdirSync(join(root, 'closed/inner'), { recursive: true });
    writeFileSync(join(root, 'closed/inner/file'), 'canary-of-root');
    chmodSync(join(root, 'closed'), 0o700);
    symlinkSync('closed', join(root, 'link'));
    const cwd = join(root, how === 'by itself' ? 'closed/inner' : 'link/inner');
    const user = { uid: 45_680, gid: 45_680 };
    const started = startGuarded({ ...requested, cwd, user, command: 'cat', args: ['file'] }, systemClock);
    expect(await textOf(started.stdout)).toBe('');
    expect(await started.ended).toEqual({ kind: 'exited', code: 126 });
    rmSync(root, { recursive: true });
  },
);

test('ends the background processes of a command with it', async () => {
  const started = startGuarded({ ...requested, command: 'sh', args: ['-c', 'sleep 600 & echo $!'] }, systemClock);
  const pid = Number(await textOf(started.stdout));
  expect(await started.ended).toEqual({ kind: 'exited', code: 0 });
  await until(() => !runs(pid));
});

test('kills children and grandchildren', async () => {
  const script = 'sh -c "sleep 600 & echo \\$!; wait" & wait';
  const started = startGuarded({ ...requested, command: 'sh', args: ['-c', script] }, systemClock);
  const [said] = await once(started.stdout, 'data');
  started.kill();
  expect(await started.ended).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  await until(() => !runs(Number(String(said))));
});

test('kills started processes when the service is killed with SIGKILL', async () => {
  const script = join(import.meta.dirname, 'guard-holder.ts');
  const service = endWithTest(spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] }));
  const [said] = await once(service.stdout, 'data');
  const pids = String(said).trim().split(' ').map(Number);
  expect(pids.map(runs)).toEqual([true, true]);
  service.kill('SIGKILL');
  await until(() => !pids.some(runs));
});
