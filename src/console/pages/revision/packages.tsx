import { revisionPackages } from '../../../contract/control/revision-packages.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { shownText } from '../../parts/untrusted.tsx';
import { Table } from '../../parts/table.tsx';

interface PackagesProps {
  deploymentId: string;
  revisionId: string;
  /** They are there when the build has ended. */
  status: string;
}

/** The interpreter of graphs in Python, and the packages that the build installed; nothing for other agents. */
export function Packages({ deploymentId, revisionId, status }: PackagesProps) {
  const path = `v2/deployments/${deploymentId}/revisions/${revisionId}/packages`;
  const { data } = useLoaded(`${revisionId} ${status}`, (signal) => call('GET', path, revisionPackages, { signal }));
  if (!data || data.packages.length === 0) return null;
  const { python, packages } = data;
  const counted = `${packages.length.toLocaleString('en')} ${packages.length === 1 ? 'package' : 'packages'}`;
  return (
    <details class="panel revision-packages">
      <summary>
        <h2>{python === null ? 'Python' : `Python ${shownText(python, 100)}`}</h2> <span class="muted">{counted}</span>
      </summary>
      <Table label="Packages" columns={['Package', 'Version']}>
        {packages.map(({ name, version, address }) => (
          <tr key={name}>
            <th scope="row">{shownText(name, 200)}</th>
            <td class="mono">{shownText(version ?? address ?? '', 500)}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
