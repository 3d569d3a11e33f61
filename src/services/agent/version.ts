import type { ServerInfo } from '../../contract/agent/service.ts';
import { copyMetadataFlag } from '../../contract/agent/thread.ts';

/**
 * The API version that this server implements. The specification ties features to versions of the public server
 * (section "Versioning"), so it is one of those, not the version of this package.
 */
export const apiVersion = '0.5.36';

/**
 * What clients learn of this server. The public servers tell their language apart: the one for JavaScript has `context`, the
 * one for Python, which also runs graphs in JavaScript, has the version of its engine.
 *
 * @param engine the version of `langgraph`, where graphs are in Python.
 */
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
