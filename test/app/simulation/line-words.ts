import * as z from 'zod';
import { GitHubApiError } from '../../../app/github/github-api.ts';
import { ServiceError, type ServiceErrorKind } from '../../../src/contract/service-error.ts';

/** A call of a party's method, as it goes over the line between two processes. */
export const requested = z.object({ party: z.string(), operation: z.string(), given: z.array(z.unknown()) });

const kinds = ['rejected', 'unauthorized', 'missing', 'conflict', 'busy', 'unreachable', 'unreadable'] as const;
const effect = z.enum(['none', 'unknown']);

/** The result of a call. */
export const answered = z.union([
  z.object({
    service: z.object({
      kind: z.enum(kinds satisfies readonly ServiceErrorKind[]),
      operation: z.string(),
      status: z.number().optional(),
      effect,
    }),
  }),
  z.object({ githubApi: z.object({ message: z.string(), status: z.number().optional(), effect }) }),
  z.object({ answer: z.unknown() }),
]);
export type Answered = z.infer<typeof answered>;

/** A failure as it goes over the line. */
export function failed(error: unknown): Answered {
  if (error instanceof ServiceError) {
    const { kind, operation, status, effect: left } = error;
    return { service: { kind, operation, effect: left, ...(status === undefined ? {} : { status }) } };
  }
  if (!(error instanceof GitHubApiError)) return { githubApi: { message: String(error), effect: 'none' } };
  const { message, status, effect: left } = error;
  return { githubApi: { message, effect: left, ...(status === undefined ? {} : { status }) } };
}

/** The answer, or the failure as it was thrown at the other end. */
export function takeAnswer(result: Answered): unknown {
  if ('service' in result) throw new ServiceError({ method: 'GET', address: 'http://model', ...result.service });
  if ('githubApi' in result)
    throw new GitHubApiError(result.githubApi.message, result.githubApi.status, result.githubApi.effect);
  return result.answer;
}
