import { interval, percent } from '../../../kit/statistics/sequential-test.ts';

/** A duration (ms) in words: `340 ms`, `2.4 s`, `41 s`, `3 min 5 s`. */
export function durationText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ''}`;
}

/** A count in words: `1 answer`, `2 answers`. */
export const counted = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

/** Answers that were counted, and how many of them were right. */
export interface RightAnswers {
  right: number;
  answers: number;
}

/** The share of right answers with its likely range: `93.3 % (78.7 to 98.2 %)`. */
export function rateText({ right, answers }: RightAnswers): string {
  if (answers === 0) return '';
  const { low, high } = interval(right, answers);
  return `${percent(right / answers)} (${percent(low).replace(' %', '')} to ${percent(high)})`;
}

/** A number with its sign: `+3`. */
export const signed = (value: number): string => (value > 0 ? `+${value}` : String(value));
