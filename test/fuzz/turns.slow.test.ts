import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { storableJson, holdsMore } from '../../src/kit/json-text.ts';
import { readDeployFile } from '../../app/targets/file-entries.ts';
import { maskOf, maskStart } from '../../src/contract/masking/mask.ts';
import { collectInstallInputs } from '../../src/services/control/builds/manifests.ts';
import { lastLogLines } from '../../src/deploy/smoke/log-lines.ts';
import { longestTurnMs, longestTurnOf, watchLoop } from './loop-watch.ts';

const keys = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [at.toString(36).padStart(6, 'k'), 1]));

test.each<[string, () => void | Promise<void>]>([
  ['the values of a deploy file are stored', () => void storableJson({ terms: keys })],
  [
    'the last lines of a log are redacted',
    async () => {
      const mask = maskOf(['hunter22-hunter22']);
      const line = {
        id: 'a',
        timestamp: '2026-01-01T00:00:00Z',
        level: 'INFO',
        message: '%41\\u0041&amp;\\\\'.repeat(6_000),
      };
      const log = async () => ({ logs: Array.from({ length: 30 }, () => line), next_offset: null });
      const lines = await lastLogLines('deployment', 'revision', {
        control: { buildLogs: log, deployLogs: log },
        options: () => ({}),
        lines: 30,
        characters: 1_000,
        redact: (text, most) => maskStart(mask, text, most),
        missed: (_, error) => expect.fail(error.message),
      });
      expect(lines).toHaveLength(60);
    },
  ],
])('the App is not held while %s', async (_, work) => {
  const watch = watchLoop();
  onTestFinished(() => watch.stop());
  expect(await longestTurnOf(watch, work)).toBeLessThan(longestTurnMs);
});

test('a package.json of very many values does not hold the control service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-turns-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const many = Array.from({ length: 300_000 }, (_, at) => `"${at.toString(36)}":"1"`);
  writeFileSync(join(folder, 'package.json'), `{"dependencies":{${many.join()}}}`);
  const watch = watchLoop();
  onTestFinished(() => watch.stop());
  const collect = () => collectInstallInputs(folder, 'npm');
  expect(await longestTurnOf(watch, collect)).toBeLessThan(longestTurnMs);
});

test.each([
  ['{"a":[1,2,{"b":3}]}', 4, true],
  ['{"a":[1,2,{"b":3}]}', 5, false],
  [JSON.stringify({ a: '[,{\\"[,{', b: ',,,,,,,,' }), 2, false],
])('%s is counted without its texts', (json, most, expected) => {
  expect(holdsMore(json, most)).toBe(expected);
});

test('a secret across the end of a long line is redacted', () => {
  const mask = maskOf(['hunter22-hunter22']);
  const shown = maskStart(mask, `${'x'.repeat(992)}hunter22-hunter22${'y'.repeat(100)}`, 1_000);
  expect(shown).toBe(`${'x'.repeat(992)}***`);
});

test('aliases cannot make more than 1,000 expectations', () => {
  const values = Array.from({ length: 100 }, () => '{path: $.a, contains: x}').join();
  const tests = Array.from(
    { length: 100 },
    (_, at) => `  - {name: t${at}, assistant: a, input: 1, expect: {values: ${at === 0 ? `&v [${values}]` : '*v'}}}`,
  );
  const { entries } = readDeployFile({ text: `name: a\nsource: github\nsmoke-tests:\n${tests.join('\n')}\n` });
  expect(JSON.stringify(entries)).toContain('at most 1000 expectations');
});
