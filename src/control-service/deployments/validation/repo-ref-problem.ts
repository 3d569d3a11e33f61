import type { ReadRepoRef } from '../../../contract/control/repo-ref.ts';

/** The message for an invalid `repo_ref`, with a suggestion. */
export const repoRefProblem = ({ problem, suggestion }: Extract<ReadRepoRef, { ok: false }>): string =>
  `source_revision_config.repo_ref: ${problem}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`;
