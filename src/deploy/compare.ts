import type { Clock } from '../clock.ts';
import type { SmokeTest } from '../config/smoke-test.ts';
import type { AgentServer } from '../contract/agent/service.ts';
import { compareAll, defaultLooks, isDecided, pairOf, type Measured, type Pair } from '../planning/compare.ts';
import { pairsNeeded } from '../planning/pairs-needed.ts';
import type { Evidence } from '../planning/verdict-types.ts';
import { sendTestRequest } from './send-test-request.ts';

/** The two agents, the tests that both are sent, and the dependencies of a comparison. */
export interface Comparing {
  tests: readonly SmokeTest[];
  live: AgentServer;
  changed: AgentServer;
  /** The most pairs of requests of one test. */
  tries: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
  emit?: ((event: CompareEvent) => void) | undefined;
  note?: ((text: string) => void) | undefined;
}

/** What happens during a comparison. */
export type CompareEvent =
  { kind: 'compared-pairs'; name: string; pairs: number } | { kind: 'compared'; comparison: Comparison };

/** One test's comparison. */
export interface ComparedTest {
  name: string;
  /** The pairs that both answered, and those of which one is missing. */
  pairs: number;
  right: { live: number; changed: number };
  unreachable: number;
  measures: readonly Measured[];
  /** How long the answers of the pairs took, in ms. */
  times: { live: readonly number[]; changed: readonly number[] };
  /** How many pairs would decide what is undecided; undefined where that is not to be expected. */
  needed?: number | undefined;
}

/** All tests: worse where one measure is, else no worse where every measured one is, else undecided. */
export interface Comparison {
  kind: 'worse' | 'no-worse' | 'undecided';
  tests: readonly ComparedTest[];
}

/** Pairs of requests that are under way at once. */
const atOnce = 4;
/** After so many pairs in a row with one unreachable agent the test ends. */
const mostUnreachable = 8;

interface Asked {
  pairs: Pair[];
  unreachable: number;
}

/** Sends every test to both agents and compares their answers. Rejects only when the signal aborts. */
export async function compare(comparing: Comparing): Promise<Comparison> {
  const { tests, tries, emit } = comparing;
  const looks = [...defaultLooks.filter((look) => look < tries), tries];
  const asked: Asked[] = [];
  for (const test of tests) asked.push(await ask(test, comparing, looks));
  const all = compareAll(
    asked.map(({ pairs }) => pairs),
    looks.length,
  );
  const compared = tests.map(({ name }, index): ComparedTest => {
    const { pairs = [], unreachable = 0 } = asked[index] ?? {};
    const right = {
      live: pairs.filter(({ live }) => live.answer === 'right').length,
      changed: pairs.filter(({ changed }) => changed.answer === 'right').length,
    };
    const measured = all[index] ?? [];
    const isOpen = measured.some(({ verdict }) => verdict === 'undecided');
    return {
      name,
      pairs: pairs.length,
      right,
      unreachable,
      measures: measured,
      times: {
        live: pairs.map(({ live }) => live.totalMs),
        changed: pairs.map(({ changed }) => changed.totalMs),
      },
      needed: isOpen ? pairsNeeded(pairs, { looks: looks.length, tests: tests.length }) : undefined,
    };
  });
  const comparison: Comparison = { kind: kindOf(compared), tests: compared };
  emit?.({ kind: 'compared', comparison });
  return comparison;
}

function kindOf(tests: readonly ComparedTest[]): Comparison['kind'] {
  const verdicts = new Set(tests.flatMap(({ measures }) => measures.map(({ verdict }) => verdict)));
  if (verdicts.has('worse')) return 'worse';
  const isEveryAnswered = tests.length > 0 && tests.every(({ pairs }) => pairs > 0);
  return verdicts.has('undecided') || !isEveryAnswered ? 'undecided' : 'no-worse';
}

async function ask(test: SmokeTest, comparing: Comparing, looks: readonly number[]): Promise<Asked> {
  const { tests, emit } = comparing;
  const pairs: Pair[] = [];
  let unreachable = 0;
  let inARow = 0;
  // A cold start is that of one agent: what it answers first is compared with nothing.
  await sendPair(test, comparing, 0);
  for (const look of looks) {
    while (pairs.length < look) {
      const from = pairs.length + unreachable;
      const sent = Array.from({ length: Math.min(atOnce, look - pairs.length) }, (_, index) =>
        sendPair(test, comparing, from + index),
      );
      await Promise.allSettled(sent);
      for (const [live, changed] of await Promise.all(sent)) {
        const pair = pairOf(test, live, changed);
        if (pair) pairs.push(pair);
        else unreachable += 1;
        inARow = pair ? 0 : inARow + 1;
      }
      emit?.({ kind: 'compared-pairs', name: test.name, pairs: pairs.length });
      if (inARow >= mostUnreachable || unreachable > (looks.at(-1) ?? 0)) return { pairs, unreachable };
    }
    if (isDecided(pairs, { looks: looks.length, tests: tests.length })) break;
  }
  return { pairs, unreachable };
}

/** One request to each, one after the other: every second pair begins with the new agent. */
async function sendPair(test: SmokeTest, comparing: Comparing, index: number): Promise<[Evidence, Evidence]> {
  const { clock, signal, note } = comparing;
  const send = (agent: AgentServer) =>
    sendTestRequest(test, {
      agent,
      clock,
      signal,
      left: (what) => note?.(`smoke test ${test.name} could not remove ${what}`),
    });
  if (index % 2 === 0) {
    const live = await send(comparing.live);
    return [live, await send(comparing.changed)];
  }
  const changed = await send(comparing.changed);
  return [await send(comparing.live), changed];
}
