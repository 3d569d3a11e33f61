import { shownText } from './untrusted.tsx';

/** A value as folded JSON: objects and lists open with a click, long texts are cut. */
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
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) return <div class="json">{label + (Array.isArray(value) ? '[]' : '{}')}</div>;
  return (
    <details class="json" open={open}>
      <summary>
        <span class="json-name">{label}</span>
        {count}
      </summary>
      {entries.slice(0, mostEntries).map(([key, each]) => (
        <JsonView key={key} name={key} value={each} />
      ))}
      {entries.length > mostEntries && <p>… {entries.length - mostEntries} more</p>}
    </details>
  );
}

const mostEntries = 200;
