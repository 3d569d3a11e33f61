import type { ServerInfo } from '../contract/agent/service.ts';

/**
 * The API version that this server implements. The specification ties features to versions of the public server (section
 * "Versioning"), so it is one of those, not the version of this package.
 */
export const apiVersion = '0.5.36';

/** The response of `GET /info`. */
export function serverInfo(ids: {
  revisionId: string | undefined;
  deploymentId: string | undefined;
  /** Whether webhooks are sent. */
  webhooks: boolean;
}): ServerInfo {
  return {
    version: apiVersion,
    context: 'js',
    flags: { assistants: true, crons: true, store: true, webhooks: ids.webhooks, langsmith: false },
    metadata: {
      server: 'landfall',
      ...(ids.revisionId === undefined ? {} : { revision_id: ids.revisionId }),
      ...(ids.deploymentId === undefined ? {} : { deployment_id: ids.deploymentId }),
    },
  };
}
