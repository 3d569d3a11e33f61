import * as z from 'zod';
import { pageQuery } from './pages.ts';
import { sourceRevisionConfig } from './source.ts';

/** The header of a change that requests a hold of the new revision: a whole number of seconds. */
export const holdHeader = 'Landfall-Hold';

/** The header of a change whose revision is built from this commit, whatever the ref's head is by then: its full SHA. */
export const commitHeader = 'Landfall-Commit';

/** The header of a change that deploys the build of another deployment's revision: the id of that revision. */
export const buildOfHeader = 'Landfall-Build-Of';

/** The maximum and default duration of a hold, in seconds. */
export const maxHoldSeconds = 86_400;

export const holdDecisions = ['promoted', 'discarded'] as const;
export type HoldDecision = (typeof holdDecisions)[number];

/** The hold of a revision, which is started and healthy without traffic. An addition of ours. */
export const hold = z.looseObject({
  /** The revision's own address while it is held. */
  address: z.string(),
  /** When it is discarded unless promoted; null before it is healthy. */
  ends_at: z.string().nullable(),
  decision: z.enum(holdDecisions).nullable(),
});

/** The body of a decision. */
export const holdDecisionRequest = z.object({
  /** The reason, for the status and the log of the revision. */
  why: z.string().max(1_000).nullish(),
});
export type HoldDecisionRequest = z.input<typeof holdDecisionRequest>;

/** A revision in a response: `DEPLOYED` marks a finished rollout. It has no deployment id. */
export const revision = z.looseObject({
  id: z.string(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  /** One of `revisionStatusClasses`, or a newer value. */
  status: z.string(),
  source: z.string().optional(),
  source_revision_config: sourceRevisionConfig.default({}),
  status_message: z.string().nullish(),
  /** Warnings of its build, as sentences. An addition of this project's service. */
  build_warnings: z.array(z.string()).optional(),
  /** The revision of another deployment whose build was copied, instead of a build. An addition of ours. */
  build_of: z.string().optional(),
  /** `sha256:` and the hex digest of the content of its build; present once that was copied. An addition of ours. */
  build_digest: z.string().optional(),
  /** Only if a hold was requested. */
  hold: hold.optional(),
});
export type Revision = z.infer<typeof revision>;

export const revisionsList = z.looseObject({ resources: z.array(revision), offset: z.int() });
export type RevisionsList = z.infer<typeof revisionsList>;

export const revisionsQuery = pageQuery.extend({
  /** Statuses, separated by commas. */
  status: z.string().optional(),
  /** Whether a listener deploys them, or the service itself. */
  remote_reconciled: z.boolean().optional(),
});
export type RevisionsQuery = z.infer<typeof revisionsQuery>;

/** A package that a revision was built with. */
export const revisionPackage = z.looseObject({
  name: z.string(),
  /** Null if it was installed from an address. */
  version: z.string().nullable(),
  /** The address it was installed from, without credentials; null if it is from the index. */
  address: z.string().nullable(),
});

/** GET /v2/deployments/{id}/revisions/{revision_id}/packages: an addition of this project's service. */
export const revisionPackages = z.looseObject({
  /**
   * The version of the interpreter: `3.11.2`. Null without a graph in Python, before the build, and for older builds.
   */
  python: z.string().nullable(),
  /** The installed Python packages, sorted; empty without a graph in Python. */
  packages: z.array(revisionPackage),
});
export type RevisionPackages = z.infer<typeof revisionPackages>;
