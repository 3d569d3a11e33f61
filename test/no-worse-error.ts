import { excludesDrop } from '../src/kit/statistics/comparison-statistics.ts';

/** The probability of each number of right answers among so many. */
function binomial(of: number, rate: number): number[] {
  let chances = [1];
  for (let answers = 1; answers <= of; answers += 1) {
    chances = Array.from(
      { length: answers + 1 },
      (_, right) => (chances[right] ?? 0) * (1 - rate) + (chances[right - 1] ?? 0) * rate,
    );
  }
  return chances;
}

/** Adds so many answers to each row of a table of counts. */
function added(rows: readonly (readonly number[])[], chances: readonly number[]): number[][] {
  return rows.map((row) => {
    const next = Array.from({ length: row.length + chances.length - 1 }, () => 0);
    for (const [count, chance] of row.entries()) {
      if (chance > 0)
        for (const [more, each] of chances.entries()) next[count + more] = (next[count + more] ?? 0) + chance * each;
    }
    return next;
  });
}

const transposed = (rows: readonly (readonly number[])[]): number[][] =>
  (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? 0));

/**
 * How often an agent whose pass rate is lower by exactly `drop` is called no worse after one of these numbers of answers
 * of each agent: computed exactly, with the right answers of both counted at each look.
 */
function noWorseError(looks: readonly number[], liveRate: number, drop: number): number {
  let [table, answers, error] = [[[1]], 0, 0];
  for (const look of looks) {
    const more = look - answers;
    const withChanged = added(table, binomial(more, liveRate - drop));
    table = transposed(added(transposed(withChanged), binomial(more, liveRate)));
    answers = look;
    for (const [live, row] of table.entries()) {
      for (const [changed, chance] of row.entries()) {
        if (chance === 0 || !excludesDrop({ live, liveOf: look, changed, changedOf: look }, drop, looks.length))
          continue;
        error += chance;
        row[changed] = 0;
      }
    }
  }
  return error;
}

/** The largest error, over all pass rates of the live agent in hundredths. */
export const worstNoWorseError = (looks: readonly number[], drop: number): number =>
  Math.max(
    ...Array.from({ length: 101 }, (_, points) => points / 100)
      .filter((rate) => rate >= drop)
      .map((rate) => noWorseError(looks, rate, drop)),
  );
