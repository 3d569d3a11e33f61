import { useState } from 'preact/hooks';
import {
  githubIntegrations,
  githubRepositories,
  type GithubIntegration,
} from '../../../contract/control/integration.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Empty, WhenLoaded } from '../../parts/notices.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';

/** The installations of the GitHub App that this workspace may use, with their repositories. */
export function Integrations() {
  const loaded = useLoaded('integrations', (signal) =>
    call('GET', 'v1/integrations/github/install', githubIntegrations, { signal }),
  );
  return (
    <WhenLoaded loaded={loaded} what="the integrations">
      {(found) =>
        found.length > 0 ? (
          found.map((integration) => <Integration key={integration.id} integration={integration} />)
        ) : (
          <Empty title="No integrations">
            <p>
              An integration is an installation of the GitHub App. It lets deployments read private repositories. The
              operator of the service sets up the App, and assigns its installations to workspaces.
            </p>
            <p>
              Public repositories need none. Local folders need the flag <code>--allow-git</code>.
            </p>
          </Empty>
        )
      }
    </WhenLoaded>
  );
}

const maxShown = 200;

function Integration({ integration: { id, name } }: { integration: GithubIntegration }) {
  const [search, setSearch] = useState('');
  const loaded = useLoaded(id, (signal) =>
    call('GET', `v1/integrations/github/${encodeURIComponent(id)}/repos`, githubRepositories, { signal }),
  );
  const title = shownText(name ?? id, 100);
  const found = (loaded.data ?? []).filter(({ owner, name }) =>
    `${owner}/${name}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <section class="panel">
      <h2>
        <bdi>{title}</bdi>
      </h2>
      <p class="muted mono">{shownText(id, 100)}</p>
      <WhenLoaded loaded={loaded} what="the repositories">
        {(repositories) => (
          <>
            <input
              class="workspace-search"
              type="search"
              aria-label={`Search the repositories of ${title}`}
              placeholder="Search repositories"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
            <p class="muted" role="status">{`${found.length} of ${repositories.length} repositories`}</p>
            <ul class="workspace-repositories">
              {found.slice(0, maxShown).map((repository) => (
                <li key={repository.id}>
                  <Untrusted text={`${repository.owner}/${repository.name}`} longest={200} />
                  {repository.default_branch && (
                    <span class="muted">
                      {' '}
                      (<Untrusted text={repository.default_branch} longest={100} />)
                    </span>
                  )}
                </li>
              ))}
            </ul>
            {found.length > maxShown && <p class="muted">{`The first ${maxShown} are shown. Search for others.`}</p>}
          </>
        )}
      </WhenLoaded>
    </section>
  );
}
