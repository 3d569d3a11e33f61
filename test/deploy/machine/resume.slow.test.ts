import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/deploy/machine/journal.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import { first, github, hello, second, workflowOn, type RunOfTest } from './deploy-fixture.ts';
import { deadly, JournalInMemory, prepare, writes, type Situation } from './killed-run.ts';

interface Scenario extends Situation {
  name: string;
  request: RunOfTest;
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

/** Kills the run at each of its requests, resumes it, and returns what then differs from a run that was not killed. */
async function sweep(scenario: Scenario, journalOf: () => JournalInMemory): Promise<string[]> {
  const whole = await prepare(scenario);
  expect(await whole.fixture.deploy({ ...scenario.request, agentAt: whole.agentAt })).toMatchObject(scenario.expected);
  // What is sent again with its key is answered, and makes nothing.
  const most = writes(whole.fixture.control).length + (scenario.keys ? 1 : 0);
  const made = whole.fixture.control.service.revisions.length;
  const wrong: string[] = [];
  for (const when of ['before', 'after'] as const) {
    for (let nth = 1; ; nth += 1) {
      const { fixture, agentAt } = await prepare(scenario);
      const journal = journalOf();
      const { control, died } = deadly(fixture.control, nth, when);
      const killed = fixture.deploy({ ...scenario.request, agentAt, control, further: control, journal });
      const end = await Promise.race([killed, died]);
      if (journal.text.includes('canary')) wrong.push(`${when} request ${nth}: it keeps a secret`);
      if (end !== 'killed') {
        if (nth < 5 || journal.kept)
          wrong.push(`${nth} requests, and ${journal.kept?.deploy.state} is kept at the end`);
        break;
      }
      const { kept } = journal;
      const outcome = await fixture.deploy({ ...scenario.request, agentAt, journal, kept });
      const isSame = Object.entries(scenario.expected).every(
        ([field, value]) => new Map(Object.entries(outcome)).get(field) === value,
      );
      const { revisions } = fixture.control.service;
      if (isSame && revisions.length === made && writes(fixture.control).length <= most && !journal.kept) continue;
      wrong.push(`${when} request ${nth}, in ${kept?.deploy.state}: ${outcome.kind}, ${revisions.length} revisions`);
    }
  }
  return wrong;
}

describe('a run that is killed at any request, and resumed', () => {
  test.each(scenarios)('ends as if it had not been: $name', async (scenario) => {
    expect(await sweep(scenario, () => new JournalInMemory())).toEqual([]);
  });

  test.each([
    ['what is about to be sent', 'sending'],
    ['which revision is its own', 'following'],
    ['how its held revision is decided', 'deciding'],
    ['that it goes back', 'restoring'],
  ] as const)('goes wrong with a journal that does not know %s', async (_, state) => {
    class Forgetful extends JournalInMemory {
      override async keep(kept: JournalEntry | undefined): Promise<void> {
        await super.keep(kept?.deploy.state === state ? undefined : kept);
      }
    }
    const found = await Promise.all(scenarios.map((scenario) => sweep(scenario, () => new Forgetful())));
    expect(found.flat()).not.toEqual([]);
  });

  test('goes on with the held revision that a cancelled run left to it', async () => {
    const scenario = scenarios.find(({ holds }) => holds);
    if (!scenario) throw new Error('no scenario holds its revision');
    const { fixture, agentAt } = await prepare(scenario);
    const journal = new JournalInMemory();
    fixture.clock.after(12_000, () => fixture.cancelled.abort(new Error('cancelled')));
    const run = { ...scenario.request, agentAt, journal };
    expect(await fixture.deploy(run)).toMatchObject({ kind: 'interrupted', revisionId: 'r2' });
    expect(writes(fixture.control)).toEqual(['patch']);
    const resumed = await fixture.deploy({ ...run, kept: journal.kept, signal: undefined });
    expect(resumed).toMatchObject(scenario.expected);
    expect(writes(fixture.control)).toEqual(['patch', 'promote']);
  });
});
