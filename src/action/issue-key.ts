import * as core from '@actions/core';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { version } from '../kit/version.ts';
import { messageOf } from '../kit/errors.ts';
import { refusal } from './report-outcome.ts';
import type { WorkflowRun } from './workflow.ts';

const missingKeyOutcome = ({ isDependabot }: WorkflowRun): Outcome =>
  isDependabot
    ? refusal(
        'api-key is empty: a run that Dependabot started gets the Dependabot secrets alone',
        'Add the key to the Dependabot secrets of the repository (Settings, Secrets and variables, Dependabot), under the name that the workflow has for it',
      )
    : refusal(
        'api-key is empty',
        'Give the key of the control service as api-key, from a secret that this workflow and its environment may read, or let the job request tokens: permissions: id-token: write',
      );

/** The options with their key; without one, the token of this run is exchanged, where its job may request one. */
export async function withIssuedKey(
  options: EntryOptions,
  workflowRun: WorkflowRun,
  mask: (secrets: readonly string[]) => void,
): Promise<EntryOptions | Outcome> {
  if (options.apiKey) return options;
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = process.env;
  if (!url || !bearer) return missingKeyOutcome(workflowRun);
  const { exchangeToken, expiryAdvice, expiryProblem, keylessAdvice, noJournalWithoutKey, requestIdToken } =
    await import('../client/exchange-token.ts');
  try {
    const settings = { ...options, userAgent: `landfall-action/${version}` };
    const token = await requestIdToken({ url, bearer }, settings);
    mask([token]);
    const issued = await exchangeToken(token, settings);
    mask([issued.key]);
    const problem = expiryProblem(issued, options);
    if (problem !== undefined) return refusal(problem, expiryAdvice);
    if (options.journalPath !== undefined) core.warning(noJournalWithoutKey);
    // A journal is sealed with the key, and nobody has this one again.
    return { ...options, apiKey: issued.key, journalPath: undefined };
  } catch (error) {
    return refusal(messageOf(error), keylessAdvice(error));
  }
}
