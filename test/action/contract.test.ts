import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { outputsOf } from '../../src/action/report-outcome.ts';
import { version } from '../../src/kit/version.ts';
import { readEntryOptions } from '../../src/deploy/file/entry-options.ts';
import { outcomeKinds } from '../../src/contract/outcome-kinds.ts';
import { referenceTables, withInputs, withTables } from '../../scripts/reference-tables.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const action = z
  .strictObject({
    name: z.string(),
    description: z.string().max(125),
    author: z.string(),
    branding: z.strictObject({ icon: z.string(), color: z.string() }),
    inputs: z.record(
      z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
      z.strictObject({ description: z.string().min(1), required: z.boolean(), default: z.string().optional() }),
    ),
    outputs: z.record(z.string().regex(/^[a-z0-9-]+$/), z.strictObject({ description: z.string().min(1) })),
    runs: z.strictObject({ using: z.literal('node24'), main: z.literal('dist/index.js') }),
  })
  .parse(parse(read('action.yml')));

describe('action.yml', () => {
  test('has the inputs of the table: npm run build writes them', () => {
    expect(withInputs(read('action.yml'))).toBe(read('action.yml'));
  });

  test('has an output for everything that is set, and sets everything that it has', () => {
    const set = outputsOf({ kind: 'deployed', reason: '', passes: true, changed: false, notes: [] });
    expect(Object.keys(set)).toEqual(Object.keys(action.outputs));
  });

  test('names every outcome', () => {
    for (const kind of outcomeKinds) expect(action.outputs['outcome']?.description).toContain(kind);
  });

  test('has the defaults that the inputs are read with', () => {
    const defaults = Object.fromEntries(
      Object.entries(action.inputs).flatMap(([name, { default: value }]) =>
        value === undefined ? [] : [[name, value]],
      ),
    );
    const url = { 'base-url': 'https://host' };
    expect(readEntryOptions({ ...defaults, ...url })).toEqual(readEntryOptions(url));
  });

  test('is of the version of the package', () => {
    expect(z.object({ version: z.string() }).parse(JSON.parse(read('package.json'))).version).toBe(version);
  });
});

describe('the documentation', () => {
  test('has the tables of inputs, outputs, variables and fields as npm run build writes', async () => {
    for (const [path, tables] of Object.entries(await referenceTables(read('action.yml')))) {
      expect(withTables(read(path), tables)).toBe(read(path));
    }
  });

  test('gives a reason for every package', () => {
    const { dependencies, devDependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    const page = read('docs/dependencies.md');
    const missing = [...Object.keys(dependencies), ...Object.keys(devDependencies)].filter(
      (name) => !page.includes(`\`${name}\``),
    );
    expect(missing).toEqual(['@types/mdast', '@types/node', '@types/pg', '@types/ws']);
  });

  test('lists every outcome', () => {
    for (const kind of outcomeKinds) expect(read('docs/action.md')).toContain(`| \`${kind}\` |`);
  });
});
