/** A duration (ms) in words for people: `340 ms`, `2.4 s`, `41 s`, `3 min 5 s`. */
export function inWords(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ''}`;
}
