import { LocationProvider, Route, Router, lazy, useLocation } from 'preact-iso';
import { useEffect, useRef, useErrorBoundary } from 'preact/hooks';
import { session } from './api/session-state.ts';
import { paths } from './paths.ts';
import { Layout } from './parts/layout.tsx';
import { announce, Toasts } from './parts/toasts.tsx';
import { shownText } from './parts/untrusted.tsx';
import { Deployments } from './pages/deployments/deployments.tsx';
import { NotFound, Page } from './parts/page.tsx';
import { SignIn } from './pages/sign-in.tsx';
import type { ComponentChildren, ComponentType } from 'preact';
import { Button } from './parts/button.tsx';

/** A page that is loaded when it is opened, or an error message if that fails. */
const lazyPage = <Props,>(load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy<ComponentType<Props>>(() =>
    load().catch((reason: unknown) => {
      console.error(reason);
      return { default: isFetchFailure(reason) ? NotLoaded : Failed };
    }),
  );

// The first view is the list; every other page is loaded when it is opened.
const NewDeployment = lazyPage(() => import('./pages/new-deployment/new-deployment.tsx'));
const Deployment = lazyPage(() => import('./pages/deployment/deployment.tsx'));
const Settings = lazyPage(() => import('./pages/settings/settings.tsx'));
const Health = lazyPage(() => import('./pages/health/health.tsx'));
const Revision = lazyPage(() => import('./pages/revision/revision.tsx'));
const Playground = lazyPage(() => import('./pages/playground/playground.tsx'));
const Runs = lazyPage(() => import('./pages/runs/runs.tsx'));
const Run = lazyPage(() => import('./pages/runs/run.tsx'));
const CompareRuns = lazyPage(() => import('./pages/runs/compare-runs.tsx'));
const Assistants = lazyPage(() => import('./pages/assistants/assistants.tsx'));
const Crons = lazyPage(() => import('./pages/crons/crons.tsx'));
const Store = lazyPage(() => import('./pages/store/store.tsx'));
const Webhooks = lazyPage(() => import('./pages/webhooks/webhooks.tsx'));
const Workspace = lazyPage(() => import('./pages/workspace/workspace.tsx'));

/** The whole console: the sign-in page, or the pages of the workspace. */
export function App() {
  useWorkspaceAnnouncement();
  return (
    <LocationProvider scope={paths.home}>
      {session.value === undefined ? (
        <SignIn />
      ) : (
        // Remount everything, so that no data of the previous workspace stays.
        <Layout key={session.value.tenant_id}>
          <PageBoundary>
            <Router onRouteChange={focusContent}>
              <Route path={paths.home} component={Deployments} />
              <Route path={paths.newDeployment} component={NewDeployment} />
              <Route path={paths.deployment(':deploymentId')} component={Deployment} />
              <Route path={paths.settings(':deploymentId')} component={Settings} />
              <Route path={paths.health(':deploymentId')} component={Health} />
              <Route path={paths.revision(':deploymentId', ':revisionId')} component={Revision} />
              <Route path={paths.playground(':deploymentId')} component={Playground} />
              <Route path={paths.runs(':deploymentId')} component={Runs} />
              <Route path={paths.compareRuns(':deploymentId')} component={CompareRuns} />
              <Route path={paths.run(':deploymentId', ':runId')} component={Run} />
              <Route path={paths.assistants(':deploymentId')} component={Assistants} />
              <Route path={paths.crons(':deploymentId')} component={Crons} />
              <Route path={paths.store(':deploymentId')} component={Store} />
              <Route path={paths.webhooks(':deploymentId')} component={Webhooks} />
              <Route path={paths.workspace(':section?')} component={Workspace} />
              <Route default component={NotFound} />
            </Router>
          </PageBoundary>
        </Layout>
      )}
      <Toasts />
    </LocationProvider>
  );
}

/** Moves the focus, which was lost with the previous page, so that screen readers read the new one from its start. */
const focusContent = (): void => document.getElementById('content')?.focus({ preventScroll: true });

/** Announces a change of the workspace: another tab may have made it. */
function useWorkspaceAnnouncement(): void {
  const { tenant_id: id, tenants = [] } = session.value ?? {};
  const previousId = useRef(id);
  useEffect(() => {
    if (id !== undefined && previousId.current !== undefined && id !== previousId.current) {
      const name = tenants.find((each) => each.id === id)?.name ?? '';
      announce(`This page shows the workspace ${shownText(name, 100)} now.`);
    }
    previousId.current = id ?? previousId.current;
  }, [id]);
}

/** Whether a module could not be fetched, by the messages of all browsers; otherwise it contains an error. */
const isFetchFailure = (reason: unknown): boolean =>
  reason instanceof TypeError && /\b(fetch|load|import)\w*\b.*\bmodule\b/i.test(reason.message);

const NotLoaded = () => (
  <FailurePage title="This page could not be loaded">
    The service cannot be reached, or it was updated since you opened the console. Load the console again.
  </FailurePage>
);

const Failed = () => (
  <FailurePage title="This page has failed">
    The console hit an error. Your saved data is safe. Reload the page.
  </FailurePage>
);

/** Browsers cache the failure of a module, so only reloading the whole page helps. */
function FailurePage({ title, children }: { title: string; children: string }) {
  return (
    <Page title={title}>
      <div class="notice row row-split tone-bad" role="alert">
        <p>{children}</p>
        <Button onClick={() => location.reload()}>Load again</Button>
      </div>
    </Page>
  );
}

/** Shows a message instead of a page that throws, until another page is opened. */
function PageBoundary({ children }: { children: ComponentChildren }) {
  const { url } = useLocation();
  const [error, reset] = useErrorBoundary((reason: unknown) => console.error(reason));
  useEffect(() => {
    if (error !== undefined) reset();
  }, [url]);
  return error === undefined ? children : <Failed />;
}
