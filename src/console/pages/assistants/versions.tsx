import { useState } from 'preact/hooks';
import type { AssistantVersion } from '../../../contract/agent/assistant.ts';
import { Badge } from '../../parts/badge.tsx';
import { Comparison } from '../../parts/comparison.tsx';
import { compareKeys } from '../../parts/changes.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/table.tsx';
import { FilterSelect } from '../../parts/field.tsx';

interface VersionsProps {
  versions: readonly AssistantVersion[];
  active: number | undefined;
  onActivate: (version: number) => void;
}

/** The versions of an assistant, newest first, and the differences between two of them. */
export function Versions({ versions, active, onActivate }: VersionsProps) {
  const [newest] = versions;
  const [chosen, setChosen] = useState<{ left?: number; right?: number }>({});
  const right = chosen.right ?? active ?? newest?.version;
  const left = chosen.left ?? versions.find(({ version }) => version !== right)?.version;
  const one = versions.find(({ version }) => version === left);
  const other = versions.find(({ version }) => version === right);
  const options = versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` }));
  return (
    <>
      <section aria-labelledby="assistant-versions" class="assistant-section">
        <h2 id="assistant-versions">Versions</h2>
        <Table label="Versions" columns={['Version', 'Name', 'Made', 'Use']}>
          {versions.map(({ version, name, created_at }) => (
            <tr key={version}>
              <th scope="row">Version {version}</th>
              <td>
                <Untrusted text={name ?? ''} longest={100} />
              </td>
              <td>
                <TimeAgo at={created_at} />
              </td>
              <td>
                {version === active ? (
                  <Badge tone="good">Active</Badge>
                ) : (
                  <Button label={`Activate version ${version}`} onClick={() => onActivate(version)}>
                    Activate
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </section>
      {one && other && (
        <section aria-labelledby="assistant-difference" class="assistant-section">
          <h2 id="assistant-difference">Difference</h2>
          <div class="row list-filters">
            <FilterSelect
              label="From"
              value={String(one.version)}
              options={options}
              onChange={(version) => setChosen({ ...chosen, left: Number(version) })}
            />
            <FilterSelect
              label="To"
              value={String(other.version)}
              options={options}
              onChange={(version) => setChosen({ ...chosen, right: Number(version) })}
            />
          </div>
          <Difference left={one} right={other} />
        </section>
      )}
    </>
  );
}

const comparedFields = [
  ['Context', 'context'],
  ['Configuration', 'config'],
  ['Metadata', 'metadata'],
] as const;

function Difference({ left, right }: { left: AssistantVersion; right: AssistantVersion }) {
  const sides = [`Version ${left.version}`, `Version ${right.version}`] as const;
  const ofVersion = ({ name, description, graph_id }: AssistantVersion) => ({ name, description, graph_id });
  const compared = [
    { name: 'Name, description and graph', left: ofVersion(left), right: ofVersion(right) },
    ...comparedFields.map(([name, field]) => ({ name, left: left[field], right: right[field] })),
  ].filter(({ left: one, right: other }) => compareKeys(one, other).some(({ kind }) => kind !== 'same'));
  if (compared.length === 0) return <p class="muted">The two versions have the same values.</p>;
  return (
    <div class="stack">
      {compared.map((each) => (
        <div key={each.name}>
          <h3>{each.name}</h3>
          <Comparison {...each} sides={sides} />
        </div>
      ))}
    </div>
  );
}
