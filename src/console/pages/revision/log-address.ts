import type { LogKind } from './use-log.ts';

/** The logs of a revision, with their names in the address of its page. */
export const logKinds: readonly { kind: LogKind; label: string; inAddress: string }[] = [
  { kind: 'build', label: 'Build log', inAddress: 'build' },
  { kind: 'deploy', label: 'Agent log', inAddress: 'agent' },
];

/** The log that the address names: that which the reader chose, on this page or with a link. */
export const kindInAddress = (): LogKind | undefined => {
  const word = new URLSearchParams(location.search).get('log');
  return logKinds.find(({ inAddress }) => inAddress === word)?.kind;
};

/** The id of the line that the address names. */
export const lineInAddress = (): string | undefined => /^#L(\d+)$/.exec(location.hash)?.[1];

/** The path to a log, or to a line of it: a line is in one log only, so a link to it names the log. */
export function logAddress(kind: LogKind, lineId?: string): string {
  const word = logKinds.find((each) => each.kind === kind)?.inAddress ?? '';
  return `${location.pathname}?log=${word}${lineId === undefined ? '' : `#L${lineId}`}`;
}
