import type { Deployment, DeploymentCreateRequest, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import type { ImageLookup } from '../../contract/control/container.ts';
import type { RequestedCommit } from './commit.ts';

/** The lookup result for an id that was not given: the one match, or why there is not exactly one. */
export type IdLookup =
  | { kind: 'one'; id: string; /** One clause for a note. */ why: string }
  /** Several fit: a person has to choose. */
  | { kind: 'choices'; choices: readonly { id: string; name: string }[] }
  /** None is needed or none can be found; the request is sent without one. */
  | { kind: 'none'; why: string };

/** The properties of a packed folder that a plan uses. */
export interface TarballSummary {
  /** `sha256:` and the hex digest of its bytes. */
  digest: string;
  /** Bytes, gzipped. */
  size: number;
  /** Files and links in it. */
  files: number;
  /** What our own rules kept out of it. */
  leftOut: readonly string[];
}

/** What runs, as far as it was looked at. */
export interface ObservedState {
  /** Absent: there is none yet. */
  deployment?: Deployment | undefined;
  /** The revision that serves (`active_revision_id`). */
  live?: Revision | undefined;
  /** The newest revision (`latest_revision_id`): the only one that a Deployment's `source_revision_config` describes. */
  latest?: Revision | undefined;
  /** Further revisions that are on their way, newest first, where the service lists them. */
  onTheirWay?: readonly Revision[] | undefined;
  /** The requested commit; only `github` has one. */
  commit: RequestedCommit;
  /** The requested folder, packed; only `internal_source` has one, if the folder is readable. */
  tarball?: TarballSummary | undefined;
  /** The requested image, where it was looked up: only one that is named by a tag. */
  image?: ImageLookup | undefined;
  /** Looked for only where a deployment is to be created without the id. */
  integration?: IdLookup | undefined;
  listener?: IdLookup | undefined;
}

/** One field that will change, as it may be shown to anybody: a secret's values are never in it. */
export interface FieldChange {
  /**
   * Dotted path in the document's spelling, for example `source_revision_config.repo_ref`; `secrets.NAME` for one
   * secret.
   */
  field: string;
  /** What is there, in words for a person; `undefined` where nothing is. Secrets: `set`, never a value. */
  from: string | undefined;
  to: string | undefined;
  makesRevision: boolean;
  /** Why it is sent, one sentence without a full stop at the end. */
  why: string;
}

/** A field that stands in the way, and what a person can do about it. */
export interface Obstacle {
  field: string;
  problem: string;
  advice: string;
}

/** A revision in progress that already has the requested content: it is followed instead of making another. */
interface Adoption {
  /** The revision's id. */
  adopt?: string;
  /** The adopted revision does not report its commit yet: observe again before treating it as the requested one. */
  unreportedCommit?: true;
}

/** A tarball that is uploaded; its path, which the service hands out then, is named by the PATCH that follows. */
interface PlannedUpload {
  upload?: { digest: string };
}

/** What will be done and why. Only `create` and `patch` write. */
export type Plan =
  | ({
      kind: 'create';
      request: DeploymentCreateRequest;
      changes: readonly FieldChange[];
      notes: readonly string[];
    } & PlannedUpload)
  | ({
      kind: 'patch';
      deploymentId: string;
      /** Without the path of an upload, which is not known yet. */
      request: DeploymentPatchRequest;
      changes: readonly FieldChange[];
      makesRevision: boolean;
      /** The latest revision before the PATCH, to resolve a lost response. */
      formerLatestRevisionId: string | null;
      notes: readonly string[];
    } & Adoption &
      PlannedUpload)
  | ({ kind: 'none'; deploymentId: string; why: string; notes: readonly string[] } & Adoption)
  | { kind: 'impossible'; obstacles: readonly Obstacle[] };

/** A plan as it may be shown to anybody: the request, which carries secrets, is left out. */
export type ReportedPlan = Plan extends infer Each ? (Each extends Plan ? Omit<Each, 'request'> : never) : never;
