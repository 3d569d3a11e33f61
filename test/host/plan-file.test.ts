import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import type { PlanFacts } from '../../src/deploy/rules/bound-plan.ts';
import { openPlan } from '../../src/host/plan-file.ts';
import { readEntryOptions } from '../../src/deploy/file/entry-options.ts';

const folder = mkdtempSync(join(tmpdir(), 'landfall-plan-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(mode: string, name: string, more: Record<string, string> = {}) {
  const read = readEntryOptions({
    'base-url': 'https://host/api-host/',
    'api-key': 'a-key',
    mode,
    'plan-file': join(folder, name),
    ...more,
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return openPlan(read.options);
}

const facts: PlanFacts = {
  service: 'https://host/api-host',
  key: 'k',
  tenant_id: null,
  deployment_id: null,
  deployment_name: 'support',
  latest_revision_id: null,
  active_revision_id: null,
  commit: null,
  plan: 'create',
  fields: ['name'],
  change: 'c',
  settings: 's',
  file: {},
  deployment: {},
  secrets: {},
};
const planned: Outcome = { kind: 'planned', passes: true, reason: '', changed: false, notes: [] };

async function write(name: string, outcome: Outcome = planned): Promise<Outcome | undefined> {
  const opened = open('plan', name);
  const plan = opened.ok ? opened.plan : undefined;
  plan?.binding.keep?.(facts);
  return plan?.conclude(outcome, () => undefined);
}

test('a plan that was written is the one that a deploy is bound to', async () => {
  expect(await write('plan.json')).toMatchObject({ kind: 'planned', passes: true });
  const opened = open('deploy', 'plan.json');
  expect(opened).toMatchObject({ ok: true, plan: { binding: { service: 'https://host/api-host', saved: facts } } });
});

test('a dry run of a deploy is bound to the plan, and writes none', async () => {
  await write('approved.json');
  const path = join(folder, 'approved.json');
  const approved = readFileSync(path, 'utf8');
  const opened = open('deploy', 'approved.json', { 'dry-run': 'true' });
  expect(opened).toMatchObject({ ok: true, plan: { binding: { saved: facts } } });
  const plan = opened.ok ? opened.plan : undefined;
  plan?.binding.keep?.({ ...facts, change: 'another' });
  await plan?.conclude(planned, () => undefined);
  expect(readFileSync(path, 'utf8')).toBe(approved);
});

test('each plan has an id of its own', async () => {
  const ids = await Promise.all(
    ['one.json', 'other.json'].map(async (name) => {
      await write(name);
      return /"id": "([^"]+)"/.exec(readFileSync(join(folder, name), 'utf8'))?.[1];
    }),
  );
  expect(new Set(ids).size).toBe(2);
});

test('a plan that can not be written fails the run, and leaves nothing behind', async () => {
  mkdirSync(join(folder, 'taken/inner'), { recursive: true });
  expect(await write('taken')).toMatchObject({ kind: 'failed', passes: false, advice: expect.any(String) });
  expect(readdirSync(folder).filter((name) => name.startsWith('taken.'))).toEqual([]);
});

test('a run that planned nothing writes no plan', async () => {
  await write('refused.json', { ...planned, kind: 'refused', passes: false });
  expect(() => statSync(join(folder, 'refused.json'))).toThrow('ENOENT');
});

test.each([
  ['is absent', 'absent.json', () => undefined],
  ['is a folder', 'folder.json', (path: string) => mkdirSync(path)],
  ['is something else', 'text.json', (path: string) => writeFileSync(path, 'hello')],
  ['is too large', 'large.json', (path: string) => writeFileSync(path, ' '.repeat(2 ** 20 + 1))],
])('a deploy is refused with a plan file that %s', (_, name, prepare) => {
  prepare(join(folder, name));
  expect(open('deploy', name)).toMatchObject({ ok: false, problem: { field: 'plan-file' } });
});

test.each(['smoke', 'rollback', 'delete'])('mode %s takes no plan file', (mode) => {
  expect(() => open(mode, 'plan.json')).toThrow('plan-file is for the modes plan and deploy');
});
