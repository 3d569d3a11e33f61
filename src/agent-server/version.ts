import type { ServerInfo } from '../contract/agent/server-info.ts';

/**
 * The version of the agent server's API that this server keeps to. The document ties features to versions of the public
 * server (section "Versioning"), so the number is one of those and not our package's own.
 */
export const API_VERSION = '0.5.36';

/** What `GET /info` answers. */
export function serverInfo(ids: {
  revisionId: string | undefined;
  deploymentId: string | undefined;
  /** Whether webhooks are sent. */
  webhooks: boolean;
}): ServerInfo {
  return {
    version: API_VERSION,
    context: 'js',
    flags: { assistants: true, crons: true, store: true, webhooks: ids.webhooks, langsmith: false },
    metadata: {
      server: 'landfall',
      ...(ids.revisionId === undefined ? {} : { revision_id: ids.revisionId }),
      ...(ids.deploymentId === undefined ? {} : { deployment_id: ids.deploymentId }),
    },
  };
}
