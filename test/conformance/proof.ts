/** Pure: what the tests of a run prove of the claims, and where the list says more than they do. */
import { SIDES, sidesOf } from './claims.ts';
import type { Claim, Side } from './claims.ts';

/** A test that ran: the titles of its describes, then its own; the claims that it proves; and how it ended. */
export interface RanTest {
  readonly path: readonly string[];
  readonly claims: readonly string[];
  readonly state: 'passed' | 'failed' | 'skipped';
}

/** What one run says about the list. Every problem is a sentence that names a claim's id. */
export interface Proof {
  readonly problems: readonly string[];
  /** Ids of the claims with a passing and no failing test on each of their sides. */
  readonly proven: ReadonlySet<string>;
  /** Ids that passing tests carry, but not on every side yet, with the sides that are missing. */
  readonly partly: ReadonlyMap<string, readonly Side[]>;
}

/** The sides a test stands on: a describe around it, or a part of its title between commas or colons, is the side's name. */
export function sidesIn(path: readonly string[]): Side[] {
  // The test's own title is left out: "keeps the build in process" is a sentence, not a side.
  const parts = path.slice(0, -1).flatMap((title) => title.split(/[,:;()|–—]/).map((part) => part.trim()));
  return SIDES.filter((side) => parts.includes(side));
}

/** Holds the claims to the tests of a whole run. */
export function judgeClaims(claims: readonly Claim[], tests: readonly RanTest[]): Proof {
  const known = new Set(claims.map(({ id }) => id));
  const problems: string[] = [];
  const passed = new Set<string>();
  const failed = new Set<string>();
  const carried = new Set<string>();
  for (const test of tests) {
    for (const id of test.claims) {
      if (!known.has(id)) problems.push(`${id} is no claim of the list, but a test names it: ${test.path.join(' > ')}`);
      if (test.state === 'passed') carried.add(id);
      for (const side of sidesIn(test.path)) {
        if (test.state === 'passed') passed.add(`${id} ${side}`);
        if (test.state === 'failed') failed.add(`${id} ${side}`);
      }
    }
  }

  const proven = new Set<string>();
  const partly = new Map<string, readonly Side[]>();
  for (const claim of claims) {
    const missing = sidesOf(claim).filter((side) => {
      const key = `${claim.id} ${side}`;
      return !passed.has(key) || failed.has(key);
    });
    if (missing.length === 0) proven.add(claim.id);
    else if (carried.has(claim.id)) partly.set(claim.id, missing);
    if (claim.state === 'done') {
      for (const side of missing) {
        const fails = failed.has(`${claim.id} ${side}`);
        problems.push(
          `${claim.id} is marked done, but ${fails ? 'a test of it fails' : 'has no passing test'} ${side}`,
        );
      }
    }
  }
  return { problems: [...new Set(problems)], proven, partly };
}

/** The claims with their state as proven: done exactly where the run proves it. */
export function markClaims(claims: readonly Claim[], proven: ReadonlySet<string>): Claim[] {
  return claims.map((claim) => ({ ...claim, state: proven.has(claim.id) ? 'done' : 'open' }));
}

/** The line that ends a run: how many claims are done, of all and of the first part. */
export function tally(claims: readonly Claim[]): string {
  const first = claims.filter(({ scope }) => scope === 'first');
  const done = (some: readonly Claim[]) => some.filter(({ state }) => state === 'done').length;
  return `claims: ${done(claims)} done / ${claims.length} all (first part: ${done(first)} / ${first.length})`;
}

/** Why a run is not the whole suite, or undefined when it is: only a whole run can say what is not proven. */
export function whyPartial(run: {
  /** A filter by name, tag or line was given. */
  readonly filtered: boolean;
  readonly interrupted: boolean;
  /** Test files that exist and that ran, in one spelling. */
  readonly existing: readonly string[];
  readonly ran: readonly string[];
}): string | undefined {
  if (run.interrupted) return 'the run was interrupted';
  if (run.filtered) return 'tests were filtered';
  const ran = new Set(run.ran);
  const left = run.existing.filter((file) => !ran.has(file)).length;
  return left === 0 ? undefined : `${left} of ${run.existing.length} test files did not run`;
}
