// The time that a provider asks to wait, as its messages say it.

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `1m30.5s`, `250ms`, `20s` */
const spans = /(\d{1,20}(?:\.\d{1,20})?)(ms|h|m|s)/g;
const written: readonly RegExp[] = [
  /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i,
  /["']?retryDelay["']?: ?["'](\d+(?:\.\d+)?s)["']/,
];
const seconds: readonly RegExp[] = [
  /["']?retry-after["']?[:=]? ?["']?(\d+(?:\.\d+)?)/i,
  /\b(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?sec/i,
];

/** The first waiting time in a message (ms); undefined where it says none. */
export function waitIn(message: string): number | undefined {
  for (const pattern of written) {
    const found = pattern.exec(message)?.[1];
    if (found === undefined) continue;
    const sum = [...found.matchAll(spans)].reduce(
      (ms, [, count, unit]) => ms + Number(count) * (units[unit ?? ''] ?? 0),
      0,
    );
    return Math.ceil(sum);
  }
  const found = seconds.flatMap((pattern) => pattern.exec(message)?.[1] ?? [])[0];
  return found === undefined ? undefined : Math.ceil(Number(found) * 1_000);
}
