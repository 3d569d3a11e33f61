import { expiryAdvice, expiryProblem, exchangeToken, keylessAdvice } from '../client/exchange-token.ts';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import { version } from '../kit/version.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { messageOf } from '../kit/errors.ts';
import { refuseFor, type ExitCode } from './problems.ts';
import type { Terminal } from './terminal.ts';

/** The token that a CI system made for this job. */
const jobToken = (): string | undefined => process.env['LANDFALL_OIDC_TOKEN']?.trim() || undefined;

/** The problem of a command that has neither a key nor a token to exchange for one. */
export const keyProblems = (inputs: Inputs): Problem[] =>
  inputs['api-key']?.trim() || jobToken() !== undefined
    ? []
    : [
        inputProblem(
          'api-key',
          'the key of the control service is missing: set LANDFALL_API_KEY or LANDFALL_OIDC_TOKEN, or log in with landfall login',
        ),
      ];

type Keyless = Pick<EntryOptions, 'apiKey' | 'tenantId' | 'allowHttp' | 'baseUrl'> &
  Partial<Pick<EntryOptions, 'mode' | 'timeoutMs'>>;

/** The key of a command: the one that was given, else one for the token of its job; the exit code where there is none. */
export async function keyOf(
  { apiKey, tenantId, allowHttp, baseUrl, mode = 'plan', timeoutMs = 0 }: Keyless,
  terminal: Terminal,
): Promise<{ apiKey?: string | undefined; isIssued: boolean } | ExitCode> {
  const token = jobToken();
  if (apiKey !== undefined || token === undefined) return { apiKey, isIssued: false };
  terminal.hide(token);
  try {
    const issued = await exchangeToken(token, { baseUrl, tenantId, allowHttp, userAgent: `landfall-cli/${version}` });
    terminal.hide(issued.key);
    const problem = expiryProblem(issued, { mode, timeoutMs });
    return problem === undefined ? { apiKey: issued.key, isIssued: true } : refuseFor(problem, expiryAdvice, terminal);
  } catch (error) {
    return refuseFor(messageOf(error), keylessAdvice(error), terminal);
  }
}
