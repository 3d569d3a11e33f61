import * as z from 'zod';
import { resourceSpecReply } from './resource-spec.ts';
import { secretReferenceReply, secretReply } from './secret.ts';

// The work that a service assigns to a listener: our addition to the contract.

/** The longest wait of a claim for work, in seconds. */
export const maxClaimWait = 30;
/** The duration of a claim without a renewal, in seconds. */
export const leaseBounds = { shortest: 2, usual: 60, longest: 600 } as const;
export const maxReportedLines = 500;

/** The body of POST /v2/listeners/{id}/claims. */
export const workRequest = z.strictObject({
  /** The name of the claiming process, for people: `worker-1 (4711)`. */
  holder: z.string().min(1).max(255),
  /** How long to wait if there is no work (s); not at all by default. */
  wait_seconds: z.int().min(0).max(maxClaimWait).nullish(),
  /** The duration of the claim without a renewal or a report (s). */
  lease_seconds: z.int().min(leaseBounds.shortest).max(leaseBounds.longest).nullish(),
});
export type WorkRequest = z.infer<typeof workRequest>;

/** The tracing project for the agent's runs, at a URL that the listener knows. `token` is a secret. */
const tracing = z.looseObject({ project_id: z.string(), token: z.string() });

/** A revision with all that is needed to run it. Its secrets are unmasked. */
export const claimedRevision = z.looseObject({
  id: z.string(),
  image_uri: z.string(),
  secrets: z.array(secretReply.extend({ value: z.string() })),
  secret_references: z.array(secretReferenceReply),
  resource_spec: resourceSpecReply.nullable(),
  deployment_type: z.string().nullable(),
  tracing: tracing.nullable(),
});
export type ClaimedRevision = z.infer<typeof claimedRevision>;

/** A claimed work item: a revision to run, or a deployment whose objects to delete. */
export const workClaim = z.looseObject({
  claim_id: z.string(),
  /** When the claim expires, unless it is renewed or reported on. */
  expires_at: z.string(),
  lease_seconds: z.int(),
  deployment: z.looseObject({
    id: z.string(),
    name: z.string(),
    /** Null if neither the deployment nor its listener names one: the cluster's default. */
    namespace: z.string().nullable(),
  }),
  /**
   * What must run in the cluster: a revision to deploy, or the live one again after another was abandoned. Null:
   * nothing; all objects of the deployment must be deleted.
   */
  revision: claimedRevision.nullable(),
});
export type WorkClaim = z.infer<typeof workClaim>;

/** The response to a renewal or a report. An expired claim is a 409: another process may have the work. */
export const claimStanding = z.looseObject({
  claim_id: z.string(),
  expires_at: z.string(),
  /** False if the work was cancelled (interrupted, or being deleted): undo what was started, and release the claim. */
  wanted: z.boolean(),
});
export type ClaimStanding = z.infer<typeof claimStanding>;

/** The statuses in a report. `DEPLOYED`, `DEPLOY_FAILED` and `REMOVED` end the claim. */
export const reportedStatuses = ['DEPLOYING', 'DEPLOYED', 'DEPLOY_FAILED', 'REMOVED'] as const;
export type ReportedStatus = (typeof reportedStatuses)[number];

/** One line for the deploy log. `sequence` grows within a claim; a repeated one is ignored. */
export const reportedLine = z.strictObject({
  sequence: z.int().min(1),
  level: z.enum(['info', 'warning', 'error']),
  message: z.string(),
  /** ISO 8601; the time of receipt by default. */
  at: z.iso.datetime({ offset: true }).nullish(),
});
export type ReportedLine = z.infer<typeof reportedLine>;

/** The body of PUT /v2/listeners/{id}/claims/{claim}/status. */
export const workReport = z.strictObject({
  status: z.enum(reportedStatuses),
  /** The reason, for people: required with `DEPLOY_FAILED`. */
  message: z.string().max(8_192).nullish(),
  /** The version of the running agent server, if known. */
  image_version: z.string().min(1).max(255).nullish(),
  log: z.array(reportedLine).max(maxReportedLines).nullish(),
});
export type WorkReport = z.infer<typeof workReport>;
