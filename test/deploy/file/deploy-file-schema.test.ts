import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { deployFileSchema, schemaFile } from '../../../scripts/deploy-file-schema.ts';
import { fileFieldNames } from '../../../src/deploy/file/deployment-fields.ts';
import { readDesired } from '../../../src/deploy/file/read-desired.ts';

const root = join(import.meta.dirname, '../../..');
const text = readFileSync(join(root, schemaFile), 'utf8');
const schema = z
  .looseObject({
    definitions: z.object({ deployment: z.looseObject({ properties: z.record(z.string(), z.unknown()) }) }),
  })
  .parse(JSON.parse(text));
const validator = new Validator(schema, '7', false);

/** Whether an editor finds the file fine, and whether we do. */
const judged = (written: string): { editor: boolean; landfall: boolean } => ({
  editor: validator.validate(parse(written, { merge: true })).valid,
  landfall: readDesired({
    inputs: {},
    file: { text: written, path: 'landfall.yml' },
    cases: { read: (path) => ({ text: path.endsWith('.jsonl') ? '{ "input": 1 }' : '- input: 1' }) },
  }).ok,
});

test('the schema is what the sources make: npm run build writes it', async () => {
  expect(text).toBe(await deployFileSchema());
});

test('it knows every field of the file, and no other', () => {
  expect(Object.keys(schema.definitions.deployment.properties).toSorted()).toEqual([...fileFieldNames].toSorted());
});

const pages = ['docs/deploy-file.md', 'docs/app.md', 'docs/checks.md', 'docs/cli.md', 'docs/previews.md', 'README.md'];
const shown = pages
  .filter((page) => existsSync(join(root, page)))
  .flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => [
      page,
      block,
    ]),
  )
  .filter(([, block = '']) => /^(deployments|name|deployment-id):/m.test(block) && !/^(on|jobs):/m.test(block));

describe('what is right for us is right in an editor', () => {
  test.each(shown)('a file that %s shows', (_, block = '') => {
    expect(judged(block)).toEqual({ editor: true, landfall: true });
  });

  test('the pages show some', () => expect(shown.length).toBeGreaterThan(3));

  test.each<[sentence: string, written: string]>([
    ['defaults of a deployment', 'defaults: { on-failure: keep }\ndeployments:\n  a: { source: github }'],
    ['a deployment by its id', 'deployment-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8\nsource: github'],
    [
      'resources in hyphens',
      'name: a\nimage-uri: x/y\nresource-spec: { min-scale: 1, cpu-limit: 2, volumes: [{ name: v, emptyDir: {} }] }',
    ],
    ['resources as the service has them', 'name: a\nimage-uri: x/y\nresource-spec: { min_scale: 1, cpu_limit: 2 }'],
    [
      'references in either',
      'name: a\nimage-uri: x/y\nsecret-references:\n  - { name: A, secret-name: s, secret-key: k }\n  - { name: B, secret_name: s, secret_key: k }',
    ],
    [
      'prices of models',
      'name: a\nsource: github\nprices: { gpt-4.1: { input: 2, output: 8.5 }, local: { input: 0, output: 0 } }',
    ],
    [
      'all of pushes',
      'name: a\npaths: { include: [src/**] }\nskip-words: []\nafter-rollback: hold\nenvironment: { name: x, transient: true }',
    ],
    ['an environment by its name', 'name: a\nsource: github\nenvironment: production'],
    [
      'durations',
      'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, input: 1, timeout: 2.5m, expect: { total-within: 1500ms } }]',
    ],
    [
      'a file of cases',
      'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, cases: c.jsonl, answer: $.a }]',
    ],
    ['a list of secrets', 'name: a\nsource: github\nsecrets: [A, B=C]'],
    ['a folder', 'name: a\nsource-dir: agent\ngraph-config-path: langgraph.json\nrebuild: always\nbuild-command: make'],
    ['an image that was pushed', 'name: a\nsource: internal_docker\nimage-uri: x/y:1'],
  ])('%s', (_, written) => expect(judged(written)).toEqual({ editor: true, landfall: true }));
});

describe('what is wrong for us is wrong in an editor', () => {
  test.each<[sentence: string, written: string]>([
    ['a list', '- a'],
    ['nothing named', 'source: github'],
    ['no deployment', 'deployments: {}'],
    ['a name among the defaults', 'defaults: { name: a }\ndeployments: { a: { source: github } }'],
    ['defaults alone', 'defaults: { source: github }'],
    ['an unknown default', 'defaults: { zebra: 1 }\ndeployments: { a: { source: github } }'],
    ['something beside the deployments', 'deployments: { a: { source: github } }\nname: a'],
    ['a deployment that is text', 'deployments: { a: github }'],
    ['a field that there is not', 'name: a\nsource: github\nrepo: x'],
    ['a source that there is not', 'name: a\nsource: gitlab'],
    ['a folder and an image', 'name: a\nsource-dir: x\nimage-uri: x/y'],
    ['an address of an image that was pushed', 'name: a\nsource: internal_docker\ncustom-url: https://a.test'],
    ['a field of the other source', 'name: a\nsource: github\nimage-uri: x/y'],
    ['the same the other way round', 'name: a\nsource: external_docker\nrepo-ref: main'],
    ['fields of two sources', 'name: a\nrepo-ref: main\nimage-uri: x/y'],
    ['paths of an image', 'name: a\nsource: external_docker\npaths: { include: [a] }'],
    ['a word that there is not', 'name: a\nsource: github\nrebuild: sometimes'],
    ['text for a flag', 'name: a\nsource: github\nbuild-on-push: "yes"'],
    ['a number for a name', 'name: 5\nsource: github'],
    ['no uuid', 'deployment-id: five\nsource: github'],
    ['globs that are no list', 'name: a\npaths: { include: src/** }'],
    ['no glob', 'name: a\npaths: { include: [] }'],
    ['a key of paths that there is not', 'name: a\npaths: { include: [a], only: [b] }'],
    ['one skip word', 'name: a\nskip-words: x'],
    ['an empty one', 'name: a\nskip-words: [""]'],
    ['a hold by another word', 'name: a\nafter-rollback: wait'],
    ['an environment without a name', 'name: a\nsource: github\nenvironment: { production: true }'],
    ['an environment that is a list', 'name: a\nsource: github\nenvironment: [x]'],
    ['a test without an input', 'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a }]'],
    [
      'cases that are a list',
      'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, cases: [{ input: 1 }] }]',
    ],
    ['a test without an assistant', 'name: a\nsource: github\nsmoke-tests: [{ name: t, input: 1 }]'],
    [
      'a test that expects what there is not',
      'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, input: 1, expect: { mood: good } }]',
    ],
    [
      'a test with too many attempts',
      'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, input: 1, attempts: 21 }]',
    ],
    [
      'a duration without a unit',
      'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, input: 1, timeout: 60 }]',
    ],
    ['too many cores', 'name: a\nimage-uri: x/y\nresource-spec: { cpu: 9 }'],
    ['the same as the service spells it', 'name: a\nimage-uri: x/y\nresource-spec: { queue_cpu: 9 }'],
    ['a resource that there is not', 'name: a\nimage-uri: x/y\nresource-spec: { gpu: 1 }'],
    ['a reference without its key', 'name: a\nimage-uri: x/y\nsecret-references: [{ name: A, secret-name: s }]'],
  ])('%s', (_, written) => expect(judged(written)).toEqual({ editor: false, landfall: false }));
});
