import { loggerTo } from '../logger.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/kit/clock.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import { startGuarded } from '../../src/services/control/compute/guarded-process.ts';
import { logProcess } from '../../src/services/control/compute/process-log.ts';
import { revisionLogs } from '../../src/services/control/rollouts/revision-logs.ts';
import { openTestStore, type TestStore } from '../services/control/store/open-store.ts';
import { longestTurnMs, longestTurnOf, watchLoop } from './loop-watch.ts';
import { randomNumbers, type Random } from './random-numbers.ts';
import { spellings } from './spellings.ts';

const cases = Number(process.env['LANDFALL_FUZZ'] ?? 12);
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);
let opened: TestStore;
let tenantId: string;
const folder = mkdtempSync(join(tmpdir(), 'landfall-output-'));
beforeAll(async () => {
  opened = await openTestStore(systemClock);
  tenantId = await opened.store.addTenant('one');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await opened.close();
});

const noise: ((random: Random) => Buffer)[] = [
  () => Buffer.from(`${'\r'.repeat(16_383)}x`),
  () => Buffer.from('\u001b]'.repeat(9_000)),
  () => Buffer.from('\u001b[31;'.repeat(4_000)),
  ({ bytes, below }) => bytes(below(20_000)),
  ({ below }) => Buffer.from('a'.repeat(below(40_000))),
  ({ below }) => Buffer.from('\n'.repeat(below(5_000))),
  ({ below }) => Buffer.from('y\n'.repeat(below(5_000))),
  ({ below }) => Buffer.from('%41\\u0041&amp;\\\\'.repeat(below(1_000))),
  () => Buffer.from('##[add-mask]x\n::set-output name=a::b\n::stop-commands::x\n'),
  () => Buffer.from('\u0000\u009b31m\u001b(B\u2028\u202e\ud83d'),
  () => Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xf0, 0x9f]),
];
const characters = 'abcXYZ0189+/=&<>"\'%$ \\é:@#-_';
const secretOf = ({ below, pick }: Random): string =>
  Array.from({ length: 10 + below(40) }, () => pick(characters.split('')))
    .join('')
    .trim()
    .padEnd(10, 'q');

/** Something that prints a text as a process of a deployment does, in chunks that end anywhere. */
function printing(text: Buffer, name: string, chunk: number) {
  const file = join(folder, name);
  writeFileSync(file, text);
  const script = `const fs = require('fs'); const b = fs.readFileSync(process.argv[1]);
    for (let at = 0; at < b.length; at += ${chunk}) fs.writeSync(1, b.subarray(at, at + ${chunk}));`;
  return startGuarded(
    {
      command: process.execPath,
      args: ['-e', script, file],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
      withInput: false,
      graceSeconds: 0,
    },
    systemClock,
  );
}

test(
  `hostile output leaves no secret in the log and no turn of ${longestTurnMs} ms`,
  async () => {
    const made = await opened.store.createDeployment(tenantId, {
      name: 'loud',
      source: 'github',
      source_config: { repo_url: 'https://example.com/a.git' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
      secrets: [],
      secret_references: null,
    });
    if (made.kind !== 'created') throw new Error(made.kind);
    const revisionId = made.latest.id;
    const watch = watchLoop();
    for (let number = 0; number < cases; number += 1) {
      const random = randomNumbers(seed * 1_000 + number);
      const secrets = [secretOf(random), secretOf(random), `${secretOf(random)}\n${secretOf(random)}`];
      const hidden = secrets.flatMap((secret) => secret.split('\n')).flatMap((secret) => spellings(secret));
      const parts = Array.from({ length: 30 }, () => [
        random.pick(noise)(random),
        Buffer.from(random.pick(['\n', '\n', ' ', '\r', '\n\n'])),
        Buffer.from(` ${random.pick(hidden).written} `),
        Buffer.from(random.pick(['\n', '\n', ' '])),
      ]);
      const output = Buffer.concat([...parts.flat(), Buffer.from('\nthe end\n')]);
      const chunk = 1 + random.below(60_000);
      const longest = await longestTurnOf(watch, async () => {
        const book = revisionLogs({
          store: opened.store,
          clock: systemClock,
          log: loggerTo((message) => expect.fail(message)),
          signal: new AbortController().signal,
        });
        const { write } = book.open(revisionId, 'deploy');
        const started = printing(output, `${number}`, chunk);
        await logProcess(started, { write, mask: maskOf(secrets), clock: systemClock, errorLevel: 'error' });
        await book.flush();
        await started.ended;
      });
      const lines = await opened.store.readLog([revisionId], 'deploy', { order: 'desc', limit: 2_000 });
      const stored = lines.map(({ message }) => message).join('\n');
      expect(stored).toContain('the end');
      const seen = hidden.filter(({ core }) => stored.includes(core));
      expect({ number, seen: seen.map(({ kind, core }) => `${kind}: ${core}`) }).toEqual({ number, seen: [] });
      expect({ number, isLong: longest > longestTurnMs, longest }).toMatchObject({ isLong: false });
    }
    watch.stop();
  },
  60_000 + cases * 20_000,
);
