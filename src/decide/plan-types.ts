import type { DeploymentCreateRequest, DeploymentPatchRequest } from '../contract/control/deployment.ts';

/** One field that will change, as it may be shown to anybody: a secret's values are never in it. */
export interface FieldChange {
  /** Dotted path in the document's spelling, for example `source_revision_config.repo_ref`; `secrets.NAME` for one secret. */
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

/** What will be done and why. Only `create` and `patch` write. */
export type Plan =
  | { kind: 'create'; request: DeploymentCreateRequest; changes: readonly FieldChange[]; notes: readonly string[] }
  | {
      kind: 'patch';
      deploymentId: string;
      request: DeploymentPatchRequest;
      changes: readonly FieldChange[];
      makesRevision: boolean;
      /** The latest revision before the PATCH: what an answer that never came is settled by. */
      formerLatestRevisionId: string | null;
      notes: readonly string[];
    }
  | {
      kind: 'none';
      deploymentId: string;
      why: string;
      /** A revision that is on its way already and carries what was asked for: it is followed, none is made. */
      adopt?: string;
      notes: readonly string[];
    }
  | { kind: 'impossible'; obstacles: readonly Obstacle[] };

/** A plan as it may be shown to anybody: the request, which carries secrets, is left out. */
export type ToldPlan = Plan extends infer Each ? (Each extends Plan ? Omit<Each, 'request'> : never) : never;
