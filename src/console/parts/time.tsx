import { signal } from '@preact/signals';

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 10_000);

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const steps: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `5 min. ago`, `in 2 hr.` */
function relativeTime(at: number, from: number): string {
  const seconds = Math.round((at - from) / 1000);
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return Math.abs(seconds) < 10 ? 'now' : relative.format(seconds, 'second');
}

/** A time as its distance from now, with the exact time as its title. */
export function TimeAgo({ at }: { at: string }) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return <span>unknown</span>;
  return (
    <time dateTime={at} title={new Date(ms).toLocaleString()}>
      {relativeTime(ms, Math.max(now.value, ms <= Date.now() ? ms : 0))}
    </time>
  );
}
