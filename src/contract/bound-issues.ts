import type * as z from 'zod';

const place = ({ path }: z.core.$ZodIssue): string => JSON.stringify(path.map(String));

/**
 * Of several bounds that one value is beyond, keeps only the last, the field's own: an integer from 2^53 on is beyond
 * what JSON holds exactly, too, and one mistake is told once.
 */
export const withoutLooserBounds = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] =>
  issues.filter((issue, index) => {
    const next = issues[index + 1];
    const isBound = issue.code === 'too_big' || issue.code === 'too_small';
    return !(isBound && next?.code === issue.code && place(next) === place(issue));
  });
