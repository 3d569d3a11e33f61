import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Repository } from '../../../src/demo/repository.ts';
import { commitLinkScript, linkPackages } from '../../installed-packages.ts';
import type { BurstService } from './burst-service.ts';
import type { ModelGitHub, ModelRepository } from './github-model.ts';

const root = join(import.meta.dirname, '../../..');

/** How much there is to do. */
export interface BurstSize {
  pushes: number;
  /** Deployments whose revisions are made in no time. */
  instant: number;
  /** Deployments of examples/echo-agent that are really built from git and really run. */
  real: number;
  /** Pushes to each of those, of all the pushes; as many as to any other when absent. */
  pushesToReal?: number;
}

/** One deployment of the burst. */
export interface Deployed {
  name: string;
  repository: ModelRepository;
  /** The git repository of a real build. */
  git: Repository | undefined;
  deploymentId: string;
}

/** With whom deployments are made. */
export interface Parties {
  github: ModelGitHub;
  service: BurstService;
  gitFolder: string;
  repositories: Map<string, ModelRepository>;
}

/** Makes every deployment, each live at the head of its own repository. */
export async function deployAll({ instant, real }: BurstSize, parties: Parties): Promise<Deployed[]> {
  const { github, service, gitFolder, repositories } = parties;
  const made = Array.from({ length: instant + real }, async (_, at): Promise<Deployed> => {
    const name = `agent-${at + 1}`;
    const owner = `team-${at + 1}`;
    const git = at < instant ? undefined : await realRepository(join(gitFolder, name));
    const repository = github.repository(owner, name, await git?.head());
    const repoUrl = git ? git.folder : `${github.url}/${owner}/${name}`;
    repositories.set(repoUrl, repository);
    const { id } = await service.control.createDeployment({
      name,
      source: 'github',
      source_config: { repo_url: repoUrl, build_on_push: true, ...(git ? { install_command: linkPackages } : {}) },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    });
    return { name, repository, git, deploymentId: id };
  });
  const deployed = await Promise.all(made);
  await quiet(async () => {
    const live = await Promise.all(deployed.map(({ deploymentId }) => service.control.getDeployment(deploymentId)));
    return live.filter(({ active_revision_id: active }) => !active).length;
  });
  return deployed;
}

async function realRepository(folder: string): Promise<Repository> {
  const repository = await Repository.fromExample(join(root, 'examples/echo-agent'), folder);
  await commitLinkScript(repository);
  return repository;
}

/** Commits a change to a deployment with real builds. @returns the commit */
export async function changed(git: Repository, commits: number): Promise<string> {
  await writeFile(join(git.folder, 'notes.md'), `Change ${commits}\n`);
  return git.commit(`Change ${commits}`);
}

/** Waits until nothing is left. The caller bounds the time. */
export async function quiet(left: () => Promise<number>): Promise<void> {
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 250));
}
