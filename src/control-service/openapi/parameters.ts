import type { HeaderName } from './operation.ts';

/** Every header that some operation heeds. */
export const headerParameters: Readonly<Record<HeaderName, { name: string; description: string }>> = {
  fieldNames: {
    name: 'X-Field-Names',
    description: 'The spelling of the answer: `contract`, or `public` for `langgraph_config_path` and `redis_*`.',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    description: 'Makes the write one: sent again, it changes nothing and is answered as the first time, for 7 days.',
  },
  ifMatch: {
    name: 'If-Match',
    description: 'The id of the latest revision that the change was decided on. Where another one is the latest: 412.',
  },
  lastEventId: {
    name: 'Last-Event-ID',
    description: 'The id of the last line that came before the connection broke: those after it come now.',
  },
  contentDigest: {
    name: 'Content-Digest',
    description: 'The SHA-256 of the body, as in `sha-256=:<base64>:` (RFC 9530). A body with another one is a 400.',
  },
};

/** Every id that stands in a path, and whether it is a uuid. */
export const pathParameters: Readonly<Record<string, { description: string; isUuid: boolean }>> = {
  deployment_id: { description: 'The id of the deployment.', isUuid: true },
  revision_id: { description: 'The id of one of its revisions.', isUuid: true },
  integration_id: { description: 'The id of the integration.', isUuid: true },
  listener_id: { description: 'The id of the listener.', isUuid: true },
  claim_id: { description: 'The id of the claim.', isUuid: true },
  project_id: { description: 'The id of the tracing project.', isUuid: true },
  run_id: { description: 'The id of the run.', isUuid: true },
  api_key_id: { description: 'The id of the API key, which is no secret.', isUuid: false },
  object_name: { description: 'The name that was handed out.', isUuid: false },
  asset: { description: 'The name of a file of the page.', isUuid: false },
};

/** What is said about the fields of a query, wherever they stand. */
export const queryNotes: Readonly<Record<string, string>> = {
  limit: 'The most that is told at once: 20, and of logs 50 lines, when absent.',
  offset: 'Where the page begins: the `offset`, or `next_offset`, of the page before.',
  name: 'The exact name.',
  name_contains: 'A word that the name holds.',
  status: 'Statuses, with commas between them.',
  deployment_ids: 'Ids, with commas between them or the parameter repeated.',
  deployment_id: 'The id of the deployment.',
  revision_id: 'The id of the revision; all of the deployment where it is absent.',
  image_version: 'The image version.',
  deployment_type: 'The deployment type.',
  tag_value_ids: 'Ids of tags, with commas between them. Nothing here has tags: such a filter finds nothing.',
  remote_reconciled: 'Those that a listener carries out elsewhere, or those that this service does itself.',
  delete_tracing_project:
    'Whether the tracing project goes with the deployment. It stays, and keeps the name, when absent.',
  without_listener:
    'Whether nobody waits for its listener: what runs in its cluster is left there. For a cluster that is gone for good.',
  kind: 'Which log; the deploy log when absent.',
  log_type: 'The same as `kind`.',
  sort_order: 'The same as `order`.',
  order: 'Oldest first, or newest first.',
  level: 'Only lines of this level, in either case: `debug`, `info`, `warning`, `error` or `critical`.',
  query: 'Only lines that hold this word, in either case.',
  start_time: 'Only lines from this moment on, in ISO 8601.',
  end_time: 'Only lines before this moment, in ISO 8601.',
  assistant_id: 'Only runs of this assistant.',
  undone: 'Whether nothing of it is left in the cluster.',
  before: 'The `next_before` of the page before.',
  operation: 'Only changes of this kind, as in `patch deployment`.',
  key_id: 'Only changes by this key.',
  expires: 'As it stands in the address that was handed out.',
  signature: 'As it stands in the address that was handed out.',
};
