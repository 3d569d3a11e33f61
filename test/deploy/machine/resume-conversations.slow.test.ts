import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/contract/agent/run.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import { randomFrom } from '../../random-from.ts';
import { ThreadServerModel, ThreadsModel, type Ran } from '../smoke/threads-model.ts';
import { hello, second, workflowOn } from './deploy-fixture.ts';
import { Killer, JournalInMemory, prepare, writes } from './killed-run.ts';

const failed: RunResult = { kind: 'error', error: { error: 'TypeError', message: 'no "secret words" here' } };
const waiting = { next: ['review'], values: { messages: [{ type: 'human', content: 'secret words' }] } };
const conversations = { newest: 10, timeoutMs: 60_000 };
const request = { workflow: workflowOn(second), smokeTests: [hello], conversations, onFailure: 'rollback' } as const;

/** A deployment with three conversations, and runs that deploy another commit to it, one after the other. */
async function deploying({ holds, runs }: { holds: boolean; runs: readonly Ran[] }) {
  const { fixture, agentAt } = await prepare({ builds: second, ...(holds && { holds }) });
  const threads = new ThreadsModel();
  const live = new ThreadServerModel(threads, fixture.clock);
  const changed = new ThreadServerModel(threads, fixture.clock);
  for (const each of [live, changed]) each.flags = { thread_copy_metadata: true };
  changed.runs = [...runs];
  for (const id of ['one', 'two']) threads.add(id);
  threads.add('three', waiting);
  const journal = new JournalInMemory();
  /** The server of the threads at an address; without a hold the changed one takes the place of the other. */
  const serverAt = (url: string) => {
    const serving = fixture.control.service.deployment?.active_revision_id;
    return url.startsWith('https://held.test/') || serving !== 'r1' ? changed : live;
  };
  const run = async (killer = new Killer(Infinity, 'before')): Promise<Outcome | 'killed'> => {
    const deployed = fixture.deploy({
      ...request,
      agentAt,
      threadsAt: (url) => killer.wrap(serverAt(url)),
      control: killer.wrap(fixture.control),
      journal: killer.wrap(journal),
      kept: journal.kept,
    });
    return Promise.race([deployed, killer.died]);
  };
  const copiesOf = (thread: string): number => threads.copies.filter((each) => each === thread).length;
  return { fixture, threads, journal, run, copiesOf };
}

type Deploying = Awaited<ReturnType<typeof deploying>>;

/** The conversations that the journal has a turn of, with how many copies of them were made by now. */
function ended({ journal, copiesOf }: Deploying): (readonly [thread: string, turns: number, copies: number])[] {
  const deploy = journal.kept?.deploy;
  const course = deploy && 'conversations' in deploy ? deploy.conversations : undefined;
  return (course?.conversations ?? [])
    .filter(({ turns }) => turns.length > 0)
    .map(({ threadId, turns }) => [threadId, turns.length, copiesOf(threadId)] as const);
}

const left = ({ threads }: Deploying): string[] => [...threads.threads.keys()].filter((id) => id.startsWith('copy-'));

const passes: readonly Ran[] = [{ kind: 'values', values: {} }];

describe('a run that is killed at any act while conversations are tried on its held revision', () => {
  test.each<[string, readonly Ran[], Partial<Outcome>]>([
    ['promotes', passes, { kind: 'deployed', activeRevisionId: 'r2', verified: 'before-traffic' }],
    ['discards', [failed], { kind: 'discarded', activeRevisionId: 'r1' }],
  ])('%s it when it is resumed, and takes no turn again that had ended', async (_, runs, expected) => {
    const whole = await deploying({ holds: true, runs });
    expect(await whole.run()).toMatchObject(expected);
    let hadTurns = 0;
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; ; nth += 1) {
        const all = await deploying({ holds: true, runs });
        const killer = new Killer(nth, when);
        const end = await all.run(killer);
        if (end !== 'killed') break;
        // Its last act was to keep that nothing is left to go on with.
        if (!all.journal.kept && all.journal.text.includes('"deciding"')) continue;
        const before = ended(all);
        hadTurns += before.length;
        expect([nth, await all.run()]).toMatchObject([nth, { ...expected, verdict: { tests: [{}, { attempts: 3 }] } }]);
        expect([nth, writes(all.fixture.control)]).toEqual([nth, writes(whole.fixture.control)]);
        expect([nth, left(all), all.journal.kept]).toEqual([nth, [], undefined]);
        expect(all.journal.text).not.toMatch(/secret words|canary/);
        for (const [thread, turns, copies] of before) {
          const most = whole.copiesOf(thread) - turns;
          expect([nth, thread, all.copiesOf(thread) - copies <= most]).toEqual([nth, thread, true]);
        }
      }
    }
    expect(hadTurns).toBeGreaterThan(10);
  });
});

test('random kills of runs in a row end as if there had been none', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = randomFrom(seed);
    const isBroken = random() < 0.5;
    const all = await deploying({ holds: true, runs: isBroken ? [failed] : passes });
    let end: Outcome | 'killed' = 'killed';
    for (let kills = 0; end === 'killed'; kills += 1) {
      const nth = kills < 3 ? 1 + Math.floor(random() * 60) : Infinity;
      end = await all.run(new Killer(nth, random() < 0.5 ? 'before' : 'after'));
    }
    expect([seed, end]).toMatchObject([seed, { kind: isBroken ? 'discarded' : 'deployed' }]);
    expect([seed, left(all), all.fixture.control.service.revisions.length]).toEqual([seed, [], 2]);
  }
});

test('of a revision that serves, what conversations came to before a kill counts, and the others are forgotten', async () => {
  const whole = await deploying({ holds: false, runs: [failed] });
  expect(await whole.run()).toMatchObject({ kind: 'rolled-back' });
  const seen = new Set<string>();
  const forgotten: (string | undefined)[] = [];
  for (let nth = 1; ; nth += 1) {
    const all = await deploying({ holds: false, runs: [failed] });
    if ((await all.run(new Killer(nth, 'after'))) !== 'killed') break;
    const hadEnded = ended(all).filter(([, turns]) => turns > 1);
    if (hadEnded.length === 0) continue;
    const copies = all.threads.copies.length;
    const outcome = await all.run();
    if (outcome === 'killed') throw new Error('it was killed again');
    seen.add(outcome.kind);
    const note = outcome.notes.find((each) => each.includes('not tried'));
    expect([nth, note?.split(' ')[0]]).toEqual([nth, hadEnded.length === 3 ? undefined : `${3 - hadEnded.length}`]);
    forgotten.push(note);
    expect([nth, all.threads.copies.length]).toEqual([nth, copies]);
  }
  expect([...seen]).toEqual(['rolled-back']);
  expect(new Set(forgotten).size).toBe(3);
});
