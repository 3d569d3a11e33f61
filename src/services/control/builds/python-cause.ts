/** Weighs how well a line of pip or uv explains a failure; `command-cause.ts` weighs those of other programs. */
export function weighPython(line: string): 'cause' | 'context' | undefined {
  const [, message] = /^\s*ERROR: (\S.*)$/.exec(line) ?? [];
  if (message !== undefined) return pipContext.test(message) ? 'context' : 'cause';
  if (/^\s*error: (?:subprocess-exited-with-error|[a-z]+(?:-[a-z]+)+)$/.test(line)) return 'context';
  return failedStepHeadline.test(line) ? 'cause' : undefined;
}

/** Lines of pip that only repeat or introduce a more precise one. */
const pipContext =
  /^(?:Could not find a version that satisfies|Failed building |Could not build wheels|Failed to build |ResolutionImpossible)/;

/** The headline of a failure within pip, or of uv in older versions. */
const failedStepHeadline =
  /^\s*× (?:Building |Getting requirements |Preparing |Failed to |No solution found|Encountered error|python setup\.py )/;

export const pythonPrefixes = [/^\s*(?:ERROR: |× )(?=\S)/];

/** Messages of compilers and Python about code that could not be built. */
const compilerError =
  /^(?:\S+:\d+:\d+: (?:fatal )?error: \S|error: (?!Command '\[|subprocess-)\S|[A-Z]\w*(?:Error|Exception): \S)/;

/** Causes that name no package or reason, and the lines further down that do. */
export const pythonDetails: readonly [cause: RegExp, detail: RegExp][] = [
  [
    /^(?:Building|Getting requirements|Preparing|Encountered error|error: Failed to build|Failed to build) ?/,
    compilerError,
  ],
  [/^(?:error: )?(?:No solution found|Request failed|Failed to (?!build))/, /^(?:cause: |╰─▶ )/],
  [/^Ignored the following versions that require a different python/, /^No matching distribution found /],
  [/^Cannot install /, /^\S+(?: \S+)? depends on /],
];

/** A detail without the mark that uv begins it with. */
export const withoutMark = (detail: string): string => detail.replace(/^(?:cause: |╰─▶ )/, '');

/** The reason in Python's message about a broken connection: the innermost error. */
function reasonOf(message: string): string {
  const [errno] = /\[Errno [^\]]*\] [^'"()]+/.exec(message) ?? [];
  if (errno !== undefined) return errno;
  if (message.includes('timed out')) return 'it did not respond in time';
  return message.split(/\W/).find((word) => word.endsWith('Error')) ?? 'no reason is given';
}

/** Detects an unreachable index, which pip reports as an index without the package. */
export function unreachableIndex() {
  let reason: string | undefined;
  let foundNone = false;
  return {
    add(line: string): void {
      const [, warning] = /^\s*WARNING: Retrying .* after connection broken by (.*)$/.exec(line) ?? [];
      if (warning !== undefined) reason ??= reasonOf(warning);
      foundNone ||= /Could not find a version that satisfies .*\(from versions: none\)/.test(line);
    },
    cause: (): string | undefined =>
      reason === undefined || !foundNone ? undefined : `The package index could not be reached: ${reason}`,
  };
}
