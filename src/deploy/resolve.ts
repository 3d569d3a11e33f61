import { allEntriesOf } from '../contract/control/pages.ts';
import type { DesiredExternalDocker, DesiredGithub } from '../config/desired.ts';
import type { GithubIntegration, GithubRepository } from '../contract/control/integration.ts';
import type { Listener } from '../contract/control/listener.ts';
import { isNotOffered } from '../contract/service-error.ts';
import type { Found } from '../planning/plan-types.ts';
import { isRepositoryNamed, sameRepository, shownRepository } from '../planning/repository-url.ts';
import { attempt } from './attempt.ts';
import type { DeployRun } from './deploy-run.ts';

/** The integration that reaches the repository, if none was given. */
export async function resolveIntegration({ repoUrl }: DesiredGithub, run: DeployRun): Promise<Found | undefined> {
  if (repoUrl === undefined) return undefined;
  const { control } = run.request;
  const listed = await attempt(control.listIntegrations(run.reading()));
  if (!listed.ok) {
    if (!isNotOffered(listed.error)) throw listed.error;
    return { kind: 'none', why: 'this service does not list integrations: none is named' };
  }
  if (listed.value.length === 0) return { kind: 'none', why: 'this service has no integration: none is named' };
  const reaching: GithubIntegration[] = [];
  const unreported: GithubIntegration[] = [];
  for (const integration of listed.value) {
    const repositories = await attempt(control.listRepositories(integration.id, run.reading()));
    if (!repositories.ok && !isNotOffered(repositories.error)) throw repositories.error;
    if (!repositories.ok) unreported.push(integration);
    else if (repositories.value.some((repository) => isThere(repository, repoUrl))) reaching.push(integration);
  }
  const [first, ...others] = reaching.length > 0 ? reaching : unreported;
  if (!first)
    return { kind: 'none', why: `no integration of this service reaches ${shownRepository(repoUrl)}: none is named` };
  if (others.length > 0) return { kind: 'choices', choices: [first, ...others].map(named) };
  const why = reaching.length > 0 ? 'it reaches the repository' : 'it is the only one that may reach the repository';
  return { kind: 'one', id: first.id, why: `integration ${named(first).name} is taken: ${why}` };
}

const isThere = ({ url, owner, name }: GithubRepository, repoUrl: string) =>
  sameRepository(url, repoUrl) || isRepositoryNamed(repoUrl, owner, name);

const named = ({ id, name }: GithubIntegration) => ({ id, name: name ?? 'unnamed' });

/** The listener that can serve the namespace, if none was given. */
export async function resolveListener({ k8sNamespace }: DesiredExternalDocker, run: DeployRun): Promise<Found> {
  const listed = await attempt(allEntriesOf((page) => run.request.control.listListeners(page, run.reading())));
  if (!listed.ok) {
    if (!isNotOffered(listed.error)) throw listed.error;
    return { kind: 'none', why: 'this service does not list listeners: none is named' };
  }
  const listeners = listed.value;
  const matching = listeners.filter((listener) => serves(listener, k8sNamespace));
  const [first, ...others] = matching.length > 0 ? matching : listeners;
  if (!first) return { kind: 'none', why: 'this service has no listener: none is named' };
  if (others.length > 0) {
    return {
      kind: 'choices',
      choices: [first, ...others].map(({ id, compute_id }) => ({ id, name: compute_id ?? id })),
    };
  }
  return {
    kind: 'one',
    id: first.id,
    why: `listener ${first.compute_id ?? first.id} is taken: it is the only one that fits`,
  };
}

/** A listener that names no namespaces does not say that it is bound to some. */
function serves({ compute_config }: Listener, namespace: string | undefined): boolean {
  const namespaces = compute_config?.k8s_namespaces ?? [];
  return namespace === undefined || namespaces.length === 0 || namespaces.includes(namespace);
}
