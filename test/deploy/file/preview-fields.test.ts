import { describe, expect, test } from 'vitest';
import { readDesired, readPushed } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const file = (text: string) => ({ text, path: 'landfall.yml' });
const head = 'name: support\nsource: github\n';

function terms(text: string) {
  const read = readDesired({ inputs: {}, file: file(`${head}${text}`) });
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.deployments[0]?.preview;
}

function problems(text: string, before = head): string[] {
  const read = readDesired({ inputs: {}, file: file(`${before}${text}`) });
  return read.ok ? [] : read.problems.map(formatProblem);
}

const defaults = {
  when: 'always',
  secrets: [],
  forkSecrets: [],
  idleAfter: 1_800,
  expiresAfterMs: 604_800_000,
  max: 10,
};

const all = `
preview:
  when: { label: preview }
  name: support-preview
  secrets: [OPENAI_API_KEY=PREVIEW_OPENAI_API_KEY, LOG_LEVEL]
  fork-secrets: [LOG_LEVEL=FORK_LOG_LEVEL]
  smoke-tests: [{ name: says hello, assistant: agent, input: {} }]
  conversations: 3
  expires-after: 36h
  max: 4
`;

describe('what a file says of previews', () => {
  test.each<[sentence: string, text: string, terms: object | undefined]>([
    ['nothing: there are none', '', undefined],
    ['no', 'preview: false', undefined],
    ['yes, with the defaults', 'preview: true', defaults],
    ['an empty map, with the defaults', 'preview: {}', defaults],
    ['on command', 'preview: { when: command }', { ...defaults, when: 'command' }],
    ['minutes', 'preview: { idle-after: 1.5m }', { ...defaults, idleAfter: 90 }],
    ['never idle', 'preview: { idle-after: never }', { ...defaults, idleAfter: 'never' }],
    ['days', 'preview: { expires-after: 1.5d }', { ...defaults, expiresAfterMs: 129_600_000 }],
  ])('%s', (_, text, expected) => expect(terms(text)).toEqual(expected));

  test('all of it', () => {
    expect(terms(all)).toMatchObject({
      when: { label: 'preview' },
      name: 'support-preview',
      secrets: [
        { name: 'OPENAI_API_KEY', from: 'PREVIEW_OPENAI_API_KEY' },
        { name: 'LOG_LEVEL', from: 'LOG_LEVEL' },
      ],
      forkSecrets: [{ name: 'LOG_LEVEL', from: 'FORK_LOG_LEVEL' }],
      smokeTests: [{ name: 'says hello', assistant: 'agent' }],
      conversations: { newest: 3 },
      expiresAfterMs: 129_600_000,
      max: 4,
    });
  });

  test('resources of an image, in hyphens', () => {
    const image = 'name: support\nimage-uri: x/y\npreview: { resource-spec: { memory-mb: 512 } }';
    const read = readDesired({ inputs: {}, file: file(image) });
    expect(read).toMatchObject({ deployments: [{ preview: { resourceSpec: { memory_mb: 512 } } }] });
  });

  test('the cost of an answer is counted by the prices of the deployment', () => {
    const tested =
      'preview: { smoke-tests: [{ name: t, assistant: a, input: 1 }] }\nprices: { m: { input: 1, output: 2 } }';
    expect(terms(tested)?.smokeTests?.[0]?.prices).toEqual({ m: { input: 1, output: 2 } });
  });

  test('the App reads the same', () => {
    const read = readPushed(file(`name: support${all}`));
    expect(read).toMatchObject({ ok: true, deployments: [{ read: { ok: true, value: { preview: { max: 4 } } } }] });
  });
});

describe('a wrong value is reported with its line', () => {
  test.each<[text: string, problem: string]>([
    ['preview: yes please', 'landfall.yml:3:10: `preview` must be `true` or `false`, or a map, not text'],
    [
      'preview: { when: never }',
      'landfall.yml:3:18: `preview.when` must be one of `always`, `command`, or a map, not text',
    ],
    ['preview: { when: { label: "" } }', 'landfall.yml:3:27: `preview.when.label` must not be empty'],
    ['preview: { secret: [A] }', 'landfall.yml:3:12: `preview.secret` is not known; did you mean `secrets`?'],
    [
      'preview: { name: Support }',
      'landfall.yml:3:18: `preview.name` must be as the name of a deployment: it may hold lower-case letters, digits and hyphens only',
    ],
    [
      'preview: { expires-after: 2h30m }',
      'landfall.yml:3:27: `preview.expires-after` must be a duration such as `1500ms`, `5s` or `2m`',
    ],
    ['preview: { expires-after: 1s }', 'landfall.yml:3:27: `preview.expires-after` must be a duration from 1m to 90d'],
    ['preview: { idle-after: 30s }', 'landfall.yml:3:24: `preview.idle-after` must be a duration from 1m to 90d'],
    [
      'preview: { idle-after: soon }',
      'landfall.yml:3:24: `preview.idle-after` must be a duration such as `1500ms`, `5s` or `2m`',
    ],
    ['preview: { max: 0 }', 'landfall.yml:3:17: `preview.max` must be at least 1'],
    [
      'preview: { secrets: [LANDFALL_PREVIEW] }',
      'landfall.yml:3:22: `preview.secrets[0]` cannot be LANDFALL_PREVIEW: it marks the previews of pull requests',
    ],
    [
      'secrets: [LANDFALL_PREVIEW=OTHER]',
      'landfall.yml:3:11: `secrets[0]` cannot be LANDFALL_PREVIEW: it marks the previews of pull requests',
    ],
    [
      'preview: { smoke-tests: [{ name: t, assistant: a, cases: x.yml }] }',
      'landfall.yml:3:58: `preview.smoke-tests[0].cases` is for the smoke tests of the deployment: without tests of their own, previews have those',
    ],
    [
      'preview: { resource-spec: { cpu: 1 } }',
      'landfall.yml:3:27: `preview.resource-spec` belongs to the source `external_docker`, not to `github`',
    ],
  ])('%s', (text, problem) => expect(problems(text)).toEqual([problem]));
});
