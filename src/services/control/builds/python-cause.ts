/** How lines of pip and uv explain a failure; as `command-cause.ts` weighs those of other programs. */
export function weighPython(line: string): 'cause' | 'context' | undefined {
  const [, said] = /^\s*ERROR: (\S.*)$/.exec(line) ?? [];
  if (said !== undefined) return pipContext.test(said) ? 'context' : 'cause';
  if (/^\s*error: (?:subprocess-exited-with-error|[a-z]+(?:-[a-z]+)+)$/.test(line)) return 'context';
  return stepThatFailed.test(line) ? 'cause' : undefined;
}

/** Lines of pip that only repeat, or lead to, one that names more. */
const pipContext =
  /^(?:Could not find a version that satisfies|Failed building |Could not build wheels|Failed to build |ResolutionImpossible)/;

/** The headline of a failure within pip, or of uv in older versions. */
const stepThatFailed =
  /^\s*× (?:Building |Getting requirements |Preparing |Failed to |No solution found|Encountered error|python setup\.py )/;

export const pythonPrefixes = [/^\s*(?:ERROR: |× )(?=\S)/];

/** What compilers and Python say of the code that could not be built. */
const ofBuild =
  /^(?:\S+:\d+:\d+: (?:fatal )?error: \S|error: (?!Command '\[|subprocess-)\S|[A-Z]\w*(?:Error|Exception): \S)/;

/** Causes that name no package or reason, and the lines further down that do. */
export const pythonDetails: readonly [cause: RegExp, detail: RegExp][] = [
  [/^(?:Building|Getting requirements|Preparing|Encountered error|error: Failed to build|Failed to build) ?/, ofBuild],
  [/^(?:error: )?(?:No solution found|Request failed|Failed to (?!build))/, /^(?:cause: |╰─▶ )/],
  [/^Ignored the following versions that require a different python/, /^No matching distribution found /],
  [/^Cannot install /, /^\S+(?: \S+)? depends on /],
];

/** A detail without the mark that uv begins it with. */
export const withoutMark = (detail: string): string => detail.replace(/^(?:cause: |╰─▶ )/, '');

/** What a message of Python about a broken connection says of the reason: the innermost error. */
function reasonOf(message: string): string {
  const [errno] = /\[Errno [^\]]*\] [^'"()]+/.exec(message) ?? [];
  if (errno !== undefined) return errno;
  if (message.includes('timed out')) return 'it did not respond in time';
  return message.split(/\W/).find((word) => word.endsWith('Error')) ?? 'no reason is given';
}

/** pip reports an index that it can't reach as one without the package: remembers why, and that there were no versions. */
export function unreachableIndex() {
  let why: string | undefined;
  let foundNone = false;
  return {
    add(line: string): void {
      const [, broken] = /^\s*WARNING: Retrying .* after connection broken by (.*)$/.exec(line) ?? [];
      if (broken !== undefined) why ??= reasonOf(broken);
      foundNone ||= /Could not find a version that satisfies .*\(from versions: none\)/.test(line);
    },
    cause: (): string | undefined =>
      why === undefined || !foundNone ? undefined : `The package index could not be reached: ${why}`,
  };
}
