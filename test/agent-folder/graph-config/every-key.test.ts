import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { readGraphConfig } from '../../../src/agent-folder/graph-config/read.ts';
import { graphConfig } from '../../../src/agent-folder/graph-config/schema.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

type Path = readonly string[];

/** A schema without what may be left out of it. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? bare(schema.unwrap()) : schema;
}

/** The maps of a schema whose keys are known, by where they stand; a graph is one too where it is not a mere path. */
function mapsOf(schema: z.core.$ZodType, path: Path = []): { path: Path; keys: string[] }[] {
  const form = bare(schema);
  if (form instanceof z.ZodUnion) return form.options.flatMap((option) => mapsOf(option, path));
  if (form instanceof z.ZodRecord) return mapsOf(form.valueType, [...path, 'one']);
  if (!(form instanceof z.ZodObject)) return [];
  const inner = Object.entries(form.shape).flatMap(([key, value]: [string, z.core.$ZodType]) =>
    mapsOf(value, [...path, key]),
  );
  return [{ path, keys: Object.keys(form.shape) }, ...inner];
}

const maps = mapsOf(graphConfig);
const keys = maps.flatMap(({ path, keys: each }) => each.map((key) => [...path, key]));

/** What a map needs to be one, beside the key that is wrong. */
const NEEDED: Readonly<Record<string, object>> = {
  'graphs.one': { path: './graph.ts:graph' },
  source: { kind: 'uv' },
  'store.index': { dims: 3, embed: './embed.ts:embed' },
};

/** A file that is sound but for one key, each key on a line of its own. */
function fileWith(path: Path, value: unknown): { text: string; line: number } {
  const at = (depth: number): unknown => {
    const [key = '', inner] = [path[depth], depth === path.length - 1 ? value : at(depth + 1)];
    const whole = depth === 0 ? { graphs: { echo: './graph.ts:graph' } } : NEEDED[path.slice(0, depth).join('.')];
    return { ...whole, [key]: inner };
  };
  const text = JSON.stringify(at(0), undefined, 1);
  const indent = ' '.repeat(path.length);
  return { text, line: text.split('\n').findIndex((line) => line.startsWith(`${indent}"${path.at(-1)}":`)) + 1 };
}

/** Everything that is said of a file: as the start and `landfall validate` say it. */
function saidOf(text: string): string[] {
  const read = readGraphConfig(text, 'langgraph.json');
  return (read.ok ? [...read.warnings, ...read.refused] : read.problems).map(formatProblem);
}

/** Values of every kind: no key takes all of them. */
const KINDS = [true, 7.5, -1, 'no such word', '', {}, { one: 1 }, [], [1], [{}]];

/** Keys whose content is defined by the agent or by other platforms: any map is valid. */
const FREE = ['encryption', 'checkpointer.serde', 'auth.openapi.paths'];

test('the table knows the maps that there are', () => {
  expect(maps.map(({ path }) => path.join('.')).toSorted()).toEqual([
    '',
    'auth',
    'auth.cache',
    'auth.openapi',
    'checkpointer',
    'checkpointer.ttl',
    'graphs.one',
    'http',
    'http.configurable_headers',
    'http.cors',
    'http.logging_headers',
    'source',
    'store',
    'store.index',
    'store.ttl',
    'ui_config',
    'webhooks',
    'webhooks.url',
  ]);
});

describe('a value of the wrong kind', () => {
  test.each(keys.map((path) => [path.join('.'), path] as const))('%s is reported with its line', (name, path) => {
    const reported = KINDS.map((value) => {
      const { text, line } = fileWith(path, value);
      const read = readGraphConfig(text, 'langgraph.json');
      return { ok: read.ok, line, said: saidOf(text) };
    });
    const wrong = reported.filter(({ ok }) => !ok);
    expect(wrong.length).toBeGreaterThanOrEqual(FREE.includes(name) ? 7 : 6);
    for (const { said, line } of wrong) {
      // A list or a map may be spelled over several lines: what is wrong in it stands below its key.
      const [first = ''] = said;
      expect(Number(first.split(':')[1])).toBeGreaterThanOrEqual(line);
      expect(first).toContain(`\`${name}`);
      expect(first).not.toMatch(/Invalid|is not what belongs here/);
    }
  });
});

describe('an unknown key', () => {
  test.each(maps.map(({ path }) => [path.join('.') || 'the file', path] as const))(
    'in %s is reported with its line',
    (_, path) => {
      const stranger = [...path, 'quantum_flux'];
      const { text, line } = fileWith(stranger, 1);
      expect(saidOf(text)).toContainEqual(
        expect.stringMatching(new RegExp(`^langgraph\\.json:${line}:\\d+: \`${stranger.join('\\.')}\` is not known`)),
      );
    },
  );

  test.each(keys.filter((path) => (path.at(-1) ?? '').length > 4).map((path) => [path.join('.'), path] as const))(
    'a slip in %s stops the start, and says what was meant',
    (_, path) => {
      const key = path.at(-1) ?? '';
      const slip = [...path.slice(0, -1), `${key}z`];
      const { text, line } = fileWith(slip, 1);
      const read = readGraphConfig(text, 'langgraph.json');
      expect(read.ok ? [] : read.problems).toContainEqual(
        expect.objectContaining({ line, field: slip.join('.'), suggestion: key }),
      );
    },
  );
});
