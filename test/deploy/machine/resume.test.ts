import { describe, expect, test } from 'vitest';
import type { DeployRunRequest } from '../../../src/deploy/machine/deploy-run.ts';
import type { Journal, KeptDeploy } from '../../../src/deploy/machine/journal.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import { AgentModel, says } from '../smoke/agent-model.ts';
import type { ControlModel } from './control-model.ts';
import { goesLive } from './control-model.ts';
import { built, DeployFixture, first, github, hello, second, workflowOn } from './deploy-fixture.ts';

/** What a run kept, for the one after it. */
class KeptInMemory implements Journal {
  leavesHeld = true;
  kept: KeptDeploy | undefined;
  async keep(kept: KeptDeploy | undefined): Promise<void> {
    this.kept = kept;
  }
}

const never = new Promise<never>(() => undefined);

/**
 * The service for a run that is killed at its `nth` request: before it is sent, or once it took effect. Nothing of the
 * run goes on after that.
 */
function deadly(control: ControlModel, nth: number, when: 'before' | 'after') {
  let calls = 0;
  let die = (): void => undefined;
  const died = new Promise<'killed'>((resolve) => {
    die = () => resolve('killed');
  });
  const wrapped = new Proxy(control, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        calls += 1;
        if (calls > nth) return never;
        if (calls < nth) return Reflect.apply(member, target, given);
        if (when === 'after') await Promise.resolve(Reflect.apply(member, target, given)).catch(() => undefined);
        die();
        return never;
      };
    },
  });
  return { control: wrapped, died };
}

interface Scenario {
  name: string;
  request: Partial<DeployRunRequest>;
  before?: readonly string[];
  /** The commit that its revision reports, where it does. */
  builds?: string;
  holds?: true;
  /** The service honours idempotency keys. */
  keys?: true;
  wrong?: readonly string[];
  expected: Partial<Outcome>;
}

const toSecond = { workflow: workflowOn(second), smokeTests: [hello] };
const scenarios: readonly Scenario[] = [
  {
    name: 'a creation',
    request: { smokeTests: [hello] },
    before: [],
    builds: first,
    expected: { kind: 'deployed', revisionId: 'r1' },
  },
  {
    name: 'a new commit',
    request: toSecond,
    builds: second,
    expected: { kind: 'deployed', revisionId: 'r2', activeRevisionId: 'r2' },
  },
  { name: 'a request with a key', request: toSecond, keys: true, expected: { kind: 'deployed', revisionId: 'r2' } },
  {
    name: 'a held revision that passes',
    request: toSecond,
    builds: second,
    holds: true,
    expected: { kind: 'deployed', revisionId: 'r2', activeRevisionId: 'r2', verified: 'before-traffic' },
  },
  {
    name: 'a held revision that fails',
    request: toSecond,
    builds: second,
    holds: true,
    wrong: ['r2'],
    expected: { kind: 'discarded', revisionId: 'r2', activeRevisionId: 'r1' },
  },
  {
    name: 'a live revision that fails and is rolled back',
    request: { ...toSecond, onFailure: 'rollback' },
    builds: second,
    wrong: ['r2'],
    expected: { kind: 'rolled-back', revisionId: 'r2', activeRevisionId: 'r3' },
  },
  {
    name: 'a requested rollback',
    request: { mode: 'rollback', smokeTests: [hello] },
    before: [first, second],
    expected: { kind: 'rolled-back', activeRevisionId: 'r3' },
  },
  {
    name: 'a change of secrets alone',
    request: {
      smokeTests: [hello],
      desired: { ...github, secrets: [{ name: 'NEW', value: 'canary-of-the-file' }] },
    },
    builds: first,
    expected: { kind: 'deployed', revisionId: 'r2' },
  },
];

async function prepare({ before = [first], builds, holds, keys, wrong = [] }: Scenario) {
  const fixture = new DeployFixture();
  if (holds) fixture.control.lacks.clear();
  fixture.control.honoursKeys = keys === true;
  if (before.length > 0) fixture.control.has(built, ...before.map((commit) => goesLive(commit)));
  if (builds) fixture.control.scripts.push(goesLive(builds));
  await fixture.passes(60_000);
  const right = new AgentModel(fixture.clock);
  const broken = new AgentModel(fixture.clock, says('good bye'));
  const agentAt = (url: string) => {
    const revision = /held\.test\/(.*)/.exec(url)?.[1] ?? fixture.control.service.deployment?.active_revision_id ?? '';
    return wrong.includes(revision) ? broken : right;
  };
  return { fixture, agentAt };
}

const writes = ({ calls }: ControlModel): string[] =>
  calls.filter((call) => ['create', 'patch', 'redeploy', 'promote', 'discard'].includes(call));

describe('a run that is killed at any request, and resumed', () => {
  test.each(scenarios)('ends as if it had not been: $name', async (scenario) => {
    const whole = await prepare(scenario);
    const expected = await whole.fixture.deploy({ ...scenario.request, agentAt: whole.agentAt });
    expect(expected).toMatchObject(scenario.expected);
    const made = whole.fixture.control.service.revisions.length;
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; ; nth += 1) {
        const { fixture, agentAt } = await prepare(scenario);
        const journal = new KeptInMemory();
        const { control, died } = deadly(fixture.control, nth, when);
        const killed = fixture.deploy({ ...scenario.request, agentAt, control, further: control, journal });
        const end = await Promise.race([killed, died]);
        if (end !== 'killed') {
          expect(end).toMatchObject(scenario.expected);
          expect(journal.kept).toBeUndefined();
          expect(nth).toBeGreaterThan(4);
          break;
        }
        expect(JSON.stringify(journal.kept ?? {})).not.toContain('canary');
        const { kept } = journal;
        const where = `killed ${when} request ${nth}, ${fixture.control.calls.at(-1)}, kept ${kept?.deploy.state}`;
        const outcome = await fixture.deploy({ ...scenario.request, agentAt, journal, kept });
        expect(outcome, where).toMatchObject(scenario.expected);
        expect(fixture.control.service.revisions, where).toHaveLength(made);
        expect(journal.kept, where).toBeUndefined();
        // What is sent again with its key is answered, and makes nothing.
        const most = writes(whole.fixture.control).length + (scenario.keys ? 1 : 0);
        expect(writes(fixture.control).length, where).toBeLessThanOrEqual(most);
      }
    }
  });
});
