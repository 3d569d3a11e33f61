import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgedByGitHub } from './judged-by-github.ts';

const root = join(import.meta.dirname, '../..');

const workflow = (readme: string): string => /```yaml\n(name: deploy\n[\s\S]*?)```/.exec(readme)?.[1] ?? '';

test('GitHub finds nothing wrong with action.yml', async () => {
  expect(await judgedByGitHub('action', await readFile(join(root, 'action.yml'), 'utf8'))).toEqual([]);
});

test("GitHub finds nothing wrong with the README's workflow", async () => {
  const text = workflow(await readFile(join(root, 'README.md'), 'utf8'));
  expect(text).toContain('jobs:');
  expect(await judgedByGitHub('workflow', text)).toEqual([]);
});

test.each(['docs/action.md', 'docs/commands.md', 'docs/plans.md', 'docs/previews.md', 'docs/receipts.md'])(
  'GitHub finds nothing wrong with the workflows of %s',
  async (page) => {
    const text = await readFile(join(root, page), 'utf8');
    const workflows = [...text.matchAll(/```yaml\n(name: [\s\S]*?)```/g)].map(([, found = '']) => found);
    expect(workflows).not.toEqual([]);
    expect(await Promise.all(workflows.map((each) => judgedByGitHub('workflow', each)))).toEqual(
      workflows.map(() => []),
    );
  },
);

test.each(readdirSync(join(root, '.github/workflows')))('GitHub finds nothing wrong with %s', async (name) => {
  const text = await readFile(join(root, '.github/workflows', name), 'utf8');
  expect(await judgedByGitHub('workflow', text)).toEqual([]);
});

test.each([
  ['an action that no runner runs', 'action', 'name: a\ndescription: b\nruns:\n  using: node99\n  main: x.js\n'],
  ['a workflow with an unknown key', 'workflow', 'on: push\njobs:\n  a:\n    runs-on: x\n    stepz: []\n'],
] as const)('it does find %s', async (_, kind, text) => {
  expect(await judgedByGitHub(kind, text)).not.toEqual([]);
});
