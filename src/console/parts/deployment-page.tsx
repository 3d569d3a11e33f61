import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { deployment as deploymentSchema, type Deployment } from '../../contract/control/deployment.ts';
import { call, isMissing } from '../api/http.ts';
import { useLoaded } from '../api/use-loaded.ts';
import { paths } from '../paths.ts';
import { Empty, ErrorNotice, Loading } from './notices.tsx';
import { Page } from './page.tsx';

interface DeploymentPageProps {
  deploymentId: string;
  /** The page's name in the navigation, as in `deploymentPages`. */
  current: string;
  /** The name in the title of the browser's tab; by default `current`. */
  part?: string;
  actions?: (deployment: Deployment, reload: () => Promise<void>) => ComponentChildren;
  children: (deployment: Deployment, reload: () => Promise<void>) => ComponentChildren;
}

const deploymentPages = [
  ['Revisions', paths.deployment],
  ['Health', paths.health],
  ['Playground', paths.playground],
  ['Runs', paths.runs],
  ['Assistants', paths.assistants],
  ['Crons', paths.crons],
  ['Store', paths.store],
  ['Webhooks', paths.webhooks],
  ['Settings', paths.settings],
] as const;

/** A page of a deployment: its name, links to its other pages, and the content once the deployment is loaded. */
export function DeploymentPage({ deploymentId, current, part = current, actions, children }: DeploymentPageProps) {
  const { data, error, reload } = useLoaded(
    deploymentId,
    (signal) => call('GET', `v2/deployments/${deploymentId}`, deploymentSchema, { signal }),
    { everyMs: 5_000 },
  );
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => showCurrent(tabs.current), [current]);
  if (isMissing(error)) return <Gone />;
  return (
    <Page
      title={data?.name ?? 'Deployment'}
      part={part}
      actions={data && actions?.(data, reload)}
      summary={
        <nav aria-label="Deployment" class="row tabs" ref={tabs}>
          {deploymentPages.map(([name, path]) => (
            <a
              key={name}
              href={path(deploymentId)}
              data-name={name}
              aria-current={name === current ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      }
    >
      {error && <ErrorNotice error={error} retry={reload} />}
      {data ? children(data, reload) : !error && <Loading what="the deployment" />}
    </Page>
  );
}

/** The properties of a deployment page's content. */
export interface DeploymentContentProps {
  deployment: Deployment;
  deploymentId: string;
  reload: () => Promise<void>;
}

/** Creates a page of the navigation from its name and its content. */
export const deploymentPage = (current: string, Content: FunctionComponent<DeploymentContentProps>, part = current) =>
  function NavigationPage({ deploymentId }: { deploymentId: string }) {
    return (
      <DeploymentPage deploymentId={deploymentId} current={current} part={part}>
        {(deployment, reload) => <Content {...{ deployment, deploymentId, reload }} />}
      </DeploymentPage>
    );
  };

/** Scrolls tabs that are wider than the page to the current one. */
function showCurrent(tabs: HTMLElement | null): void {
  const link = tabs?.querySelector<HTMLElement>('[aria-current]');
  if (tabs && link) tabs.scrollLeft = link.offsetLeft - (tabs.clientWidth - link.offsetWidth) / 2;
}

/** A deployment that was deleted, or never was. */
function Gone() {
  return (
    <Page title="There is no such deployment">
      <Empty title="It was deleted, or the address is wrong">
        <p>
          Go to the <a href={paths.home}>deployments</a>.
        </p>
      </Empty>
    </Page>
  );
}
