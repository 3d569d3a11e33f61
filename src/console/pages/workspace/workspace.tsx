import { Page, NotFound } from '../../parts/page.tsx';
import { paths } from '../../paths.ts';
import { ApiKeys } from './api-keys.tsx';
import { AuditLog } from './audit-log.tsx';
import { Integrations } from './integrations.tsx';
import { TrustPolicies } from './trust.tsx';
import { listenersList } from '../../../contract/control/listener.ts';
import { allEntriesOf } from '../../../contract/control/pages.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Empty, WhenLoaded } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { Table } from '../../parts/table.tsx';

const sections = [
  { id: 'keys', label: 'API keys', Content: ApiKeys },
  { id: 'trust', label: 'Trust policies', Content: TrustPolicies },
  { id: 'integrations', label: 'Integrations', Content: Integrations },
  { id: 'listeners', label: 'Listeners', Content: Listeners },
  { id: 'audit', label: 'Audit log', Content: AuditLog },
] as const;

/** What belongs to the workspace rather than to one deployment. */
export default function Workspace({ section }: { section?: string }) {
  const found = section === undefined ? sections[0] : sections.find(({ id }) => id === section);
  if (!found) return <NotFound />;
  const { id: current, label, Content } = found;
  return (
    <Page
      title={`Workspace: ${label}`}
      summary={
        <nav aria-label="Workspace" class="row tabs">
          {sections.map(({ id, label }) => (
            <a key={id} href={paths.workspace(id)} aria-current={id === current ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      }
    >
      <Content />
    </Page>
  );
}

/** What runs deployments in clusters for this workspace. */
function Listeners() {
  const loaded = useLoaded(
    'listeners',
    (signal) => allEntriesOf((query) => call('GET', 'v2/listeners', listenersList, { query, signal })),
    { everyMs: 15_000 },
  );
  return (
    <WhenLoaded loaded={loaded} what="the listeners">
      {(listeners) =>
        listeners.length === 0 ? (
          <Empty title="No listeners">
            <p>
              A listener runs deployments in a Kubernetes cluster. Start one in the cluster with{' '}
              <code>landfall listener</code>; it appears here.
            </p>
          </Empty>
        ) : (
          <Table label="Listeners" columns={['Cluster', 'Namespaces', 'Version', 'Last report']}>
            {listeners.map(({ id, compute_id, compute_type, compute_config, version, last_report_at }) => (
              <tr key={id}>
                <th scope="row" class="workspace-name">
                  <Untrusted text={compute_id ?? id} longest={255} />
                  <span class="muted"> ({compute_type})</span>
                </th>
                <td>
                  <Untrusted text={compute_config?.k8s_namespaces?.join(', ') || 'Any'} longest={1_000} />
                </td>
                <td>{version == null ? <span class="muted">Unknown</span> : <Untrusted text={version} />}</td>
                <td>
                  {last_report_at == null ? <span class="muted">None yet</span> : <TimeAgo at={last_report_at} />}
                </td>
              </tr>
            ))}
          </Table>
        )
      }
    </WhenLoaded>
  );
}
