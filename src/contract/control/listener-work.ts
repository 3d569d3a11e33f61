import * as z from 'zod';
import { resourceSpecReply } from './resource-spec.ts';
import { secretReferenceReply, secretReply } from './secret.ts';

// The work that a service hands to a listener: an addition of ours, which control-service.md knows nothing of.

/** The longest that a claim waits for work, in seconds. */
export const longestClaimWait = 30;
/** For how long a claim may be held without a word, in seconds. */
export const leaseBounds = { shortest: 2, usual: 60, longest: 600 } as const;
/** The most lines that one report may bring. */
export const mostReportedLines = 500;

/** The body of POST /v2/listeners/{id}/claims: who asks for work, and how. */
export const workRequest = z.strictObject({
  /** The process that asks, for people: as `worker-1 (4711)`. */
  holder: z.string().min(1).max(255),
  /** How long to wait for work before there is none (s); not at all when absent. */
  wait_seconds: z.int().min(0).max(longestClaimWait).nullish(),
  /** How long the claim holds without a renewal or a report (s). */
  lease_seconds: z.int().min(leaseBounds.shortest).max(leaseBounds.longest).nullish(),
});
export type WorkRequest = z.infer<typeof workRequest>;

/** The tracing project that the agent tells of its runs, by the address that the listener knows. `token` is a secret. */
const tracing = z.looseObject({ project_id: z.string(), token: z.string() });

/** A revision with all that it takes to run it. Its secrets are in clear. */
export const claimedRevision = z.looseObject({
  id: z.string(),
  image_uri: z.string(),
  secrets: z.array(secretReply),
  secret_references: z.array(secretReferenceReply),
  resource_spec: resourceSpecReply.nullable(),
  deployment_type: z.string().nullable(),
  tracing: tracing.nullable(),
});
export type ClaimedRevision = z.infer<typeof claimedRevision>;

/** A piece of work that a listener holds: a revision to be run, or a deployment whose objects are to go. */
export const workClaim = z.looseObject({
  claim_id: z.string(),
  /** When it is handed to the next one, unless it is renewed or reported on before. */
  expires_at: z.string(),
  lease_seconds: z.int(),
  deployment: z.looseObject({
    id: z.string(),
    name: z.string(),
    /** Null where neither the deployment nor its listener names one: the cluster's own. */
    namespace: z.string().nullable(),
  }),
  /**
   * What has to run in the cluster: a revision to be carried out, or the live one again after another was abandoned. Null:
   * nothing; whatever the deployment has there is to go.
   */
  revision: claimedRevision.nullable(),
});
export type WorkClaim = z.infer<typeof workClaim>;

/** What a renewal and a report are answered with. A claim that is over is a 409: somebody else may be at it by now. */
export const claimStanding = z.looseObject({
  claim_id: z.string(),
  expires_at: z.string(),
  /** False where nobody wants it any more (interrupted, or being deleted): undo what was begun, and hand the claim back. */
  wanted: z.boolean(),
});
export type ClaimStanding = z.infer<typeof claimStanding>;

/** What a holder says of its work. `DEPLOYED`, `DEPLOY_FAILED` and `REMOVED` end the claim. */
export const reportedStatuses = ['DEPLOYING', 'DEPLOYED', 'DEPLOY_FAILED', 'REMOVED'] as const;
export type ReportedStatus = (typeof reportedStatuses)[number];

/** One line for the deploy log. `sequence` grows with every line of a claim: a line that came before is passed over. */
export const reportedLine = z.strictObject({
  sequence: z.int().min(1),
  level: z.enum(['info', 'warning', 'error']),
  message: z.string(),
  /** ISO 8601; when it came in, where absent. */
  at: z.iso.datetime({ offset: true }).nullish(),
});
export type ReportedLine = z.infer<typeof reportedLine>;

/** The body of PUT /v2/listeners/{id}/claims/{claim}/status. */
export const workReport = z.strictObject({
  status: z.enum(reportedStatuses),
  /** Why, for a person: required with `DEPLOY_FAILED`. */
  message: z.string().max(8_192).nullish(),
  /** The version of the agent server that runs, where it is known. */
  image_version: z.string().min(1).max(255).nullish(),
  log: z.array(reportedLine).max(mostReportedLines).nullish(),
});
export type WorkReport = z.infer<typeof workReport>;
