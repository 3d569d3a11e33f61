import * as z from 'zod';
import { storableText } from '../../src/kit/json-text.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { DecisionOf, EventDecision } from './event-types.ts';

// Payloads are untrusted, and some lack newer fields. Only the required fields are validated and bounded; all others
// are ignored.

const id = z.int().positive();
/** Git and GitHub names contain no NUL or lone surrogate, which Postgres' text columns reject. */
const isStorable = (written: string): boolean => storableText(written) === written;
const plainText = z.string().refine(isStorable, 'it holds a character that cannot be stored');
const text = plainText.min(1).max(1_000);
const login = plainText.min(1).max(100);

/** SHA-1 or SHA-256, in full. */
const commitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i, 'it is no commit');

/** Rejects names of dots alone: they would change the path of a URL. */
const fullName = z.string().regex(/^(?!\.{1,2}\/)[\w.-]{1,100}\/(?!\.{1,2}$)[\w.-]{1,100}$/, 'it is no owner/name');
const repository = z.looseObject({ id, full_name: fullName });
const installation = z.looseObject({ id });
const withAction = z.looseObject({ action: text });

/** The fields of every repository event that an installation receives. */
const repositoryEvent = z.looseObject({ repository, installation });

/** The action of an event, where it has one. */
export const actionOf = (payload: unknown): string | undefined => withAction.safeParse(payload).data?.action;

/** Whether an event names the installation of the App that it was delivered to. */
export const hasInstallation = (payload: unknown): boolean =>
  z.looseObject({ installation }).safeParse(payload).success;

/** Builds the repository from the parts of an event. */
export function installationRepositoryOf(
  { id: repositoryId, full_name: fullName }: z.infer<typeof repository>,
  { id: installationId }: z.infer<typeof installation>,
): InstallationRepository {
  const [owner = '', name = ''] = fullName.split('/');
  return { installationId, repositoryId, owner, name };
}

const sender = z.looseObject({ login });
const headBranch = text.nullish();

/**
 * The pull requests of a check: GitHub lists those whose heads are in its repository, also those into any number of
 * forks, so their number is no reason to refuse the event.
 */
const checkPullRequests = z
  .array(
    z.looseObject({
      number: id,
      head: z.looseObject({ sha: commitId, repo: z.looseObject({ id }).nullish() }),
      base: z.looseObject({ ref: text, repo: z.looseObject({ id }).nullish() }),
    }),
  )
  .nullish()
  .transform((named) => named ?? []);
export type CheckPullRequests = z.infer<typeof checkPullRequests>;

export const pushPayload = repositoryEvent.extend({
  // A push without a sender that can be read is a push.
  sender: z.looseObject({ login: text }).optional().catch(undefined),
  ref: text,
  before: commitId,
  after: commitId,
  created: z.boolean().optional(),
  deleted: z.boolean().optional(),
  forced: z.boolean().optional(),
  repository: repository.extend({ fork: z.boolean().optional() }),
});

export const deletePayload = repositoryEvent.extend({ ref: text, ref_type: text });

export const checkRunPayload = repositoryEvent.extend({
  check_run: z.looseObject({
    name: text,
    head_sha: commitId,
    external_id: plainText.max(1_000).nullish(),
    check_suite: z.looseObject({ head_branch: headBranch }).nullish(),
    pull_requests: checkPullRequests,
  }),
  sender,
});

export const requestedAction = z.looseObject({ requested_action: z.looseObject({ identifier: text }) });

export const checkSuitePayload = repositoryEvent.extend({
  check_suite: z.looseObject({
    head_sha: commitId,
    head_branch: headBranch,
    pull_requests: checkPullRequests,
  }),
  sender,
});

export const statusPayload = repositoryEvent.extend({ sha: commitId, context: text });

export const numberedPayload = repositoryEvent.extend({ number: z.int32().positive() });

export const pullRequestPayload = numberedPayload.extend({
  pull_request: z.looseObject({
    head: z.looseObject({ sha: commitId, repo: z.looseObject({ id }).nullish() }),
    base: z.looseObject({ ref: text }),
  }),
  changes: z.looseObject({ base: z.unknown().optional() }).optional(),
});

/** Bodies of comments are other people's; only their first line is read. */
export const issueCommentPayload = repositoryEvent.extend({
  issue: z.looseObject({ number: id, locked: z.boolean().optional(), pull_request: z.unknown().optional() }),
  comment: z.looseObject({
    id,
    body: z.string().nullish(),
    created_at: z.string().max(100).nullish(),
    user: z.looseObject({ login, id, type: text }).nullish(),
    /** An App that acts for a person. */
    performed_via_github_app: z.unknown().optional(),
  }),
  sender: z.looseObject({ login, id }),
});

export const mergeGroupPayload = repositoryEvent.extend({
  merge_group: z.looseObject({ head_sha: commitId, base_ref: text }),
});

export const repositoryPayload = repositoryEvent;

const listed = z.array(repository).max(10_000);
export const installationPayload = z.looseObject({ installation, repositories: listed.optional() });
export const installationRepositoriesPayload = z.looseObject({
  installation,
  repositories_added: listed.default([]),
  repositories_removed: listed.default([]),
});

/** The decision to do nothing. @param why a clause without a full stop. */
export const ignored = (why: string): DecisionOf<'ignore'> => ({ kind: 'ignore', why });

/** Decides on a valid payload; an invalid one is ignored, with its first problem. */
export function decideOnPayload<Schema extends z.ZodType>(
  schema: Schema,
  payload: unknown,
  decide: (read: z.output<Schema>) => EventDecision,
): EventDecision {
  const read = schema.safeParse(payload);
  if (read.success) return decide(read.data);
  const [issue] = read.error.issues;
  const field = issue?.path.map(String).join('.') || 'the payload';
  return ignored(`its payload cannot be read: ${field}: ${issue?.message ?? 'not as documented'}`);
}
