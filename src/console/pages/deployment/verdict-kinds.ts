/** A verdict in words, with the tone of its badge. */
interface VerdictKind {
  label: string;
  tone: 'good' | 'bad' | 'warn' | 'idle';
}

const kinds: ReadonlyMap<string, VerdictKind> = new Map<string, VerdictKind>([
  ['passed', { label: 'Passed', tone: 'good' }],
  ['failed', { label: 'Failed', tone: 'bad' }],
  ['unproven', { label: 'Not proven', tone: 'warn' }],
]);

/** The kind of a verdict; a new one is shown as it is. */
export const kindOf = (kind: string): VerdictKind => kinds.get(kind) ?? { label: kind, tone: 'idle' };
