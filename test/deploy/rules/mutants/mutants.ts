/** A mistake in a source, and the test that finds it. */
export interface Mutant {
  name: string;
  file: string;
  /** Text that the file has once, and what replaces it. */
  from: string;
  to: string;
  /** The file of tests that runs, and the one of them that fails. */
  test: string;
  killedBy: string;
}

const sequential = {
  file: 'src/kit/statistics/sequential-test.ts',
  test: 'test/kit/statistics/sequential-test.test.ts',
};
const againstLive = { file: 'src/deploy/rules/against-live.ts', test: 'test/deploy/rules/compare.test.ts' };

const ownAnswers = {
  test: 'test/deploy/machine/before-traffic.test.ts',
  killedBy:
    'a test against the live revision > compares each test with its own answers of the live revision, measured before the change or kept',
};

export const mutants: readonly Mutant[] = [
  {
    ...sequential,
    name: 'the boundaries are swapped',
    from: "if (wrong >= fails) return 'failed';\n  if (wrong <= passes) return 'passed';",
    to: "if (wrong >= fails) return 'passed';\n  if (wrong <= passes) return 'failed';",
    killedBy: 'fails after 5 wrong answers',
  },
  {
    ...sequential,
    name: 'a boundary is reached one answer early',
    from: "if (wrong >= fails) return 'failed'",
    to: "if (wrong + 1 >= fails) return 'failed'",
    killedBy: 'goes on after 4',
  },
  {
    ...sequential,
    name: 'each test has the errors of a whole suite',
    from: 'falseFailed.suite / tests',
    to: 'falseFailed.suite',
    killedBy: 'keeps its errors for a pass rate of 0.8 and a drop of 0.3, as one of 30',
  },
  {
    name: 'each test against live has the errors of a whole suite',
    file: 'src/deploy/rules/compare.ts',
    test: 'test/deploy/rules/compare.test.ts',
    from: 'falseAlarm.suite / (tests * deciding.size)',
    to: 'falseAlarm.suite / deciding.size',
    killedBy: 'the more tests there are, the stricter each is',
  },
  {
    name: 'each test counts as the only one of its suite',
    file: 'src/deploy/file/written-series.ts',
    test: 'test/deploy/file/smoke-test.test.ts',
    from: 'designSeries(test, sharing, search)',
    to: 'designSeries(test, 1, search)',
    killedBy: 'tests with a pass rate and tests against the live revision share the errors of one suite',
  },
  {
    name: 'an unreachable answer counts as a wrong one',
    file: 'src/deploy/rules/judge.ts',
    test: 'test/deploy/rules/series.test.ts',
    from: 'if (!test.series || !isAgentsFault(evidence)) return [];',
    to: 'if (!test.series) return [];',
    killedBy: 'a pass rate > counts what could not be reached on neither side',
  },
  {
    ...againstLive,
    name: 'an unreachable answer is compared as a wrong one',
    from: 'sample: sampleOf(test, evidence),',
    to: "sample: sampleOf(test, evidence) ?? { answer: 'wrong' as const, firstEventMs: 0, totalMs: 0 },",
    killedBy:
      'a test against the live revision > fails where the new agent falls silent while the live one answers, and not the reverse',
  },
  {
    name: 'failures of the provider are not missing',
    file: 'src/deploy/rules/series.ts',
    test: 'test/deploy/rules/series.test.ts',
    from: "each.kind === 'unreachable' && !isAgentsFault(each)",
    to: "each.kind === 'unreachable' && !isAgentsFault(each) && each.fault !== 'provider'",
    killedBy: 'a pass rate > is unproven where the provider fails more often than its drop allows',
  },
  {
    name: 'failures of the provider are not missing beside the live agent',
    file: 'src/deploy/rules/against-live.ts',
    test: 'test/deploy/rules/missing-answers.test.ts',
    from: 'const requests = countsOf(warm)',
    to: 'const requests = countsOf(warm.filter(({ isBlamable }) => isBlamable))',
    killedBy: 'against live, an agent that alone meets a provider that is busy',
  },
  {
    name: 'an agent is blamed for its provider',
    file: 'src/deploy/rules/against-live.ts',
    test: 'test/deploy/rules/missing-answers.test.ts',
    from: 'countsOf(warm.filter(({ isBlamable }) => isBlamable))',
    to: 'countsOf(warm)',
    killedBy: 'against live, an agent that alone meets a provider that is busy',
  },
  {
    name: 'an agent without an answer is promoted where its provider failed',
    file: 'src/deploy/rules/hold-state.ts',
    test: 'test/deploy/rules/verification.test.ts',
    from: "  'provider',\n",
    to: '',
    killedBy: 'decides about a held revision: one that gave no answer (provider), whatever promotes',
  },
  {
    name: 'kept answers are found by the assistant alone',
    file: 'src/deploy/smoke/kept-baselines.ts',
    test: 'test/deploy/smoke/kept-baselines.test.ts',
    from: 'canonicalJson(sentAndExpected)',
    to: 'canonicalJson(sentAndExpected.assistant)',
    killedBy: 'what another test measured is not used: another input',
  },
  {
    ...ownAnswers,
    name: 'answers before the change are those of the first test',
    file: 'src/deploy/smoke/smoke.ts',
    from: 'smoking.before?.get(name)',
    to: 'smoking.before?.values().next().value',
  },
  {
    ...ownAnswers,
    name: 'kept answers are those of the first test',
    file: 'src/deploy/machine/measure-live.ts',
    from: 'kept.get(test)?.samples ?? []',
    to: '[...kept.values()][0]?.samples ?? []',
  },
  {
    ...againstLive,
    name: 'the live agent is always first',
    from: "Math.floor(attempt / 2) % 2 === attempt % 2 ? 'live' : 'new'",
    to: "attempt % 2 === 0 ? 'live' : 'new'",
    killedBy:
      'a test against the live revision > alternates which agent is first, and begins with a pair that counts for neither',
  },
  {
    name: 'the agents do not answer in turns',
    file: 'src/deploy/rules/against-live.ts',
    test: 'test/deploy/smoke/compare.test.ts',
    from: "Math.floor(attempt / 2) % 2 === attempt % 2 ? 'live' : 'new'",
    to: "attempt % 2 === 0 ? 'live' : 'new'",
    killedBy: 'sends to both in turns: neither is always the first',
  },
  {
    name: 'pairs are compared as two lists',
    file: 'src/deploy/rules/compare.ts',
    test: 'test/deploy/rules/compare.test.ts',
    from: '= samples.isPaired\n    ? pairedAmounts',
    to: '= false\n    ? pairedAmounts',
    killedBy: 'two agents > a slower one is found, whatever the hour does to both',
  },
];
