/** What a service offers beyond the document. */
export interface Offers {
  /** Builds the commit that a request names. */
  pinsCommits?: boolean;
  /** Deploys the build of another deployment's revision. */
  copiesBuilds?: boolean;
  idempotencyKeys: boolean;
  ifMatch: boolean;
  /** `GET /v2/deployments/{id}/revisions` */
  lists: boolean;
  /** Holds revisions before traffic. */
  holds?: boolean;
}
