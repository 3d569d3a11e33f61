import { listenersList } from '../../../contract/control/listener.ts';
import { allEntriesOf } from '../../../contract/control/pages.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Empty, WhenLoaded } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { Table } from '../../parts/table.tsx';

/** What runs deployments in clusters for this workspace. */
export function Listeners() {
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
