import * as z from 'zod';
import { idleAfterHeader, maxIdleSeconds, minIdleSeconds } from '../../../contract/control/deployment.ts';
import { buildOfHeader, commitHeader, holdHeader } from '../../../contract/control/revision.ts';
import type { Header } from '../../../kit/http/operation.ts';

export const fieldNames: Header = {
  name: 'X-Field-Names',
  description: 'The spelling of the response: `contract`, or `public` for `langgraph_config_path` and `redis_*`.',
};
export const idempotencyKey: Header = {
  name: 'Idempotency-Key',
  description: 'Makes the write idempotent: for 7 days a repetition changes nothing and gets the first response.',
};
export const ifMatch: Header = {
  name: 'If-Match',
  description: 'The id of the latest revision that the change is based on. Where another one is the latest: 412.',
};
export const holdSeconds: Header = {
  name: holdHeader,
  description:
    'Holds the revision that the change makes for so many seconds (1 to 86400) when it is healthy: no traffic, until it is promoted.',
};
export const pinnedCommit: Header = {
  name: commitHeader,
  description:
    "The full SHA of the commit that the change's revision is built from, whatever the head of its ref is by then.",
};
export const buildOf: Header = {
  name: buildOfHeader,
  description:
    "The id of a revision of this workspace whose build the change deploys: the revision's commit and content, without a second build.",
};
export const idleAfter: Header = {
  name: idleAfterHeader,
  description: `Scales the agent to zero after so many seconds without a request (${minIdleSeconds} to ${maxIdleSeconds}), until the next one; \`never\` ends this. Kept with the deployment.`,
};
export const lastEventId: Header = {
  name: 'Last-Event-ID',
  description: 'The id of the last line that was received: the stream continues after it.',
};
export const contentDigest: Header = {
  name: 'Content-Digest',
  description: 'The SHA-256 of the body, as in `sha-256=:<base64>:` (RFC 9530). A body with another one is a 400.',
};

const id = (description: string) => z.uuid().meta({ param: { description } });
const text = (description: string) => z.string().meta({ param: { description } });

export const pathParameters: Readonly<Record<string, z.ZodType>> = {
  deployment_id: id('The id of the deployment.'),
  revision_id: id('The id of one of its revisions.'),
  integration_id: id('The id of the integration.'),
  owner: text('The owner of the repository.'),
  repo: text('The name of the repository.'),
  listener_id: id('The id of the listener.'),
  claim_id: id('The id of the claim.'),
  project_id: id('The id of the tracing project.'),
  run_id: id('The id of the run.'),
  api_key_id: text('The id of the API key, which is no secret.'),
  trust_policy_id: id('The id of the trust policy.'),
  test_hash: text('The SHA-256 of what the test sends and expects, in 64 hexadecimal digits.'),
  object_name: text('The name in the upload address.'),
  asset: text('The name of a file of the page.'),
};

/** The descriptions of query fields, in all operations. */
export const queryDescriptions: Readonly<Record<string, string>> = {
  limit: 'The page size: 20 by default, and 50 lines for logs.',
  offset: 'The start of the page: the `offset`, or `next_offset`, of the page before.',
  name: 'The exact name.',
  name_contains: 'Text that the name contains.',
  status: 'Statuses, separated by commas.',
  state: 'Only deployments in this state.',
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
