import type { SmokeTest } from '../file/smoke-test.ts';
import type { Command } from './definitions.ts';
import type { CommandRefusal } from './outcomes.ts';

/** The most tests of one command: what is deployed meanwhile waits for them. */
const maxTests = 60;

/** The tests that a command sends to the live revision, each so often as it says; or why there are none. */
export function testsOfCommand(
  tests: readonly SmokeTest[],
  { times = 1 }: Pick<Command, 'times'>,
  deployment: string,
): { ok: true; smokeTests: SmokeTest[] } | { ok: false; refusal: CommandRefusal } {
  const smokeTests = repeated(tests.filter(isOfItself), times);
  if (smokeTests.length === 0) return { ok: false, refusal: { code: 'no-tests', deployment } };
  if (smokeTests.length > maxTests)
    return { ok: false, refusal: { code: 'too-many-tests', tests: smokeTests.length, most: maxTests } };
  return { ok: true, smokeTests };
}

/** A test that compares with the live revision has nothing to compare that one with. */
const isOfItself = ({ series }: SmokeTest): boolean => series?.kind !== 'live';

/** Each test so many times, with names of their own. */
const repeated = (tests: readonly SmokeTest[], times: number): SmokeTest[] =>
  Array.from({ length: times }, (_, nth) => nth + 1).flatMap((nth) =>
    tests.map((test) => (times === 1 ? test : { ...test, name: `${test.name} (${nth} of ${times})` })),
  );
