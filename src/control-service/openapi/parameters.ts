import type { HeaderName } from './operation.ts';

/** Every header that some operation uses. */
export const headerParameters: Readonly<Record<HeaderName, { name: string; description: string }>> = {
  fieldNames: {
    name: 'X-Field-Names',
    description: 'The spelling of the response: `contract`, or `public` for `langgraph_config_path` and `redis_*`.',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    description: 'Makes the write idempotent: for 7 days a repetition changes nothing and gets the first response.',
  },
  ifMatch: {
    name: 'If-Match',
    description: 'The id of the latest revision that the change is based on. Where another one is the latest: 412.',
  },
  lastEventId: {
    name: 'Last-Event-ID',
    description: 'The id of the last line that was received: the stream continues after it.',
  },
  contentDigest: {
    name: 'Content-Digest',
    description: 'The SHA-256 of the body, as in `sha-256=:<base64>:` (RFC 9530). A body with another one is a 400.',
  },
};

/** Every id in a path, and whether it is a UUID. */
export const pathParameters: Readonly<Record<string, { description: string; isUuid: boolean }>> = {
  deployment_id: { description: 'The id of the deployment.', isUuid: true },
  revision_id: { description: 'The id of one of its revisions.', isUuid: true },
  integration_id: { description: 'The id of the integration.', isUuid: true },
  listener_id: { description: 'The id of the listener.', isUuid: true },
  claim_id: { description: 'The id of the claim.', isUuid: true },
  project_id: { description: 'The id of the tracing project.', isUuid: true },
  run_id: { description: 'The id of the run.', isUuid: true },
  api_key_id: { description: 'The id of the API key, which is no secret.', isUuid: false },
  object_name: { description: 'The name in the upload address.', isUuid: false },
  asset: { description: 'The name of a file of the page.', isUuid: false },
};

/** The descriptions of query fields, in all operations. */
export const queryNotes: Readonly<Record<string, string>> = {
  limit: 'The page size: 20 by default, and 50 lines for logs.',
  offset: 'The start of the page: the `offset`, or `next_offset`, of the page before.',
  name: 'The exact name.',
  name_contains: 'Text that the name contains.',
  status: 'Statuses, separated by commas.',
  deployment_ids: 'Ids, separated by commas or in repeated parameters.',
  deployment_id: 'The id of the deployment.',
  revision_id: 'The id of the revision; all of the deployment where it is absent.',
  image_version: 'The image version.',
  deployment_type: 'The deployment type.',
  tag_value_ids: 'Ids of tags, separated by commas. Nothing here has tags: such a filter finds nothing.',
  remote_reconciled: 'True: those that a listener carries out. False: those that this service carries out.',
  delete_tracing_project:
    'Whether the tracing project is deleted with the deployment. By default it stays, and keeps the name.',
  without_listener:
    'Whether to delete without the listener: what runs in its cluster stays there. For a cluster that is gone for good.',
  kind: 'Which log; the deploy log when absent.',
  log_type: 'The same as `kind`.',
  sort_order: 'The same as `order`.',
  order: 'Oldest first, or newest first.',
  level: 'Only lines of this level, in either case: `debug`, `info`, `warning`, `error` or `critical`.',
  query: 'Only lines that contain this text, in either case.',
  start_time: 'Only lines from this time on, in ISO 8601.',
  end_time: 'Only lines before this time, in ISO 8601.',
  assistant_id: 'Only runs of this assistant.',
  undone: 'Whether nothing of it is left in the cluster.',
  before: 'The `next_before` of the page before.',
  operation: 'Only changes of this kind, as in `patch deployment`.',
  key_id: 'Only changes by this key.',
  expires: 'As in the upload address.',
  signature: 'As in the upload address.',
};
