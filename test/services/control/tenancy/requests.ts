import { trustedIssuer, type Belongings } from './two-tenants.ts';

/** A request below the service's address. */
export interface Sent {
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** How to request a route with ids of a tenant. */
export type Row =
  /** It needs no key, for this reason. */
  | { open: string }
  /** It names no id of a tenant: it returns or creates what belongs to the caller. */
  | ({ own: (ids: Belongings) => Sent } & Answered)
  /** It names ids of a tenant. */
  | ({ of: (ids: Belongings) => Sent } & Answered);

interface Answered {
  /** The status that the owner gets. */
  done: number;
  /** Whether an idempotency key makes it happen once, or why it needs none. */
  once: true | string;
}

const deployment = ({ deployment: id }: Belongings): string => `/v2/deployments/${id}`;
const revision = (ids: Belongings): string => `${deployment(ids)}/revisions/${ids.revision}`;
const baseline = (ids: Belongings): string => `${revision(ids)}/baselines/${'a1'.repeat(32)}`;
const measured = { answer: 'right', first_event_ms: 100, total_ms: 900, nodes: ['say'] };
const claim = ({ listener, claim: id }: Belongings): string => `/v2/listeners/${listener}/claims/${id}`;
const logs = (ids: Belongings, kind: string): string =>
  `/v1/projects/${ids.deployment}/revisions/${ids.revision}/${kind}`;

const read = (of: (ids: Belongings) => Sent): Row => ({ of, done: 200, once: 'it changes nothing' });
const list = (path: string): Row => ({ own: () => ({ path }), done: 200, once: 'it changes nothing' });
/** A write that supports idempotency keys. */
const write = (of: (ids: Belongings) => Sent, done = 200): Row => ({ of, done, once: true });
/** A write of a listener under a claim. Its numbered lines make it safe to repeat. */
const claimed = (of: (ids: Belongings) => Sent, done = 200): Row => ({ of, done, once: 'its claim fences it' });
/** A request for the session of a browser: one with a key has none. */
const ofSession = (body?: (ids: Belongings) => unknown): Row => ({
  own: (ids) => ({ path: '/v1/session', ...(body ? { body: body(ids) } : {}) }),
  done: 401,
  once: 'it makes nothing',
});
const make = (path: string, body: unknown): Row => ({ own: () => ({ path, body }), done: 201, once: true });

/**
 * A row for every route of the service, in an order in which the owner can request them all. The tests fail for a route
 * without a row: list the ids that it names, so that another tenant tries it.
 */
export const requests: Readonly<Record<string, Row>> = {
  'GET /ok': { open: 'a health check' },
  'GET /info': { open: 'lists the features of the service' },
  'GET /openapi.json': { open: 'the OpenAPI document' },
  'GET /docs': { open: 'a page with the API reference' },
  'GET /docs/:asset': { open: 'an asset of that page' },
  'POST /v1/projects/:project_id/runs': { open: 'requires the token of its project, which only the agent has' },
  'POST /v1/sessions': { open: 'signs in with a key in its body' },
  'POST /v1/auth/oidc': { open: 'exchanges a token of an issuer in its body' },
  'GET /v1/sessions/current': { open: 'returns the session of the caller’s own cookie, or null' },
  'PUT /uploads/:deployment_id/:object_name': { open: 'its address is signed and works once' },

  'GET /v2/deployments': list('/v2/deployments'),
  'GET /v2/deployments/:deployment_id': read((ids) => ({ path: deployment(ids) })),
  'GET /v2/deployments/:deployment_id/revisions': read((ids) => ({ path: `${deployment(ids)}/revisions` })),
  'GET /v2/deployments/:deployment_id/revisions/:revision_id': read((ids) => ({ path: revision(ids) })),
  'GET /v2/deployments/:deployment_id/revisions/:revision_id/packages': read((ids) => ({
    path: `${revision(ids)}/packages`,
  })),
  'GET /v2/deployments/:deployment_id/revision-history': read((ids) => ({
    path: `${deployment(ids)}/revision-history`,
  })),
  'GET /v2/deployments/:deployment_id/revisions/:revision_id/verdicts': read((ids) => ({
    path: `${revision(ids)}/verdicts`,
  })),
  'GET /v2/deployments/:deployment_id/revisions/:revision_id/baselines/:test_hash': {
    of: (ids) => ({ path: baseline(ids) }),
    // Nothing is kept yet.
    done: 404,
    once: 'it changes nothing',
  },
  'GET /v2/deployment-summaries': list('/v2/deployment-summaries'),
  'POST /v1/projects/:deployment_id/revisions/:revision_id/build_logs': read((ids) => ({
    path: logs(ids, 'build_logs'),
    body: {},
  })),
  'POST /v1/projects/:deployment_id/revisions/:revision_id/deploy_logs': read((ids) => ({
    path: logs(ids, 'deploy_logs'),
    body: {},
  })),
  'POST /v1/projects/:deployment_id/deploy_logs': read((ids) => ({
    path: `/v1/projects/${ids.deployment}/deploy_logs`,
    body: {},
  })),
  'GET /v2/deployments/:deployment_id/health': read((ids) => ({ path: `${deployment(ids)}/health` })),
  'GET /v2/deployment-logs': read((ids) => ({
    path: `/v2/deployment-logs?deployment_id=${ids.deployment}&revision_id=${ids.live}`,
  })),
  'GET /v2/deployments/:deployment_id/logs': read((ids) => ({ path: `${deployment(ids)}/logs` })),
  'GET /v2/deployments/:deployment_id/revisions/:revision_id/logs': read((ids) => ({ path: `${revision(ids)}/logs` })),
  'GET /v2/deployments/:deployment_id/revisions/:revision_id/logs/stream': read((ids) => ({
    // The build log of a live revision has an end.
    path: `${revision({ ...ids, revision: ids.live })}/logs/stream?kind=build`,
  })),
  'GET /v1/integrations/github/install': list('/v1/integrations/github/install'),
  'GET /v1/integrations/github/:integration_id/repos': read(({ integration }) => ({
    path: `/v1/integrations/github/${integration}/repos`,
  })),
  'GET /v1/integrations/github/:integration_id/repos/:owner/:repo/branches': {
    of: ({ integration }) => ({ path: `/v1/integrations/github/${integration}/repos/owner/agents/branches` }),
    // The repository is missing: no GitHub App is set up.
    done: 404,
    once: 'it changes nothing',
  },
  'GET /v1/integrations/forge/github/install': list('/v1/integrations/forge/github/install'),
  'GET /v1/integrations/forge/github/:integration_id/repos': read(({ integration }) => ({
    path: `/v1/integrations/forge/github/${integration}/repos`,
  })),
  'GET /v1/projects': list('/v1/projects'),
  'GET /v1/projects/:project_id': read(({ project }) => ({ path: `/v1/projects/${project}` })),
  'GET /v1/projects/:project_id/runs': read(({ project }) => ({ path: `/v1/projects/${project}/runs` })),
  'GET /v1/projects/:project_id/runs/:run_id': read(({ project, run }) => ({
    path: `/v1/projects/${project}/runs/${run}`,
  })),
  'GET /v2/listeners': list('/v2/listeners'),
  'GET /v2/listeners/:listener_id': read(({ listener }) => ({ path: `/v2/listeners/${listener}` })),
  'GET /v1/api-keys': list('/v1/api-keys'),
  'GET /v1/trust-policies': list('/v1/trust-policies'),
  'GET /v1/audit': list('/v1/audit'),
  'GET /v1/session': ofSession(),
  'PATCH /v1/session': ofSession(({ tenant }) => ({ tenant_id: tenant })),
  'POST /v1/session/agents': {
    own: ({ deployment }) => ({ path: '/v1/session/agents', body: { deployment_id: deployment } }),
    done: 401,
    once: 'it makes nothing',
  },
  'DELETE /v1/session': ofSession(),

  'POST /v2/deployments': make('/v2/deployments', {
    name: 'made-here',
    source: 'github',
    source_config: { repo_url: 'https://example.com/a' },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
    secrets: [],
  }),
  'POST /v1/api-keys': make('/v1/api-keys', { name: 'made-here' }),
  'POST /v1/trust-policies': make('/v1/trust-policies', {
    name: 'made-here',
    issuer: trustedIssuer,
    claims: { sub: 'pipeline' },
    scopes: ['deploy'],
  }),
  'POST /v2/listeners': make('/v2/listeners', {
    compute_type: 'k8s',
    compute_id: 'made-here',
    compute_config: { k8s_namespaces: [] },
  }),
  'PATCH /v2/deployments/:deployment_id': write((ids) => ({
    path: deployment(ids),
    body: { source_config: { build_on_push: true }, secrets: [{ name: 'A', value: 'b' }] },
  })),
  'POST /v2/deployments/:deployment_id/revisions': write(
    (ids) => ({ path: `${deployment(ids)}/revisions`, body: {} }),
    201,
  ),
  'POST /v2/deployments/:deployment_id/revisions/:revision_id/verdicts': write(
    (ids) => ({ path: `${revision(ids)}/verdicts`, body: { kind: 'passed', reporter: 'cli', tests: [] } }),
    201,
  ),
  'PUT /v2/deployments/:deployment_id/revisions/:revision_id/baselines/:test_hash': write((ids) => ({
    path: baseline(ids),
    body: { answers: [measured] },
  })),
  'POST /v2/deployments/:deployment_id/revisions/:revision_id/redeploy': write((ids) => ({
    path: `${revision({ ...ids, revision: ids.live })}/redeploy`,
  })),
  'POST /v2/deployments/:deployment_id/revisions/:revision_id/promote': {
    of: (ids) => ({ path: `${revision(ids)}/promote` }),
    // The revision was made without a hold.
    done: 409,
    once: 'a decision is made once',
  },
  'POST /v2/deployments/:deployment_id/revisions/:revision_id/discard': {
    of: (ids) => ({ path: `${revision(ids)}/discard` }),
    done: 409,
    once: 'a decision is made once',
  },
  'POST /v2/deployments/:deployment_id/revisions/:revision_id/interruption': write((ids) => ({
    path: `${revision(ids)}/interruption`,
  })),
  'POST /deployments/:deployment_id/upload-url': write(({ uploading }) => ({
    path: `/deployments/${uploading}/upload-url`,
  })),
  'POST /v2/deployments/:deployment_id/upload-url': write(({ uploading }) => ({
    path: `/v2/deployments/${uploading}/upload-url`,
  })),
  'POST /v2/deployments/:deployment_id/push-token': {
    of: ({ pushed }) => ({ path: `/v2/deployments/${pushed}/push-token` }),
    done: 200,
    once: 'the registry makes a token of its own each time, and nothing here changes',
  },
  'POST /v2/listeners/:listener_id/claims/:claim_id/renewal': claimed((ids) => ({ path: `${claim(ids)}/renewal` })),
  'PUT /v2/listeners/:listener_id/claims/:claim_id/status': claimed((ids) => ({
    path: `${claim(ids)}/status`,
    body: { status: 'DEPLOYING' },
  })),
  'DELETE /v2/listeners/:listener_id/claims/:claim_id': claimed((ids) => ({ path: claim(ids) }), 204),
  'POST /v2/listeners/:listener_id/claims': claimed(({ listener }) => ({
    path: `/v2/listeners/${listener}/claims`,
    body: { holder: 'holder-1' },
  })),
  'PATCH /v2/listeners/:listener_id': write(({ listener }) => ({
    path: `/v2/listeners/${listener}`,
    body: { compute_config: { k8s_namespaces: [] } },
  })),
  'DELETE /v1/api-keys/:api_key_id': write(({ key }) => ({ path: `/v1/api-keys/${key}` }), 204),
  'DELETE /v1/trust-policies/:trust_policy_id': write(({ policy }) => ({ path: `/v1/trust-policies/${policy}` }), 204),
  'DELETE /v2/deployments/:deployment_id': write(({ uploading }) => ({ path: `/v2/deployments/${uploading}` }), 204),
  'DELETE /v2/deployments': write(({ deployment: id, pushed }) => ({
    path: `/v2/deployments?deployment_ids=${id},${pushed}`,
  })),
  'DELETE /v1/projects/:project_id': write(({ project }) => ({ path: `/v1/projects/${project}` }), 204),
  'DELETE /v2/listeners/:listener_id': {
    of: ({ listener }) => ({ path: `/v2/listeners/${listener}` }),
    done: 409,
    once: true,
  },
};

const github = (name: string, more: object) => ({
  name,
  source: 'github',
  source_config: { repo_url: 'https://example.com/a', ...more },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
  secrets: [],
});

/** Requests with ids of the caller in their path and ids of another tenant in their body or query, and mixed paths. */
export const bodies: readonly (readonly [
  what: string,
  method: string,
  ask: (own: Belongings, of: Belongings) => Sent,
])[] = [
  [
    'a deployment with the integration of another tenant',
    'POST',
    (_, { integration }) => ({ path: '/v2/deployments', body: github('borrowed', { integration_id: integration }) }),
  ],
  [
    'a deployment with the listener of another tenant',
    'POST',
    (_, { listener }) => ({
      path: '/v2/deployments',
      body: {
        name: 'borrowed',
        source: 'external_docker',
        source_config: { listener_id: listener },
        source_revision_config: { image_uri: 'registry.example.com/a:1' },
        secrets: [],
      },
    }),
  ],
  [
    'a revision of the tarball of another tenant',
    'PATCH',
    (own, { objectPath }) => ({
      path: `/v2/deployments/${own.uploading}`,
      body: { source_revision_config: { source_tarball_path: objectPath } },
    }),
  ],
  [
    'a list of deployments by their ids',
    'GET',
    (_, of) => ({ path: `/v2/deployments?deployment_ids=${of.deployment},${of.uploading}` }),
  ],
  ['the audit log of a deployment', 'GET', (_, of) => ({ path: `/v1/audit?deployment_id=${of.deployment}` })],
  ['the audit log of a key', 'GET', (_, of) => ({ path: `/v1/audit?key_id=${of.key}` })],
  [
    'the revision of another tenant under my deployment',
    'GET',
    (own, of) => ({ path: revision({ ...own, revision: of.revision }) }),
  ],
  [
    'an interruption of the revision of another tenant under my deployment',
    'POST',
    (own, of) => ({ path: `${revision({ ...own, revision: of.revision })}/interruption` }),
  ],
  [
    'a redeploy of the revision of another tenant under my deployment',
    'POST',
    (own, of) => ({ path: `${revision({ ...own, revision: of.live })}/redeploy` }),
  ],
  [
    'a verdict on the revision of another tenant under my deployment',
    'POST',
    (own, of) => ({
      path: `${revision({ ...own, revision: of.revision })}/verdicts`,
      body: { kind: 'passed', reporter: 'cli', tests: [] },
    }),
  ],
  [
    'a baseline of the revision of another tenant under my deployment',
    'PUT',
    (own, of) => ({ path: baseline({ ...own, revision: of.revision }), body: { answers: [measured] } }),
  ],
  [
    'the history of the revision of another tenant under my deployment',
    'GET',
    (own, of) => ({ path: `${deployment(own)}/revision-history?revision_id=${of.revision}` }),
  ],
  [
    'the log of the revision of another tenant under my deployment',
    'POST',
    (own, of) => ({ path: logs({ ...own, revision: of.live }, 'build_logs'), body: {} }),
  ],
  [
    'the followed log of the revision of another tenant under my deployment',
    'GET',
    (own, of) => ({ path: `${revision({ ...own, revision: of.live })}/logs/stream` }),
  ],
  [
    'the log of the revision of another tenant by a query',
    'GET',
    (own, of) => ({ path: `/v2/deployment-logs?deployment_id=${own.deployment}&revision_id=${of.live}` }),
  ],
  [
    'the log of a deployment of another tenant by a query',
    'GET',
    (_, of) => ({ path: `/v2/deployment-logs?deployment_id=${of.deployment}` }),
  ],
  [
    'my revision under a deployment of another tenant',
    'GET',
    (own, of) => ({ path: revision({ ...of, revision: own.revision }) }),
  ],
  [
    'the claim of another tenant under my listener',
    'PUT',
    (own, of) => ({ path: `${claim({ ...own, claim: of.claim })}/status`, body: { status: 'DEPLOYED' } }),
  ],
  ['the release of the claim of another tenant', 'DELETE', (own, of) => ({ path: claim({ ...own, claim: of.claim }) })],
  [
    'my claim under a listener of another tenant',
    'DELETE',
    (own, of) => ({ path: claim({ ...of, claim: own.claim }) }),
  ],
];
