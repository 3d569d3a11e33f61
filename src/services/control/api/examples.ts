import { githubIssuer } from '../../../contract/control/trust-policy.ts';
const repository = {
  source: 'github',
  source_config: {
    repo_url: 'https://github.com/example/agent',
    deployment_type: 'prod',
    build_on_push: true,
    resource_spec: { min_scale: 1, max_scale: 1, cpu: 1, memory_mb: 1_024 },
  },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
};
const page = { order: 'asc', limit: 100, level: 'error' };
const runTimes = {
  created_at: '2026-01-31T12:00:00Z',
  started_at: '2026-01-31T12:00:01Z',
  ended_at: '2026-01-31T12:00:04Z',
};

/** An example of every JSON body, by the id of its operation. */
export const examples: Readonly<Record<string, unknown>> = {
  create_deployment: { name: 'support', ...repository, secrets: [{ name: 'MODEL_KEY', value: 'the-key' }] },
  patch_deployment: { source_revision_config: { repo_ref: 'release' }, secrets: [{ name: 'MODEL_KEY', value: 'new' }] },
  create_revision: { source_revision_config: { repo_ref: 'main' } },
  promote_revision: { why: 'All smoke tests passed.' },
  discard_revision: { why: 'The smoke test "refund" failed.' },
  report_verdict: {
    kind: 'passed',
    reporter: 'cli',
    tests: [
      {
        name: 'refund',
        kind: 'passed',
        attempts: 1,
        expectations: [{ expected: 'contains "refunded"', seen: 'It is refunded.', held: true }],
        why: null,
        first_event_ms: 120,
        total_ms: 900,
      },
    ],
  },
  keep_baseline: {
    answers: [{ answer: 'right', first_event_ms: 120, total_ms: 900, nodes: ['model'], tools: [], tokens: 310 }],
  },
  build_logs: page,
  deploy_logs: page,
  deploy_logs_of_all: page,
  create_listener: {
    compute_type: 'k8s',
    compute_id: 'cluster-1',
    compute_config: { k8s_namespaces: ['agents'] },
  },
  patch_listener: { compute_config: { k8s_namespaces: ['agents', 'agents-staging'] } },
  claim_work: { holder: 'worker-1 (4711)', wait_seconds: 20, lease_seconds: 60 },
  report_work: {
    status: 'DEPLOYING',
    log: [{ sequence: 1, level: 'info', message: 'The image is being pulled.', at: '2026-01-31T12:00:00Z' }],
  },
  tell_runs: {
    runs: [
      {
        id: '0d9d6b4b-6a0c-4d4e-8a3a-2c7f5f0c1a22',
        thread_id: null,
        assistant_id: 'agent',
        graph_id: 'agent',
        revision_id: null,
        status: 'success',
        error: null,
        tokens: { input: 120, output: 30, total: 150 },
        ...runTimes,
        input: { messages: [] },
        output: { messages: [] },
      },
    ],
  },
  create_api_key: { name: 'CI of the support agent', scopes: ['deploy', 'agent'] },
  create_trust_policy: {
    name: 'deployments of the support agent',
    issuer: githubIssuer,
    claims: { repository_id: '1296269', repository_owner_id: '583231', ref: 'refs/heads/main' },
    scopes: ['deploy', 'agent'],
  },
  exchange_token: { token: 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL3Rva2VuLmFjdGlvbnMifQ.c2lnbmF0dXJl' },
  create_session: { code: 'the-code-of-a-sign-in-link' },
  create_agent_access: { deployment_id: '0d9d6b4b-6a0c-4d4e-8a3a-2c7f5f0c1a22' },
  patch_session: { tenant_id: '7c5ac28e-1a05-4b4b-9d4e-5b1b8d1e9f10' },
};
