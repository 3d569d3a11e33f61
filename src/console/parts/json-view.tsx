import { useState } from 'preact/hooks';
import { shownText } from './untrusted.tsx';

/** A value as foldable JSON. Long texts are truncated. */
export function JsonView({ value, name, open = false }: { value: unknown; name?: string; open?: boolean }) {
  const label = name === undefined ? '' : `${shownText(name, 100)}: `;
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json">
        <span class="json-name">{label}</span>
        <bdi class={`json-${typeof value}`}>{shownText(JSON.stringify(value) ?? 'undefined', 5_000)}</bdi>
      </div>
    );
  }
  return <Folded value={value} label={label} open={open} />;
}

/**
 * The entries of an object or a list. They are rendered when it is first opened, because values may be large and deep.
 */
function Folded({ value, label, open }: { value: object; label: string; open: boolean }) {
  const [wasOpened, setOpened] = useState(open);
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) {
    return (
      <div class="json">
        <span class="json-name">{label}</span>
        {Array.isArray(value) ? '[]' : '{}'}
      </div>
    );
  }
  return (
    <details class="json" open={open} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>
        <span class="json-name">{label}</span>
        {count}
      </summary>
      {wasOpened && entries.slice(0, maxEntries).map(([key, each]) => <JsonView key={key} name={key} value={each} />)}
      {wasOpened && entries.length > maxEntries && <p>… {entries.length - maxEntries} more</p>}
    </details>
  );
}

const maxEntries = 200;
