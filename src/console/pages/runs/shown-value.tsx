import { JsonView } from '../../parts/json-view.tsx';

/** A value of a run, or why it is absent. */
export function ShownValue({ value, absent }: { value: unknown; absent: string }) {
  return value == null ? <p class="muted">{absent}</p> : <JsonView value={value} open />;
}
