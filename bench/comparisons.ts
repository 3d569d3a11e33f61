// How often a comparison of two agents finds what was changed, and how often it finds a change between equal ones:
// simulated with the code that compares and decides when to end.
import type { TwoCounts } from '../src/kit/statistics/comparison-statistics.ts';
import { measures, type Measure } from '../src/deploy/file/smoke-test.ts';
import { compareSamples, looksOf } from '../src/deploy/rules/compare.ts';
import type { Measured as Compared, Sample } from '../src/deploy/rules/verdict-types.ts';
import { worstNoWorseError } from '../test/no-worse-error.ts';
import { randomFrom } from '../test/random-from.ts';
import type { Measured, Target } from './figure.ts';
import { sized } from './rounds.ts';

/** Tests of one suite, and the suites that are simulated. */
const tests = 3;
const suites = sized(2_000, 20);
const planted = sized(200, 10);

type Change = (sample: Sample, random: () => number) => Partial<Sample>;
/** This share of the requests brings no answer, of both agents; a pair counts if both are answered. */
const lost = 0.1;

/** An agent that is right in 90 %, takes about a second with a long tail, and searches in half of its answers. */
function answer(random: () => number): Sample {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const totalMs = Math.round(1_000 * Math.exp(0.25 * normal));
  const isSearched = random() < 0.5;
  const tokens = Math.round(400 + 200 * random());
  return {
    answer: random() < 0.9 ? 'right' : 'wrong',
    firstEventMs: Math.round(totalMs * (0.2 + 0.2 * random())),
    totalMs,
    nodes: isSearched ? ['ask', 'search', 'say'] : ['ask', 'say'],
    tools: isSearched ? ['search'] : [],
    tokens,
    cost: tokens / 1_000_000,
  };
}

/** How both agents are compared: in pairs, or the answers of one before those of the other. */
type Way = (change: Change, random: () => number) => { measured: Compared[]; pairs: number };

/** A request that is sent to both agents. */
function ask(random: () => number, lostOfChanged: number) {
  const [byLive, byChanged] = [random() >= lost, random() >= lostOfChanged];
  return { live: Number(byLive), liveOf: 1, changed: Number(byChanged), changedOf: 1 };
}

const added = (all: TwoCounts, more: TwoCounts): TwoCounts => ({
  live: all.live + more.live,
  liveOf: all.liveOf + more.liveOf,
  changed: all.changed + more.changed,
  changedOf: all.changedOf + more.changedOf,
});

function simulate(change: Change, seed: number, count: number, compare: Way = inPairs) {
  const random = randomFrom(seed);
  const found = new Map<Measure, number>();
  let [alarms, pairs] = [0, 0];
  for (let suite = 0; suite < count; suite += 1) {
    const all = Array.from({ length: tests }, (_, test) => compare(test === 0 ? change : () => ({}), random));
    const worse = all.flatMap(({ measured }, test) =>
      measured.filter(({ verdict }) => verdict === 'worse').map(({ measure }) => ({ measure, test })),
    );
    if (worse.length > 0) alarms += 1;
    for (const { measure, test } of worse) if (test === 0) found.set(measure, (found.get(measure) ?? 0) + 1);
    pairs += all.reduce((sum, each) => sum + each.pairs, 0) / tests;
  }
  return { alarms: alarms / count, found: (of: Measure) => (found.get(of) ?? 0) / count, pairs: pairs / count };
}

const inPairs: Way = (change, random) => paired(change, random, lost);

function paired(change: Change, random: () => number, lostOfChanged: number): ReturnType<Way> {
  let requests: TwoCounts = { live: 0, liveOf: 0, changed: 0, changedOf: 0 };
  const [live, changed]: [Sample[], Sample[]] = [[], []];
  const design = { tries: 160, drop: 0.3, decideBy: measures, tests };
  for (const look of looksOf(design.tries)) {
    while (live.length < look) {
      const asked = ask(random, lostOfChanged);
      requests = added(requests, asked);
      if (asked.live + asked.changed < 2) continue;
      live.push(answer(random));
      const next = answer(random);
      changed.push({ ...next, ...change(next, random) });
    }
    const measured = compareSamples({ live, changed, requests, isPaired: true }, design);
    if (look === design.tries || measured.every(({ verdict }) => verdict !== 'undecided')) {
      return { measured, pairs: look };
    }
  }
  throw new Error('the last look ends it');
}

function apart(change: Change, random: () => number): ReturnType<Way> {
  const design = { tries: 100, drop: 0.3, decideBy: measures, tests };
  const live = Array.from({ length: design.tries }, () => answer(random));
  const changed: Sample[] = [];
  for (const look of looksOf(design.tries)) {
    while (changed.length < look) {
      const next = answer(random);
      changed.push({ ...next, ...change(next, random) });
    }
    const measured = compareSamples({ live, changed, isPaired: false }, design);
    if (look === design.tries || measured.some(({ verdict }) => verdict === 'worse')) return { measured, pairs: look };
  }
  throw new Error('the last look ends it');
}

/** Shares of suites in percent, and pairs of requests. */
export async function comparisons(): Promise<Measured[]> {
  const same = simulate(() => ({}), 101, suites);
  const sameApart = simulate(() => ({}), 102, suites, apart);
  const figure = (name: string, unit: string, ours: number, count: number, target: Target): Measured => ({
    figure: `comparison-${name}`,
    unit,
    ours,
    notes: { ours: `${count.toLocaleString('en')} simulated suites of ${tests} smoke tests` },
    targets: [target],
  });
  const power = (name: string, measure: Measure, change: Change, seed: number, compare?: Way) =>
    figure(`found-${name}`, '% of suites', simulate(change, seed, planted, compare).found(measure) * 100, planted, {
      of: 'ours',
      least: 95,
    });
  const oftenWrong: Change = (_, random) => ({ answer: random() < 0.6 ? 'right' : 'wrong' });
  const slower: Change = ({ totalMs }) => ({ totalMs: (totalMs ?? 0) + 300 });
  return [
    figure('false-alarm', '% of suites', same.alarms * 100, suites, { of: 'ours', most: 1 }),
    figure('pairs', 'pairs a test', same.pairs, suites, { of: 'ours', most: 160 }),
    figure('false-alarm-apart', '% of suites', sameApart.alarms * 100, suites, { of: 'ours', most: 1 }),
    ...[0.1, 0.3, 0.5].map((drop): Measured => ({
      figure: `comparison-false-no-worse-${drop * 100}`,
      unit: '%',
      ours: worstNoWorseError(looksOf(160), drop) * 100,
      notes: { ours: `computed exactly, at the worst pass rate, for a drop of ${drop * 100} points` },
      targets: [{ of: 'ours', most: 1 }],
    })),
    power('drop', 'pass-rate', oftenWrong, 2),
    power(
      'silent',
      'answered',
      () => ({}),
      10,
      (change, random) => paired(change, random, lost + 0.3),
    ),
    power('slower', 'total', slower, 3),
    power('slower-apart', 'total', slower, 8, apart),
    power('drop-apart', 'pass-rate', oftenWrong, 9, apart),
    power(
      'path',
      'nodes',
      ({ nodes }, random) => (random() < 1 / 3 ? { nodes: ['ask', 'guess', 'say'] } : { nodes }),
      4,
    ),
    power('tools', 'tools', ({ tools }, random) => ({ tools: random() < 1 / 3 ? ['guess'] : tools }), 6),
    power('tokens', 'tokens', ({ tokens = 0 }) => ({ tokens: tokens * 2 }), 5),
    power('cost', 'cost', ({ cost = 0 }) => ({ cost: cost * 2 }), 7),
  ];
}
