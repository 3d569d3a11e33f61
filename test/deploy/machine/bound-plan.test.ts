import { describe, expect, test } from 'vitest';
import { readSavedPlan, type SavedPlan } from '../../../src/deploy/file/saved-plan.ts';
import type { PlanBinding } from '../../../src/deploy/machine/bind-plan.ts';
import type { PlanFacts } from '../../../src/deploy/rules/bound-plan.ts';
import { first, github, hello, second, workflowOn, type RunOfTest } from './deploy-fixture.ts';
import { deadly, prepare, writes, type Situation } from './killed-run.ts';

const common: PlanBinding = {
  service: 'https://host',
  tenantId: undefined,
  digest: (text) => `plain ${text.length} ${text.slice(-60)}`,
  keyed: (text) => `keyed ${text.length}`,
};

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** The plan that `mode: plan` makes of a request. */
async function planOf({ fixture, agentAt }: Prepared, request: RunOfTest): Promise<SavedPlan> {
  let kept: PlanFacts | undefined;
  const binding: PlanBinding = { ...common, keep: (facts) => void (kept = facts) };
  expect(await fixture.deploy({ ...request, agentAt, mode: 'plan', binding })).toMatchObject({ kind: 'planned' });
  const saved = readSavedPlan(
    JSON.stringify({
      type: 'urn:landfall:plan:v1',
      id: '4b0dfa7e-0000-4000-8000-000000000001',
      made_at: new Date(fixture.clock.now()).toISOString(),
      landfall_version: '0.1.0',
      ...kept,
    }),
  );
  if (!saved) throw new Error('the plan does not hold to its own schema');
  return saved;
}

const toSecond = { workflow: workflowOn(second), smokeTests: [hello] };

interface Scenario extends Situation {
  name: string;
  request: RunOfTest;
}

const scenarios: readonly Scenario[] = [
  { name: 'a creation', request: { smokeTests: [hello] }, before: [], builds: first },
  { name: 'a new commit', request: toSecond, builds: second },
  { name: 'a request with a key', request: toSecond, builds: second, keys: true },
  { name: 'a held revision', request: toSecond, builds: second, holds: true, keys: true },
  {
    name: 'a change of secrets',
    request: { smokeTests: [hello], desired: { ...github, secrets: [{ name: 'NEW', value: 'canary' }] } },
    builds: first,
  },
];

/** Kills a bound run at each of its requests, runs it again without a journal, and returns how many revisions there are. */
async function sweep(scenario: Scenario): Promise<number[]> {
  const counts: number[] = [];
  for (const when of ['before', 'after'] as const) {
    for (let nth = 1; ; nth += 1) {
      const prepared = await prepare(scenario);
      const { fixture, agentAt } = prepared;
      const binding = { ...common, saved: await planOf(prepared, scenario.request) };
      const { control, died } = deadly(fixture.control, nth, when);
      const request = { ...scenario.request, agentAt, binding };
      const ended = await Promise.race([fixture.deploy({ ...request, control }), died]);
      await fixture.deploy(request);
      counts.push(fixture.control.service.revisions.length);
      if (ended !== 'killed') break;
    }
  }
  return counts;
}

describe('a plan is applied once, wherever the run is killed', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const counts = await sweep(scenario);
    expect(counts.length).toBeGreaterThan(6);
    expect(new Set(counts)).toEqual(new Set([(scenario.before ?? [first]).length + 1]));
  });
});

describe('nothing is sent', () => {
  const refused = async (change: (prepared: Prepared) => Promise<RunOfTest>, builds = second) => {
    const prepared = await prepare({ builds });
    const { fixture, agentAt } = prepared;
    const saved = await planOf(prepared, toSecond);
    const request = await change(prepared);
    const before = writes(fixture.control).length;
    const outcome = await fixture.deploy({ ...toSecond, agentAt, ...request, binding: { ...common, saved } });
    expect(outcome).toMatchObject({ kind: 'refused', passes: false, changed: false });
    expect(writes(fixture.control)).toHaveLength(before);
    return outcome.plan?.kind === 'impossible' ? outcome.plan.obstacles.map(({ field }) => field) : [];
  };

  test('where the commit moved', async () => {
    expect(await refused(async () => ({ workflow: workflowOn('c'.repeat(40)) }))).toEqual(['commit']);
  });

  test('where another client deployed', async () => {
    const fields = await refused(async ({ fixture, agentAt }) => {
      await fixture.deploy({ agentAt, desired: { ...github, rebuild: 'always' } });
      return {};
    }, first);
    expect(fields).toContain('plan-file');
  });

  test('where the file changed', async () => {
    expect(await refused(async () => ({ onFailure: 'rollback' }))).toEqual(['on-failure']);
  });

  test('where the plan is too old', async () => {
    const fields = await refused(async ({ fixture }) => {
      await fixture.passes(4 * 86_400_000);
      return {};
    });
    expect(fields).toEqual(['plan-file']);
  });
});

test('no plan is made to be applied where the commit is not known', async () => {
  const { fixture, agentAt } = await prepare({ builds: second });
  const binding = { ...common, keep: () => undefined };
  const outcome = await fixture.deploy({ agentAt, mode: 'plan', binding, workflow: undefined });
  expect(outcome).toMatchObject({ kind: 'refused', plan: { obstacles: [{ field: 'commit' }] } });
});

test('a dry run says whether the plan would be applied, and sends nothing', async () => {
  const prepared = await prepare({ builds: second });
  const { fixture, agentAt } = prepared;
  const saved = await planOf(prepared, toSecond);
  const dryRun = { ...toSecond, agentAt, mode: 'plan', binding: { ...common, saved } } as const;
  expect(await fixture.deploy(dryRun)).toMatchObject({ kind: 'planned' });
  expect(await fixture.deploy({ ...dryRun, onFailure: 'rollback' })).toMatchObject({ kind: 'refused' });
  expect(writes(fixture.control)).toEqual([]);
});

test('another client that is first makes the plan refused, and is not overtaken', async () => {
  const prepared = await prepare({ builds: first, keys: true });
  const { fixture, agentAt } = prepared;
  fixture.control.heedsIfLatest = true;
  const saved = await planOf(prepared, toSecond);
  const control = new Proxy(fixture.control, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        // Between the last look and the request.
        if (name === 'patchDeployment' && target.service.revisions.length === 1) {
          await fixture.deploy({ agentAt, wait: false, desired: { ...github, rebuild: 'always' } });
        }
        return Reflect.apply(member, target, given);
      };
    },
  });
  const outcome = await fixture.deploy({ ...toSecond, agentAt, control, binding: { ...common, saved } });
  expect(outcome).toMatchObject({ kind: 'refused', changed: false });
  expect(fixture.control.service.revisions).toHaveLength(2);
});

test('a revision of another commit than the planned one is not taken for it', async () => {
  const prepared = await prepare({ builds: 'c'.repeat(40), holds: true });
  const { fixture, agentAt } = prepared;
  const saved = await planOf(prepared, toSecond);
  const outcome = await fixture.deploy({ ...toSecond, agentAt, binding: { ...common, saved } });
  expect(outcome.passes).toBe(false);
  expect(outcome.activeRevisionId).toBe('r1');
});
