import { excludesDrop } from '../src/kit/statistics/comparison-statistics.ts';

/** The probability of each number of right answers among so many. */
function binomial(of: number, rate: number): Float64Array {
  let chances = Float64Array.of(1);
  for (let answers = 1; answers <= of; answers += 1) {
    chances = Float64Array.from(
      { length: answers + 1 },
      (_, right) => (chances[right] ?? 0) * (1 - rate) + (chances[right - 1] ?? 0) * rate,
    );
  }
  return chances;
}

/** Adds so many answers to each row of a table of counts. */
function added(rows: readonly Float64Array[], chances: Float64Array): Float64Array[] {
  return rows.map((row) => {
    const next = new Float64Array(row.length + chances.length - 1);
    for (let count = 0; count < row.length; count += 1) {
      const chance = row[count] ?? 0;
      if (chance === 0) continue;
      // Indices are twice as fast as entries here, where most of the time goes.
      for (let more = 0; more < chances.length; more += 1)
        next[count + more] = (next[count + more] ?? 0) + chance * (chances[more] ?? 0);
    }
    return next;
  });
}

const transposed = (rows: readonly Float64Array[]): Float64Array[] =>
  Array.from(rows[0] ?? [], (_, column) => Float64Array.from(rows, (row) => row[column] ?? 0));

/**
 * How often an agent whose pass rate is lower by exactly `drop` is called no worse after one of these numbers of answers
 * of each agent: computed exactly, with the right answers of both counted at each look.
 */
function noWorseError(looks: readonly number[], liveRate: number, drop: number): number {
  let table: readonly Float64Array[] = [Float64Array.of(1)];
  let [answers, error] = [0, 0];
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
