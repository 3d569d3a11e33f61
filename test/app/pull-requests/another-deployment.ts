import type { Deployment } from '../../../src/contract/control/deployment.ts';

/** A deployment of another repository. */
export const another = (like: Deployment, id: string, name: string): Deployment => ({
  ...like,
  id,
  name,
  source_config: { ...like.source_config, repo_url: 'https://github.com/other/agent' },
});
