import type { ServerInfo } from '../../contract/agent/service.ts';
import { copyMetadataFlag } from '../../contract/agent/thread.ts';

/** The API version that this server implements, one of the public server's: features are tied to these. */
export const apiVersion = '0.5.36';

/** What clients learn of this server, which they tell apart by `context` (JavaScript) and the engine's version. */
export const serverInfo = (
  { revisionId, deploymentId }: { revisionId?: string | undefined; deploymentId?: string | undefined },
  sendsWebhooks: boolean,
  engine: string | undefined,
): ServerInfo => ({
  version: apiVersion,
  ...(engine === undefined ? { context: 'js' } : { langgraph_py_version: engine }),
  flags: {
    assistants: true,
    crons: true,
    store: true,
    webhooks: sendsWebhooks,
    langsmith: false,
    [copyMetadataFlag]: true,
  },
  metadata: { server: 'landfall', revision_id: revisionId, deployment_id: deploymentId },
});
