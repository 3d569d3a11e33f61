/** The label of a vertical line: where the line is, and how wide its text is. */
interface LineLabel {
  x: number;
  width: number;
}

/** The most labels below each other: more would cover the plot. */
const rows = 2;

/**
 * Places labels beside their lines, each in the first row where none is in its way; at the right edge to the left of
 * its line. One without a place is left out.
 */
export function placeLabels<Label extends LineLabel>(
  labels: readonly Label[],
  { right, gap }: { right: number; gap: number },
): (Label & { start: number; row: number })[] {
  const ends = Array.from({ length: rows }, () => -Infinity);
  return labels
    .toSorted((one, other) => one.x - other.x)
    .flatMap((label) => {
      const { x, width } = label;
      const start = x + gap + width > right ? x - gap - width : x + gap;
      const row = ends.findIndex((end) => end + gap <= start);
      if (row === -1) return [];
      ends[row] = start + width;
      return [{ ...label, start, row }];
    });
}
