import { silentLogger } from '../../src/kit/logger.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type FileReader, createProcessReader, type ProcessReaderOptions } from '../../app/worker/file-readers.ts';

import { pullRequestCheck } from '../../app/pull-requests/pull-request-check.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { findGraphConfig } from '../../src/services/control/builds/make-build.ts';
import { readGraphConfig } from '../../src/agent-folder/graph-config/read.ts';
import { maxProblems } from '../../src/kit/diagnostics/problem.ts';
import { longestTurnMs, longestTurnOf, watchLoop } from './loop-watch.ts';
import { randomNumbers, type Random } from './random-numbers.ts';

const cases = Number(process.env['LANDFALL_FUZZ'] ?? 40);
const random = randomNumbers(Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1));

/** A little less than the longest text that is parsed. */
const room = 65_000;

const filled = (make: (index: number) => string, between = ','): string => {
  const parts: string[] = [];
  for (let length = 0, index = 0; length < room; index += 1) {
    const part = make(index);
    parts.push(part);
    length += part.length + between.length;
  }
  return parts.slice(0, -2).join(between);
};

const agent = '"graphs":{"a":"./a.ts:g"}';
const smoke =
  'name: a\nsource: github\nsmoke-tests:\n  - name: a\n    assistant: a\n    input: 1\n    expect:\n      values:\n';

/** The two attacks that once held the App, and what costs the readers most, each in as much text as is read. */
const attacks: Readonly<Record<string, string>> = {
  'a key of 250,000 spaces': `{"graphs":{"${' '.repeat(250_000)}":1}}`,
  'a key of as many spaces as are read': `{"graphs":{"${' '.repeat(room - 100)}":1}}`,
  '18,000 bad keys': `{"graphs":{${Array.from({ length: 18_000 }, (_, at) => `"k${at}":1`).join()}}}`,
  'as many bad keys as are read': `{"graphs":{${filled((at) => `"k${at}":1`)}}}`,
  'keys that are nearly known': `{${agent},"http":{${filled((at) => `"disable_asistants${at}":1`)}}}`,
  'unknown keys': `{${agent},${filled((at) => `"zqwxj${at}yyy":1`)}}`,
  'a list of wrong items': `{${agent},"dependencies":[${filled(() => '1')}]}`,
  'deep lists': `{${agent},"ui_config":${'['.repeat(room / 2 - 50)}${']'.repeat(room / 2 - 50)}}`,
  'deep maps': `${agent},"ui_config":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
  'one key many times': `{"graphs":{${filled(() => '"a":"./a.ts:g"')}}}`,
  commas: `[${','.repeat(room)}`,
  'closing brackets': ']'.repeat(room),
  quotes: '"'.repeat(room),
  anchors: `a: [${filled((at) => `&a${at} 1`)}]`,
  aliases: `a: [&a 1,${filled(() => '*a')}]`,
  'aliases that unfold to much': `${smoke}        - {path: $, equals: [&a [${filled(() => '1').slice(0, 60_000)}],${Array.from({ length: 90 }, () => '*a').join()}]}`,
  'merge keys': `a: &a {x: 1}\n${filled((at) => `k${at}: {<<: *a}`, '\n')}`,
  deployments: `deployments:\n${filled((at) => `  a${at}: {}`, '\n')}`,
  'fields that are none': filled((at) => `field${at}: 1`, '\n'),
  patterns: `${smoke}${filled(() => "        - {path: $, matches: '(((a{1,9}){1,9}){1,9})'}", '\n')}`,
  schemas: `${smoke}${filled(() => `        - {path: $, schema: {properties: {a: {type: strin}, b: {pattern: '(?i)[\\p{L}]{1,40}'}}}}`, '\n')}`,
  queries: `${smoke}${filled(() => '        - {path: "$..a[?@.b > 1 && (@.c == \'x\')]", equals: 1}', '\n')}`,
  'a deep query': `${smoke}        - {equals: 1, path: "$[?${'('.repeat(30_000)}@${')'.repeat(30_000)}]"}`,
  globs: `name: a\nsource: github\npaths:\n  include: [${filled((at) => `'**/{a,b${at}}/*{c,d}*/[a-z]/**/x'`)}]`,
};

const pieces = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ': ',
  '\n',
  '\n  ',
  '- ',
  '? ',
  '"',
  "'",
  '|',
  '>',
  '#',
  '&a ',
  '*a ',
  '!!a ',
  '<<: *a',
  '---\n',
  '%',
  '\t',
  '\\',
  '\u0000',
  '\ud800',
  '\u2028',
  'graphs',
  'deployments',
  'name: a',
  'source: github',
  'smoke-tests',
  '"a":1',
  '1e999',
  '__proto__',
  'x'.repeat(90),
];

/** A text of the pieces that mean something, some of them very often, or an attack with something broken in it. */
function hostile({ below, pick }: Random): string {
  if (below(4) === 0) {
    const text = pick(Object.values(attacks)).slice(0, room);
    const at = below(text.length);
    return text.slice(0, at) + pick(pieces) + text.slice(at + below(20));
  }
  let text = '';
  while (text.length < room / 8 && below(60) > 0)
    text += pick(pieces).repeat(below(8) === 0 ? below(2_000) : 1 + below(3));
  return text;
}

const log = silentLogger;
const names = Object.keys(attacks);
const texts = [...Object.values(attacks), ...Array.from({ length: cases }, () => hostile(random))];

/** The texts that hold the loop for too long at each of three readings. */
async function slowOf(all: readonly string[], read: (text: string) => Promise<void> | void): Promise<string[]> {
  const watch = watchLoop();
  onTestFinished(() => watch.stop());
  const slow: string[] = [];
  for (const [index, text] of all.entries()) {
    const least = await longestTurnOf(watch, () => read(text));
    if (least > longestTurnMs) slow.push(`${names[index] ?? JSON.stringify(text.slice(0, 200))}: ${least} ms`);
  }
  return slow;
}

const owner = { installationId: 5, repositoryId: 7 };

/** A reader that marks nothing, and whose owner may have everything read. */
function openReader(options: Partial<ProcessReaderOptions> = {}): FileReader {
  const reader = createProcessReader({
    clock: systemClock,
    log,
    readings: { begin: async () => true, end: async () => undefined },
    budget: { wait: () => undefined, spend: () => undefined, isSlow: () => false },
    ...options,
  });
  onTestFinished(() => reader.close());
  return reader;
}

const casesNamed = 'name: a\nsmoke-tests: [{ name: t, assistant: a, input: "{{a}}", cases: c.yaml }]';

test('no repository file blocks the App, and at most 100 problems are reported', async () => {
  const reader = openReader();
  const read = async (text: string): Promise<void> => {
    await reader.namedPaths(text, owner);
    await reader.readDeployFile({ text: casesNamed, cases: { 'c.yaml': { text } } }, owner);
    await reader.readDeployFile({ text }, owner);
    const files = { deployFile: text, graphConfigs: new Map([['langgraph.json', text]]), unread: [] };
    const validation = await reader.validate(files, owner);
    for (const { length } of [validation.problems, validation.warnings]) {
      expect(length).toBeLessThanOrEqual(maxProblems + 1);
    }
    expect(Math.max(0, ...validation.problems.map(({ message }) => message.length))).toBeLessThan(2_000);
    const examined = { number: 1, touched: ['langgraph.json'], removesDeployFile: false, validation, forecasts: [] };
    pullRequestCheck({ ...examined, baseBranch: 'main', isFork: true }, 0);
  };
  for (const text of texts.slice(0, 3)) await read(text);
  expect(await slowOf(texts, read)).toEqual([]);
});

test('no graph configuration of a repository holds the control service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const numbers = `{${agent},"ui_config":{"a":[${filled(() => '1')}]}}`;
  const all = [...texts, numbers];
  const read = (text: string): void => {
    writeFileSync(join(folder, 'langgraph.json'), text);
    findGraphConfig(folder, 'langgraph.json', { log: () => undefined, warn: () => undefined });
  };
  for (const text of [...Object.values(attacks), numbers]) read(text);
  expect(await slowOf(all, read)).toEqual([]);
});

test('what is left out of many problems is counted', () => {
  const read = readGraphConfig(
    `{"graphs":{${Array.from({ length: 4_000 }, (_, at) => `"k${at}":1`).join()}}}`,
    'g.json',
  );
  expect(read.ok ? [] : read.problems.length).toBe(maxProblems + 1);
  expect(read.ok ? '' : read.problems.at(-1)?.message).toBe('and 3900 more');
});

test('a graph configuration of very many values is refused as a whole', () => {
  const dependencies = (count: number) =>
    `{${agent},"dependencies":[${Array.from({ length: count }, () => '""').join()}]}`;
  expect(readGraphConfig(dependencies(4_900), 'g.json').ok).toBe(true);
  const read = readGraphConfig(dependencies(5_100), 'g.json');
  expect(read.ok ? [] : read.problems.map(({ message }) => message)).toEqual([
    'this has more than 5000 values: take out what is no configuration',
  ]);
});
