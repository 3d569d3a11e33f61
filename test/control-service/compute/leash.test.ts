import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { startLeashed } from '../../../src/control-service/compute/leashed-process.ts';
import { runs, until } from './agents.ts';

// Folders that everyone may look into: in a closed one a command might be.
const asked = { cwd: '/', env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, withInput: false, graceSeconds: 0 };
const textOf = async (output: AsyncIterable<Buffer>): Promise<string> =>
  String(Buffer.concat(await Array.fromAsync(output)));

test('a command gets its arguments as they are, and its end is told', async () => {
  const started = startLeashed(
    { ...asked, command: 'printf', args: ['%s|', 'a b', '$HOME', '-n', "it's"] },
    systemClock,
  );
  expect(await textOf(started.stdout)).toBe("a b|$HOME|-n|it's|");
  expect(await started.ended).toEqual({ kind: 'exited', code: 0 });
});

test.each([
  ['a command that fails', 'false', asked.cwd, { kind: 'exited', code: 1 }],
  ['a command that is not there', 'no-such-command', asked.cwd, { kind: 'exited', code: 127 }],
  ['a folder that is not there', 'true', '/nowhere', { kind: 'unstartable', reason: 'spawn /bin/sh ENOENT' }],
])('%s', async (_, command, cwd, end) => {
  expect(await startLeashed({ ...asked, command, args: [], cwd }, systemClock).ended).toEqual(end);
});

test('what a command leaves running in the background ends with it', async () => {
  const started = startLeashed({ ...asked, command: 'sh', args: ['-c', 'sleep 600 & echo $!'] }, systemClock);
  const pid = Number(await textOf(started.stdout));
  expect(await started.ended).toEqual({ kind: 'exited', code: 0 });
  await until(() => !runs(pid));
});

test('killing reaches children and grandchildren', async () => {
  const script = 'sh -c "sleep 600 & echo \\$!; wait" & wait';
  const started = startLeashed({ ...asked, command: 'sh', args: ['-c', script] }, systemClock);
  const [said] = await once(started.stdout, 'data');
  started.kill();
  expect(await started.ended).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  await until(() => !runs(Number(String(said))));
});

test('when the service is killed with -9, what it started is killed too', async () => {
  const script = join(import.meta.dirname, 'leash-holder.ts');
  const service = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(service.stdout, 'data');
  const pids = String(said).trim().split(' ').map(Number);
  expect(pids.map(runs)).toEqual([true, true]);
  service.kill('SIGKILL');
  await until(() => !pids.some(runs));
});
