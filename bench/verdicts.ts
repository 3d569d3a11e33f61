// How often a smoke test with a pass rate decides rightly, computed exactly, and simulated with agents of a known pass
// rate by the code that decides in deploys: the two must agree. The peer is the best test of 40 tries.
import type { SmokeTest } from '../src/deploy/file/smoke-test.ts';
import { attemptsAtOnce } from '../src/deploy/rules/series.ts';
import type { Evidence, TestVerdict } from '../src/deploy/rules/verdict-types.ts';
import { concludeTest, nextAttempt } from '../src/deploy/rules/verdict.ts';
import { exactRates } from '../src/kit/statistics/sequential-test.ts';
import { randomFrom } from '../test/random-from.ts';
import type { Measured, Target } from './figure.ts';
import { sized } from './rounds.ts';
import { fixedFails, fixedTest, fixedTries, testOf, usual } from './verdict-table.ts';

const deploys = sized(100_000, 200);

/** What agents of this true pass rate are told; `deviation` is that of the number of answers. */
interface Simulated {
  passed: number;
  failed: number;
  meanAnswers: number;
  deviation: number;
}

function simulate(test: SmokeTest, trueRate: number): Simulated {
  const random = randomFrom(1);
  const ends = { passed: 0, failed: 0, unproven: 0 };
  let [sum, squares] = [0, 0];
  for (let deploy = 0; deploy < deploys; deploy += 1) {
    const { kind, rate } = ask(test, () => random() < trueRate);
    ends[kind] += 1;
    sum += rate?.answers ?? 0;
    squares += (rate?.answers ?? 0) ** 2;
  }
  const meanAnswers = sum / deploys;
  return {
    passed: ends.passed / deploys,
    failed: ends.failed / deploys,
    meanAnswers,
    deviation: Math.sqrt(squares / deploys - meanAnswers ** 2),
  };
}

function ask(test: SmokeTest, isRight: () => boolean): TestVerdict {
  const attempts: Evidence[] = [];
  while (nextAttempt(test, attempts) === 'again') {
    for (let left = attemptsAtOnce(test, attempts); left > 0; left -= 1) {
      attempts.push({ kind: 'judged', answer: isRight() ? 'right' : 'wrong', firstEventMs: 1, totalMs: 1 });
    }
  }
  return concludeTest(test, attempts);
}

/** Shares of deploys in percent, and tries. */
export async function verdicts(): Promise<Measured[]> {
  const { passRate, dropped, nearby: rateNearby } = usual;
  const hypotheses = { passRate, drop: passRate - dropped, tests: 1 };
  const boundaries = testOf(hypotheses.drop);
  const test: SmokeTest = {
    name: 'simulated',
    assistant: 'agent',
    thread: false,
    input: {},
    streamModes: ['values'],
    expect: [],
    attempts: 3,
    timeoutMs: 1_000,
    series: { kind: 'rate', ...hypotheses, boundaries, atOnce: 4 },
  };
  const fixed = fixedTest(boundaries);
  const peer = {
    same: fixedFails(fixed, passRate),
    nearby: fixedFails(fixed, rateNearby),
    found: fixedFails(fixed, dropped),
  };
  const at = (rate: number) => ({ exact: exactRates(boundaries, rate), simulated: simulate(test, rate) });
  const [same, lower, nearby] = [at(passRate), at(dropped), at(rateNearby)];
  const share = (name: string, of: ReturnType<typeof at>, kind: 'passed' | 'failed', peer: number, target: Target) => {
    const [exact, simulated] = [of.exact[kind], of.simulated[kind]];
    expectNear(name, simulated, exact, Math.sqrt((exact * (1 - exact)) / deploys));
    return figure(name, '% of deploys', { ours: exact * 100, simulated: simulated * 100, peer: peer * 100 }, target);
  };
  const answers = (name: string, of: ReturnType<typeof at>) => {
    const { meanAnswers, deviation } = of.simulated;
    expectNear(name, meanAnswers, of.exact.meanTries, deviation / Math.sqrt(deploys));
    const values = { ours: of.exact.meanTries, simulated: meanAnswers, peer: fixedTries };
    return figure(name, 'answers', values, { of: 'ours', most: 25 });
  };
  const figure = (
    name: string,
    unit: string,
    { ours, simulated, peer }: { ours: number; simulated: number; peer: number },
    target: Target,
  ): Measured => ({
    figure: `verdict-${name}`,
    unit,
    ours,
    peer,
    notes: {
      ours: `exactly, with at most ${boundaries.maxTries} tries; ${Number(simulated.toPrecision(3))} in ${deploys.toLocaleString('en')} simulated deploys`,
      peer: `the best test of ${fixedTries} tries, exactly`,
    },
    targets: [target],
  });
  return [
    share('false-failed', same, 'failed', peer.same, { of: 'ours', most: 0.1 }),
    share('false-failed-nearby', nearby, 'failed', peer.nearby, { of: 'ours', most: 1 }),
    share('found', lower, 'failed', peer.found, { of: 'ours', least: 99 }),
    share('false-passed', lower, 'passed', 1 - peer.found, { of: 'ours', most: 1 }),
    answers('tries-to-find', lower),
    answers('tries-to-pass', same),
  ];
}

/** Fails where the simulation and the computation can't be of the same test. */
function expectNear(name: string, simulated: number, exact: number, standardError: number): void {
  if (Math.abs(simulated - exact) > 5 * standardError) {
    throw new Error(`verdict-${name}: ${simulated} was simulated, and ${exact} computed. One of the two is wrong.`);
  }
}
