import { compareKeys, type ChangeKind } from './changes.ts';
import { JsonView } from './json-view.tsx';
import { shownText } from './untrusted.tsx';
import { Table } from './table.tsx';

interface ComparisonProps {
  /** The name of the compared value: `Input`. */
  name: string;
  left: unknown;
  right: unknown;
  /** The names of the two sides. */
  sides: readonly [string, string];
}

/** Two values side by side, key by key. A tag beside a key shows that it differs. */
export function Comparison({ name, left, right, sides }: ComparisonProps) {
  const keys = compareKeys(left, right);
  if (keys.length === 0) return <p class="muted">Both are empty.</p>;
  return (
    <>
      <Table
        label={name}
        columns={['Key', ...sides.map((side) => <bdi key={side}>{shownText(side, 80)}</bdi>)]}
        class="list-table comparison"
      >
        {keys.slice(0, maxKeys).map(({ key, kind, left: before, right: after }) => (
          <tr key={key} class={kind === 'same' ? undefined : `tone-${tones[kind]}`}>
            <th scope="row">
              <bdi class="mono">{key === '' ? 'Value' : shownText(key, 100)}</bdi>{' '}
              {kind !== 'same' && <span class="tag">{differenceText(kind, sides)}</span>}
            </th>
            <td>{kind !== 'added' && <JsonView value={before} open />}</td>
            <td>{kind !== 'removed' && <JsonView value={after} open />}</td>
          </tr>
        ))}
      </Table>
      {keys.length > maxKeys && <p class="muted">… {keys.length - maxKeys} more keys</p>}
    </>
  );
}

const differenceText = (kind: ChangeKind, [left, right]: readonly [string, string]): string =>
  kind === 'changed' ? 'different' : `only in ${shownText(kind === 'added' ? right : left, 80)}`;

const tones = { changed: 'warn', added: 'good', removed: 'bad' } as const;
const maxKeys = 200;
