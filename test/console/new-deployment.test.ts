import { expect, test } from 'vitest';
import {
  emptyDraft,
  problemsAtFields,
  readSecretLines,
  toRequest,
  type Draft,
} from '../../src/console/pages/new-deployment/request.ts';
import { sizeText } from '../../src/console/parts/words.ts';
import { configPathsOf, folderOf, nameFor, selectFiles } from '../../src/console/pages/new-deployment/source-files.ts';

const draftOf = (sourceKind: Draft['sourceKind'], values: Draft['values'] = {}): Draft => ({
  ...emptyDraft,
  sourceKind,
  values: { ...emptyDraft.values, ...values },
});
const file = (text: string) => ({ size: text.length, text: async () => text });

test('a request has only the fields of its kind of source', () => {
  const values = {
    name: ' agent ',
    'source_config.repo_url': 'https://example.com/a.git',
    'source_config.listener_config.k8s_namespace': 'agents',
    'source_config.resource_spec': '{"cpu": 1}',
    'source_revision_config.image_uri': 'image:1',
  };
  expect(toRequest(draftOf('repository', values))).toEqual({
    body: {
      name: 'agent',
      source: 'github',
      source_config: { repo_url: 'https://example.com/a.git', build_on_push: true },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    },
  });
  expect(toRequest(draftOf('image', values))).toEqual({
    body: {
      name: 'agent',
      source: 'external_docker',
      source_config: { listener_config: { k8s_namespace: 'agents' }, resource_spec: { cpu: 1 } },
      source_revision_config: { image_uri: 'image:1' },
      secrets: [],
    },
  });
});

test('names what is missing at its field', () => {
  const draft = { ...draftOf('image', { 'source_config.resource_spec': '[1]' }), secrets: [{ name: ' ', value: 'x' }] };
  expect(toRequest(draft)).toEqual({
    problems: {
      name: 'Enter a value for “Name”.',
      'source_revision_config.image_uri': 'Enter a value for “Image”.',
      'source_config.resource_spec': 'This is not a JSON object. Check its quotes, commas and braces.',
      'secrets.0.name': 'Enter a name, or remove the row.',
    },
  });
});

test('corrects a name that cannot be used', () => {
  const problem = (name: string) => {
    const request = toRequest(draftOf('repository', { name, 'source_config.repo_url': 'https://example.com/a.git' }));
    return 'problems' in request ? request.problems : undefined;
  };
  expect(problem('My Agent')).toEqual({
    name: 'It may hold lower-case letters, digits and hyphens only. Use “my-agent”, for example.',
  });
  expect(problem('ü')).toEqual({ name: 'It may hold lower-case letters, digits and hyphens only.' });
  expect(problem('a'.repeat(64))?.['name']).toContain('at most 63');
  expect(problem('my-agent')).toBeUndefined();
});

test('writes sizes with the units of the other pages', () => {
  expect([0, 999, 13_600, 2_500_000, 4e12].map(sizeText)).toEqual(['0 B', '999 B', '13.6 kB', '2.5 MB', '4,000 GB']);
});

test('takes refusals apart by their fields, and keeps the rest', () => {
  const draft = { ...draftOf('repository'), secrets: [{ name: 'A', value: '' }] };
  const entries = [
    { field: 'source_config.repo_url', message: 'too small' },
    { field: 'secrets.0.name', message: 'taken' },
    { field: 'source_config.custom_url', message: 'unknown' },
  ];
  expect(problemsAtFields({ message: 'all', problems: entries }, draft)).toEqual({
    problems: { 'source_config.repo_url': 'Too small', 'secrets.0.name': 'Taken' },
    rest: 'source_config.custom_url: unknown',
  });
  const message =
    'source_revision_config.repo_ref: a tag. Did you mean v1? source_config.install_command must not contain |; use a script. It is late.';
  expect(problemsAtFields({ message, problems: [] }, draft)).toEqual({
    problems: {
      'source_revision_config.repo_ref': 'A tag. Did you mean v1?',
      'source_config.install_command': 'Must not contain |; use a script. It is late.',
    },
    rest: undefined,
  });
  expect(problemsAtFields({ message: 'The disk is full.', problems: [] }, draft).rest).toBe('The disk is full.');
});

test('reads pasted lines of secrets', () => {
  expect(readSecretLines('# keys\nexport A="1 2"\nB = three=3\n')).toEqual([
    { name: 'A', value: '1 2' },
    { name: 'B', value: 'three=3' },
  ]);
  expect(readSecretLines('A_NAME')).toBeUndefined();
});

test('selects files by the rules of the command line', async () => {
  const texts = {
    'agent/.gitignore': '*.log\n',
    'agent/.env': 'KEY=1',
    'agent/a.log': 'x',
    'agent/node_modules/b/index.js': 'x',
    'agent/v/pyvenv.cfg': 'x',
    'agent/src/.gitignore': '!kept.log\n',
    'agent/src/kept.log': 'x',
    'agent/langgraph.json': '{}',
    'agent/../escaped': 'x',
  };
  const folder = folderOf(Object.entries(texts).map(([path, text]) => ({ path, file: file(text) })));
  const { files, bytes, leftOut } = await selectFiles(folder);
  expect(files.map(({ path }) => path)).toEqual(['.gitignore', 'langgraph.json', 'src/.gitignore', 'src/kept.log']);
  expect(bytes).toBe('*.log\n!kept.log\n{}x'.length);
  expect(leftOut).toEqual(['.env', 'node_modules/', 'v/']);
  await expect(selectFiles(folderOf([{ path: '.env', file: file('') }]))).rejects.toThrow('no file to upload');
});

test('finds the configuration nearest to the root, and a name', () => {
  expect(configPathsOf(['b/langgraph.json', 'a/b/langgraph.json', 'a/langgraph.json', 'my-langgraph.json'])).toEqual([
    'a/langgraph.json',
    'b/langgraph.json',
    'a/b/langgraph.json',
  ]);
  expect(['Echo Agent.tar.gz', '__x__', 'ünï'].map(nameFor)).toEqual(['echo-agent', 'x', 'n']);
});
