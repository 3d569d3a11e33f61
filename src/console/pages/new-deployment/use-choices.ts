import type { Draft } from './request.ts';
import type { Choice } from './fields.tsx';
import { githubIntegrations, githubRepositories } from '../../../contract/control/integration.ts';
import { listenersList } from '../../../contract/control/listener.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { shownText } from '../../parts/untrusted.tsx';

/**
 * What may be chosen for the fields of a draft, by their paths. What can't be loaded (GitHub is away) leaves a field that
 * can be filled by hand.
 */
export function useChoices({ way, values }: Draft): Readonly<Record<string, readonly Choice[] | undefined>> {
  const integrationId = values['source_config.integration_id'] ?? '';
  const repoUrl = values['source_config.repo_url'] ?? '';
  const integrations = useLoaded(`integrations ${way === 'repository'}`, async (signal) =>
    way === 'repository' ? call('GET', 'v1/integrations/github/install', githubIntegrations, { signal }) : [],
  );
  const repositories = useLoaded(`repositories ${integrationId}`, async (signal) => {
    if (integrationId === '') return [];
    const path = `v1/integrations/github/${encodeURIComponent(integrationId)}/repos`;
    return call('GET', path, githubRepositories, { signal });
  });
  const listeners = useLoaded(`listeners ${way === 'image'}`, async (signal) =>
    way === 'image'
      ? (await call('GET', 'v2/listeners', listenersList, { query: { limit: 100 }, signal })).resources
      : [],
  );
  const branch = repositories.data?.find(({ url }) => url === repoUrl)?.default_branch;
  return {
    'source_config.integration_id': [
      { value: '', label: integrations.error ? 'None (the list could not be loaded)' : 'None' },
      ...(integrations.data ?? []).map(({ id, name }) => ({ value: id, label: shownText(name ?? id, 100) })),
    ],
    'source_config.repo_url': repositories.data?.map(({ url, owner, name }) => ({
      value: url,
      label: shownText(`${owner}/${name}`, 200),
    })),
    'source_revision_config.repo_ref': branch ? [{ value: branch, label: 'The default branch' }] : undefined,
    'source_config.listener_id': [
      { value: '', label: listeners.error ? 'None (the list could not be loaded)' : 'None: this service runs it' },
      ...(listeners.data ?? []).map(({ id, compute_id, compute_type }) => ({
        value: id,
        label: shownText(`${compute_id ?? id} (${compute_type})`, 200),
      })),
    ],
  };
}
