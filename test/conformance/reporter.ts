/** A vitest reporter: ends a whole run with the tally of the claims, and fails it where the list says more than the tests. */
import { globSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSpecification, Vitest } from 'vitest/node';
import { claimsPath, readClaims } from './claims.ts';
import { judgeClaims, tally, whyPartial } from './proof.ts';
import type { RanTest } from './proof.ts';
import { runRecordPath, writeRunRecord } from './run-record.ts';

/** Where the list lies and where the record goes, for a suite other than the project's own. */
export interface ClaimsReporterOptions {
  readonly claims?: string;
  readonly record?: string;
}

/** Judges the claims at the end of every run; see `proof.ts` for the judgement. */
export default class ClaimsReporter implements Reporter {
  readonly #claims: string;
  readonly #record: string;
  #vitest: Vitest | undefined;
  #specifications: readonly TestSpecification[] = [];

  constructor(options: ClaimsReporterOptions = {}) {
    this.#claims = options.claims ?? fileURLToPath(claimsPath);
    this.#record = options.record ?? fileURLToPath(runRecordPath);
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#specifications = specifications;
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: readonly unknown[], reason: TestRunEndReason): void {
    const vitest = this.#vitest;
    if (vitest === undefined) return;
    const { claims } = readClaims(this.#claims);
    const tests = modules.flatMap((module) => [...module.children.allTests()].map(ranTest));
    const partial = whyPartial({
      filtered: this.#isFiltered(vitest),
      interrupted: reason === 'interrupted',
      existing: testFiles(vitest.config.root),
      ran: modules.map((module) => inside(vitest.config.root, module.moduleId)),
    });
    const { problems, proven } = judgeClaims(claims, tests);
    if (partial !== undefined) {
      vitest.logger.log(
        `claims: partial run (${partial}), ${proven.size} of ${claims.length} proven by it; nothing judged`,
      );
      return;
    }
    writeRunRecord(
      new Date(),
      tests.filter(({ claims }) => claims.length > 0),
      this.#record,
    );
    vitest.logger.log(tally(claims));
    if (problems.length > 0) {
      vitest.logger.error(`claims: ${problems.length} untrue\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
      process.exitCode = 1;
    }
  }

  #isFiltered({ config }: Vitest): boolean {
    const given = (list: readonly unknown[] | undefined) => list !== undefined && list.length > 0;
    return (
      config.testNamePattern !== undefined ||
      given(config.tagsFilter) ||
      this.#specifications.some((s) => given(s.testLines) || given(s.testIds) || given(s.testNames))
    );
  }
}

function ranTest(test: TestCase): RanTest {
  const path = [test.name];
  let parent = test.parent;
  while (parent.type === 'suite') {
    path.unshift(parent.name);
    parent = parent.parent;
  }
  const { state } = test.result();
  // A test that passes because it fails as expected proves nothing of its title.
  const passedByFailing = test.options.fails === true && state === 'passed';
  const { claims = [] } = test.meta();
  return { path, claims, state: state === 'pending' || passedByFailing ? 'skipped' : state };
}

/** Every test file of the suite, also those that a filter, a shard or another folder kept out of this run. */
function testFiles(root: string): string[] {
  return globSync('test/**/*.test.ts', { cwd: root, exclude: (name) => name === 'node_modules' }).map(slashed);
}

function inside(root: string, file: string): string {
  return slashed(relative(root, file));
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}
