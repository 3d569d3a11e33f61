import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

const folder = join(import.meta.dirname, '../../../.github/workflows');
const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

const workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.object({
      'timeout-minutes': z.number(),
      permissions: z.record(z.string(), z.string()).optional(),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
});

describe.each([...texts])('%s', (_, text) => {
  const { permissions, jobs } = workflow.parse(parse(text));
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test('names each action by its commit, with the version beside it', () => {
    const lines = text.split('\n').filter((line) => /\buses:/.test(line));
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('puts no expression into a shell', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });

  test('lets the token write only where a job asks for it', () => {
    expect(Object.values(permissions).filter((right) => right !== 'read')).toEqual([]);
  });
});

test('all workflows use one commit of an action', () => {
  const used = [...texts.values()].flatMap((text) => [...text.matchAll(/uses: ([^@\n]+)@(.+)/g)]);
  const commits = Map.groupBy(used, ([, action]) => action);
  for (const [action, found] of commits)
    expect([action, new Set(found.map(([, , at]) => at)).size]).toEqual([action, 1]);
});

test('a release gives each job the rights that its task needs', () => {
  const { jobs } = workflow.parse(parse(texts.get('release.yml') ?? ''));
  expect(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.permissions]))).toEqual({
    build: { contents: 'read' },
    npm: { contents: 'read', 'id-token': 'write' },
    image: { contents: 'read', packages: 'write', 'id-token': 'write', attestations: 'write' },
    publish: { contents: 'write' },
  });
});
