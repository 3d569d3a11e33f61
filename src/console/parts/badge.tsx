import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'bad' | 'busy' | 'warn' | 'idle';

/** A state in one word, with a colour and a sign: colour alone is not accessible. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}
