const base = new URL(document.baseURI).pathname.replace(/\/$/, '');
const ofDeployment = (id: string, page = ''): string => `${base}/deployments/${id}${page}`;

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
  /** The playground of a revision that is held before traffic. */
  heldPlayground: (id: string, revisionId: string) => ofDeployment(id, `/playground?revision=${revisionId}`),
  runs: (id: string) => ofDeployment(id, '/runs'),
  compareRuns: (id: string) => ofDeployment(id, '/runs/compare'),
  run: (id: string, runId: string) => ofDeployment(id, `/runs/${runId}`),
  assistants: (id: string) => ofDeployment(id, '/assistants'),
  crons: (id: string) => ofDeployment(id, '/crons'),
  store: (id: string) => ofDeployment(id, '/store'),
  webhooks: (id: string) => ofDeployment(id, '/webhooks'),
  workspace: (section: string) => `${base}/workspace/${section}`,
};
