import type { Draft } from './request.ts';
import type { Choice } from '../../parts/field.tsx';
import * as z from 'zod';
import {
  githubBranch,
  githubIntegrations,
  githubRepositories,
  type GithubBranch,
} from '../../../contract/control/integration.ts';
import { listenersList } from '../../../contract/control/listener.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { shownText } from '../../parts/untrusted.tsx';

/**
 * The values to choose from for the fields of a draft, by path. If they can't be loaded, for example because GitHub is
 * down, the field accepts free text.
 */
export function useChoices({ sourceKind, values }: Draft): Readonly<Record<string, readonly Choice[] | undefined>> {
  const integrationId = values['source_config.integration_id'] ?? '';
  const repoUrl = values['source_config.repo_url'] ?? '';
  const integrations = useLoaded(`integrations ${sourceKind === 'repository'}`, async (signal) =>
    sourceKind === 'repository' ? call('GET', 'v1/integrations/github/install', githubIntegrations, { signal }) : [],
  );
  const repositories = useLoaded(`repositories ${integrationId}`, async (signal) => {
    if (integrationId === '') return [];
    const path = `v1/integrations/github/${encodeURIComponent(integrationId)}/repos`;
    return call('GET', path, githubRepositories, { signal });
  });
  const listeners = useLoaded(`listeners ${sourceKind === 'image'}`, async (signal) =>
    sourceKind === 'image'
      ? (await call('GET', 'v2/listeners', listenersList, { query: { limit: 100 }, signal })).resources
      : [],
  );
  const repository = repositories.data?.find(({ url }) => url === repoUrl);
  const { owner = '', name = '', default_branch: defaultBranch } = repository ?? {};
  const branches = useLoaded(`branches ${integrationId} ${owner}/${name}`, async (signal) => {
    if (name === '') return [];
    const path = [integrationId, 'repos', owner, name, 'branches'].map(encodeURIComponent).join('/');
    return call('GET', `v1/integrations/github/${path}`, z.array(githubBranch), { signal });
  });
  const branchNames = new Set([...(defaultBranch ? [defaultBranch] : []), ...(branches.data ?? []).map(nameOf)]);
  return {
    'source_config.integration_id': [
      { value: '', label: integrations.error ? 'None (the list could not be loaded)' : 'None' },
      ...(integrations.data ?? []).map(({ id, name }) => ({ value: id, label: shownText(name ?? id, 100) })),
    ],
    'source_config.repo_url': repositories.data?.map(({ url, owner, name }) => ({
      value: url,
      label: shownText(`${owner}/${name}`, 200),
    })),
    'source_revision_config.repo_ref': [...branchNames].map((value) => ({
      value,
      label: value === defaultBranch ? 'The default branch' : '',
    })),
    'source_config.listener_id': [
      { value: '', label: listeners.error ? 'None (the list could not be loaded)' : 'None: this service runs it' },
      ...(listeners.data ?? []).map(({ id, compute_id, compute_type }) => ({
        value: id,
        label: shownText(`${compute_id ?? id} (${compute_type})`, 200),
      })),
    ],
  };
}

const nameOf = ({ name }: GithubBranch): string => name;
