import type { PreviewReport } from '../machine/outcome-types.ts';
import { asCode } from './sanitize.ts';

/** What is said of how long a preview stays, as an item of a list. */
export const expiryLines = (preview: PreviewReport | undefined): string[] =>
  preview?.expiresAt === undefined || preview.pullRequest === undefined
    ? []
    : [`- Preview of pull request ${preview.pullRequest}: removed when it closes, or on ${asCode(preview.expiresAt)}`];
