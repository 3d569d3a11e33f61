import type { Tone } from './badge.tsx';

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
