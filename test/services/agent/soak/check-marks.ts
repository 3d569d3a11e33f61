import type { Row } from './check-runs.ts';

/**
 * Faults in how often nodes started: at most once per attempt, and a further attempt only after a process was gone.
 *
 * @param text a line per start: the node, and the mark of its run.
 */
export function problemsOfMarks(text: string, rows: readonly Row[]): string[] {
  const attempts = new Map<string, number>();
  for (const { mark, attempt } of rows) if (mark !== null) attempts.set(mark, (attempts.get(mark) ?? 0) + attempt);
  const started = Map.groupBy(text.trim().split('\n'), (line) => line);
  return [...started].flatMap(([line, times]) => {
    const most = attempts.get(line.split(' ')[1] ?? '');
    return most !== undefined && times.length > most
      ? [`"${line}" began ${times.length} times in ${most} attempts`]
      : [];
  });
}
