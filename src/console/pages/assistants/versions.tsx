import { useState } from 'preact/hooks';
import type { AssistantVersion } from '../../../contract/agent/assistant.ts';
import { Badge } from '../../parts/badge.tsx';
import { Comparison } from '../../parts/comparison.tsx';
import { compareKeys } from '../../parts/changes.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { Button } from '../../parts/button.tsx';

interface VersionsProps {
  versions: readonly AssistantVersion[];
  active: number | undefined;
  onActivate: (version: number) => void;
}

/** The versions of an assistant, newest first, and what differs between two of them. */
export function Versions({ versions, active, onActivate }: VersionsProps) {
  const [newest] = versions;
  const [chosen, setChosen] = useState<{ left?: number; right?: number }>({});
  const right = chosen.right ?? active ?? newest?.version;
  const left = chosen.left ?? versions.find(({ version }) => version !== right)?.version;
  const one = versions.find(({ version }) => version === left);
  const other = versions.find(({ version }) => version === right);
  return (
    <>
      <section aria-labelledby="assistant-versions" class="assistant-section">
        <h2 id="assistant-versions">Versions</h2>
        <div class="table-frame" tabIndex={0} role="group" aria-label="Versions">
          <table class="list-table" aria-labelledby="assistant-versions">
            <thead>
              <tr>
                <th scope="col">Version</th>
                <th scope="col">Name</th>
                <th scope="col">Made</th>
                <th scope="col">Use</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        </div>
      </section>
      {one && other && (
        <section aria-labelledby="assistant-difference" class="assistant-section">
          <h2 id="assistant-difference">Difference</h2>
          <div class="list-filters">
            <VersionChoice
              label="From"
              versions={versions}
              value={one.version}
              onChange={(version) => setChosen({ ...chosen, left: version })}
            />
            <VersionChoice
              label="To"
              versions={versions}
              value={other.version}
              onChange={(version) => setChosen({ ...chosen, right: version })}
            />
          </div>
          <Difference left={one} right={other} />
        </section>
      )}
    </>
  );
}

interface VersionChoiceProps {
  label: string;
  versions: readonly AssistantVersion[];
  value: number;
  onChange: (version: number) => void;
}

function VersionChoice({ label, versions, value, onChange }: VersionChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {versions.map(({ version }) => (
          <option key={version} value={version}>
            Version {version}
          </option>
        ))}
      </select>
    </label>
  );
}

const parts = [
  ['Context', 'context'],
  ['Configuration', 'config'],
  ['Metadata', 'metadata'],
] as const;

function Difference({ left, right }: { left: AssistantVersion; right: AssistantVersion }) {
  const sides = [`Version ${left.version}`, `Version ${right.version}`] as const;
  const ofVersion = ({ name, description, graph_id }: AssistantVersion) => ({ name, description, graph_id });
  const compared = [
    { name: 'Name, description and graph', left: ofVersion(left), right: ofVersion(right) },
    ...parts.map(([name, field]) => ({ name, left: left[field], right: right[field] })),
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
