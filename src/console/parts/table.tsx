import type { ComponentChildren } from 'preact';

interface TableProps {
  /** The name of the table: `Versions`. */
  label: string;
  columns: readonly ComponentChildren[];
  class?: string;
  children: ComponentChildren;
}

/** A table that scrolls sideways in its frame, also by the keyboard. */
export function Table({ label, columns, class: className = 'list-table', children }: TableProps) {
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label={label}>
      <table class={className} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A value with its name, in a list of facts. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
