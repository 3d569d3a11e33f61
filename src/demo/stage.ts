import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeEmbeddedData } from '../database/remove-embedded.ts';
import { startLocalService, type LocalService } from './local-service.ts';
import { Repository } from './repository.ts';
import { runStep, type StepResult } from './runner.ts';

/** The repository that the demo's person owns, as GitHub would name it. */
const owner = 'acme';

/** Everything that the demo stands on: folders of its own, both services, a repository, and a runner. */
export interface Stage {
  service: LocalService;
  repository: Repository;
  repoUrl: string;
  folder: string;
  /** Runs the Action on the repository's newest commit, as its workflow would. */
  deploy(commit: string, inputs: Readonly<Record<string, string>>, onLine: (line: string) => void): Promise<StepResult>;
  /** The revisions of a deployment, as the control service lists them, newest first. */
  revisionsOf(deploymentId: string): Promise<string[]>;
  /** Ends the services and removes every folder. */
  clear(): Promise<void>;
}

/** @param root of this package: where `dist` and `examples` are. */
export async function setStage(root: string, example: string): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-demo-'));
  const git = join(folder, 'git');
  const data = join(folder, 'data');
  await mkdir(git);
  try {
    const repository = await Repository.ofExample(join(root, 'examples', example), join(git, owner, example));
    const service = await startLocalService({ root, data, allowGit: git });
    const repoUrl = pathToFileURL(repository.folder).href;
    return {
      service,
      repository,
      repoUrl,
      folder,
      deploy: (commit, inputs, onLine) =>
        runStep({
          main: join(root, 'dist', 'index.js'),
          workspace: repository.folder,
          onLine,
          inputs: {
            'base-url': service.url,
            'api-key': service.apiKey,
            'repo-url': repoUrl,
            'poll-seconds': '0.5',
            'timeout-minutes': '5',
            ...inputs,
          },
          github: {
            GITHUB_SERVER_URL: pathToFileURL(git).href,
            GITHUB_REPOSITORY: `${owner}/${example}`,
            GITHUB_REF: 'refs/heads/main',
            GITHUB_SHA: commit,
            GITHUB_EVENT_NAME: 'push',
            GITHUB_ACTOR: 'demo',
          },
        }),
      revisionsOf: (deploymentId) => revisionsOf(service, deploymentId),
      async clear() {
        await service.stop();
        // As root the database lies elsewhere, where nobody would find it.
        await removeEmbeddedData({ dataDir: join(data, 'postgres'), log: () => undefined });
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function revisionsOf({ url, apiKey }: LocalService, deploymentId: string): Promise<string[]> {
  const response = await fetch(`${url}/v2/deployments/${deploymentId}/revisions?limit=100`, {
    headers: { 'x-api-key': apiKey },
  });
  const body: unknown = await response.json();
  const resources = typeof body === 'object' && body !== null && 'resources' in body ? body.resources : [];
  return (Array.isArray(resources) ? resources : []).map((revision: unknown) =>
    typeof revision === 'object' && revision !== null && 'id' in revision ? String(revision.id) : '',
  );
}
