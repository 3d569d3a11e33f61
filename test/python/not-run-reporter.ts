/** A vitest reporter: ends a run with the tests that this machine can't run, by the reason why. */
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** A skipped test alone is a number without a name. */
export default class NotRunReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const byReason = Map.groupBy(tests, (test) => test.meta().notRun);
    for (const [reason, notRun] of byReason) {
      if (reason === undefined) continue;
      const names = notRun.map(({ module, fullName }) => `  ${module.relativeModuleId} > ${fullName}`);
      this.#vitest?.logger.log(`not run: ${notRun.length} tests that need Python (${reason})\n${names.join('\n')}`);
    }
  }
}
