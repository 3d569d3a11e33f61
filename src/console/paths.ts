const base = new URL(document.baseURI).pathname.replace(/\/$/, '');
const ofDeployment = (id: string, page = ''): string => `${base}/deployments/${id}${page}`;

const withQuery = (path: string, query: Record<string, string>): string => `${path}?${new URLSearchParams(query)}`;

/** The addresses of the pages. */
export const paths = {
  home: base,
  newDeployment: `${base}/new`,
  /** Where the source of a deployment is uploaded. */
  upload: (id: string) => `${base}/new?deployment=${id}`,
  deployment: (id: string) => ofDeployment(id),
  settings: (id: string) => ofDeployment(id, '/settings'),
  health: (id: string) => ofDeployment(id, '/health'),
  revision: (id: string, revisionId: string) => ofDeployment(id, `/revisions/${revisionId}`),
  playground: (id: string) => ofDeployment(id, '/playground'),
  /** A thread in the playground, or a run on it. */
  thread: (id: string, query: { thread: string; run?: string }) => withQuery(paths.playground(id), query),
  /** The playground of a revision that is held before traffic. */
  heldPlayground: (id: string, revisionId: string) => ofDeployment(id, `/playground?revision=${revisionId}`),
  runs: (id: string) => ofDeployment(id, '/runs'),
  runsOf: (id: string, filter: { assistant: string } | { thread: string }) => withQuery(paths.runs(id), filter),
  compareRuns: (id: string) => ofDeployment(id, '/runs/compare'),
  run: (id: string, runId: string) => ofDeployment(id, `/runs/${runId}`),
  assistants: (id: string) => ofDeployment(id, '/assistants'),
  assistant: (id: string, assistant: string) => withQuery(paths.assistants(id), { assistant }),
  crons: (id: string) => ofDeployment(id, '/crons'),
  store: (id: string) => ofDeployment(id, '/store'),
  webhooks: (id: string) => ofDeployment(id, '/webhooks'),
  workspace: (section: string) => `${base}/workspace/${section}`,
};
