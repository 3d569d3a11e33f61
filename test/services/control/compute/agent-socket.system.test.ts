import { existsSync, lchownSync, lstatSync, renameSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import {
  openAgentSocket,
  removeDeadSockets,
  type AgentSocket,
} from '../../../../src/services/control/compute/agent-socket.ts';
import { startGuarded, type ProcessUser } from '../../../../src/services/control/compute/guarded-process.ts';

/** A uid that no user of this machine has, where the tests may switch to it. */
const users: ProcessUser[] = process.getuid?.() === 0 ? [{ uid: 65_111, gid: 65_111 }] : [];
const stranger: ProcessUser = { uid: 65_112, gid: 65_112 };

const atTheEnd: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

async function opened(user: ProcessUser | undefined): Promise<AgentSocket> {
  const socket = await openAgentSocket(user);
  atTheEnd.push(socket.remove);
  return socket;
}

/** Listens at the path as an agent of that user does. */
async function listenAt(path: string, user?: ProcessUser): Promise<void> {
  const server = createServer().listen(path);
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  if (user) lchownSync(path, user.uid, user.gid);
  atTheEnd.push(() => server.close());
}

/** What a shell of that user says to a script. */
async function asUser(user: ProcessUser, script: string): Promise<string> {
  const args = ['-c', script];
  const run = startGuarded(
    { command: '/bin/sh', args, cwd: '/', env: {}, withInput: false, graceSeconds: 0, user },
    systemClock,
  );
  const said = text(run.stdout);
  await run.ended;
  return (await said).trim();
}

test('the socket path is short, its folder is private, and nothing remains', async () => {
  const socket = await openAgentSocket(undefined);
  await listenAt(socket.path);
  expect(await socket.take()).toBe(`unix:${socket.path}`);
  expect(socket.path.length).toBeLessThan(104);
  expect(statSync(dirname(socket.path)).mode & 0o777).toBe(0o700);
  await socket.remove();
  expect(existsSync(dirname(socket.path))).toBe(false);
});

test('accepts only a socket', async () => {
  const socket = await opened(undefined);
  await expect(socket.take()).rejects.toThrow('ENOENT');
  symlinkSync('/dev/null', socket.path);
  await expect(socket.take()).rejects.toThrow('no socket');
});

test('removes sockets of a crashed service, but none in use and no new ones', async () => {
  const [dead, alive, young] = [await opened(undefined), await opened(undefined), await opened(undefined)];
  await listenAt(alive.path);
  for (const { path } of [dead, young]) {
    await listenAt(`${path}-`);
    // Closing a server removes its original path, so the renamed socket stays.
    renameSync(`${path}-`, path);
    await atTheEnd.pop()?.();
  }
  const inAMinute = lstatSync(dead.path).mtimeMs + 61_000;
  utimesSync(young.path, inAMinute / 1_000, inAMinute / 1_000);
  await removeDeadSockets(inAMinute);
  expect([dead, alive, young].map(({ path }) => existsSync(dirname(path)))).toEqual([false, true, true]);
});

describe.each(users)('the socket of an agent that runs as $uid', (user) => {
  test('moves to a folder that only the service can enter', async () => {
    const socket = await opened(user);
    await listenAt(socket.path, user);
    expect(await asUser(stranger, `ls ${dirname(socket.path)} || echo refused`)).toBe('refused');
    const path = (await socket.take()).slice('unix:'.length);
    expect([path === socket.path, existsSync(socket.path), lstatSync(path).isSocket()]).toEqual([false, false, true]);
    const replace = `rm ${path} || ln -sf /dev/null ${path} || touch ${dirname(path)}/x || ls ${path} || echo refused`;
    for (const other of [user, stranger]) expect(await asUser(other, replace)).toBe('refused');
    await socket.remove();
    expect(existsSync(dirname(path))).toBe(false);
  });

  test('is not a symlink that the user created', async () => {
    const socket = await opened(user);
    const other = await opened(undefined);
    await listenAt(other.path);
    expect(await asUser(user, `ln -s ${other.path} ${socket.path} && echo linked`)).toBe('linked');
    await expect(socket.take()).rejects.toThrow('no socket');
  });

  test('does not belong to another user', async () => {
    const socket = await opened(user);
    await listenAt(socket.path, stranger);
    await expect(socket.take()).rejects.toThrow('no socket');
  });

  test('is removed with whatever its user put in its folder or its place', async () => {
    const socket = await openAgentSocket(user);
    const folder = dirname(dirname(socket.path));
    await asUser(user, `mkdir -p ${socket.path}/below && ln -s / ${dirname(socket.path)}/link`);
    expect(existsSync(`${socket.path}/below`)).toBe(true);
    await expect(socket.take()).rejects.toThrow('no socket');
    await socket.remove();
    expect(existsSync(folder)).toBe(false);
  });
});
