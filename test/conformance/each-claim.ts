/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are the caller's */
import { format } from 'node:util';
import { test, type TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** The claims of `claims.json` that the test proves, by id. */
    claims?: readonly string[];
  }
}

/**
 * `test.each` for rows that begin with the ids of the claims which each of them proves: separated by blanks, or an empty
 * text. The title and the test get the elements behind them. Claims of the options are proven by every row.
 */
export function eachClaim<Row extends readonly unknown[]>(
  rows: readonly (readonly [claims: string, ...row: Row])[],
): (title: string, options: TestOptions, run: (...row: Row) => unknown) => void {
  return (title, options, run) => {
    const inTitle = title.match(/%[sdj]/g)?.length ?? 0;
    for (const [ids, ...row] of rows) {
      const claims = [...ids.split(' ').filter((id) => id !== ''), ...(options.meta?.claims ?? [])];
      test(
        format(title, ...row.slice(0, inTitle)),
        { ...options, meta: { claims } },
        async () => void (await run(...row)),
      );
    }
  };
}
