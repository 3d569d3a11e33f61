import type { ComponentChildren } from 'preact';
import { shownText } from './untrusted.tsx';

export type Tone = 'good' | 'bad' | 'busy' | 'warn' | 'idle';

/** A state in one word, with a colour and a sign, because colour alone is not accessible. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}

const labels: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  pending: ['Queued', 'busy'],
  running: ['Running', 'busy'],
  success: ['Success', 'good'],
  error: ['Failed', 'bad'],
  timeout: ['Timed out', 'bad'],
  interrupted: ['Interrupted', 'warn'],
};

/** A status of a run in words, and the tone of its badge. A new one is shown as it is. */
export function runStatus(status: string): { label: string; tone: Tone } {
  const [label, tone] = labels[status] ?? [status, 'idle'];
  return { label, tone };
}

/** A status of a run as a badge. */
export function RunBadge({ status }: { status: string }) {
  const { label, tone } = runStatus(status);
  return <Badge tone={tone}>{shownText(label, 40)}</Badge>;
}
