/** GitHub's App manifest: the minimal permissions, and the events that the App handles. */
export interface Manifest {
  name: string;
  url: string;
  hook_attributes: { url: string; active: boolean };
  redirect_url: string;
  description: string;
  public: boolean;
  default_permissions: Readonly<Record<string, 'read' | 'write'>>;
  default_events: readonly string[];
}

/**
 * Each permission and its use; the App requests no other. Installation events are always sent.
 *
 * - `metadata`: mandatory; also used to read a person's permission in a repository
 * - `contents`: heads of branches, comparisons, the deploy file and graph configurations as data
 * - `pull_requests`: their events and the changed files; writing is for the one comment, its edits and reactions
 * - `issues`: read only, because GitHub sends comments on pull requests to no App without it
 * - `merge_queues`: read only, for their events
 * - `actions`: read only, for the protection rules of environments
 * - `checks`, `deployments`: where the App reports; with `statuses` what `deploy-after` waits for
 */
export const permissions = {
  metadata: 'read',
  contents: 'read',
  pull_requests: 'write',
  issues: 'read',
  merge_queues: 'read',
  checks: 'write',
  statuses: 'read',
  deployments: 'write',
  actions: 'read',
} as const satisfies Manifest['default_permissions'];

/** The events that the App handles. */
export const events = [
  'push',
  'delete',
  'pull_request',
  'issue_comment',
  'merge_group',
  'check_run',
  'check_suite',
  'status',
  'repository',
] as const;

/** The path of webhooks below the public address. */
const webhookPath = '/api/github/webhooks';

/** Creates the manifest of an App. GitHub redirects the browser to `redirectUrl` with the code. */
export const manifestOf = (name: string, publicUrl: string, redirectUrl: string): Manifest => ({
  name,
  url: publicUrl,
  hook_attributes: { url: `${publicUrl}${webhookPath}`, active: true },
  redirect_url: redirectUrl,
  description: 'Deploys AI agents on push and verifies that they work.',
  public: false,
  default_permissions: permissions,
  default_events: events,
});

/** The web address of the GitHub that an API address belongs to. */
export function webOf(apiUrl: string): string {
  const { protocol, host, pathname } = new URL(apiUrl);
  if (host === 'api.github.com') return 'https://github.com';
  return /^\/api\/v3\/?$/.test(pathname) ? `${protocol}//${host}` : `${protocol}//${host.replace(/^api\./, '')}`;
}
