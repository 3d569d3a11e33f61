import { withoutControls } from '../../contract/plain-text.ts';
import type { LogLevel } from '../compute/log-line.ts';
import { outputExcerpt } from '../compute/output-excerpt.ts';
import { isDiskFullMessage } from './free-space.ts';

/** How well a line explains why a command failed. */
type Weight = 'cause' | 'context' | undefined;

/** What package managers print before their own errors and those of the scripts that they run. */
const npmPrefix = /^npm (?:error|ERR!) ?/;
const prefixes = [npmPrefix, /^error (?=\S)/, /^✘ \[ERROR\] /, /^➤ YN\d{4}: [│└┌·] ?/, /^\s*ERROR\s{1,2}(?=\S)/];

/** Lines of npm's errors that lead to the cause without being it. */
const npmContext =
  /^(?:code |errno |syscall |path |command |command failed|signal |dest |network |location |workspace |Lifecycle script|A complete log|A full report|For a full report|node -v|npm -v|$)/;

/** A line that goes on with npm's sentence, which npm wraps: neither a stack nor a line that repeats the code. */
const npmContinuation = /^npm (?:error|ERR!) (?!\d+(?:\s|$))\S/;

/** Numbers of Yarn's messages that fail an install: the others inform or warn. */
const yarnErrors = new Set([1, 9, 16, 18, 28, 35, 41, 46, 47, 56, 62, 71, 78, 81, 82, 83]);

/** Errors of compilers, of Node.js and of shells. */
const causes = [
  /^\S.*\(\d+,\d+\): error TS\d+: /,
  /^\S.*:\d+:\d+ - error TS\d+: /,
  /^error TS\d+: /,
  /^✘ \[ERROR\] /,
  /^\s*ERR_PNPM_\w+\s/,
  /^(?:Usage|Internal) Error: /,
  /^error: \S/,
  /^(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: \S/,
  /^(?:\/bin\/)?(?:sh|bash): (?:line )?\d+: .+: (?:command )?not found$/,
  /^fatal: /,
];

function weigh(line: string): Weight {
  if (npmPrefix.test(line)) {
    const said = line.replace(npmPrefix, '');
    return npmContext.test(said) ? 'context' : 'cause';
  }
  const yarn = /^➤ YN(\d{4}): /.exec(line);
  if (yarn) return yarnErrors.has(Number(yarn[1])) ? 'cause' : undefined;
  if (line.startsWith('error Command failed')) return 'context';
  if (/^error \S/.test(line) || causes.some((cause) => cause.test(line))) return 'cause';
  return /^(?:gyp ERR! |make(?:\[\d+\])?: \*\*\* |\s*ELIFECYCLE |\s*ERROR\s{1,2}\S)/.test(line) ? 'context' : undefined;
}

/** The level of a line that a command of a build prints, as far as it says so itself. */
export function levelOf(line: string, level: LogLevel): LogLevel {
  const plain = withoutControls(line);
  if (weigh(plain) !== undefined) return 'error';
  return /^(?:npm (?:warn|WARN) |warning |\s*WARN\s{1,2}\S)/.test(plain) ? 'warning' : level;
}

/**
 * Keeps what explains a failed command best: the first cause that a package manager, a compiler or Node.js names. What
 * follows is mostly its consequence.
 */
export function commandCause() {
  const excerpt = outputExcerpt();
  let first: string | undefined;
  let context: string | undefined;
  let full: string | undefined;
  let isContinued = false;
  return {
    add(line: string): void {
      if (line.trim() === '') return;
      excerpt.add('error', line);
      const plain = withoutControls(line);
      const weight = weigh(plain);
      // git names the file that it couldn't write first, and the full disk after it.
      if (isDiskFullMessage(plain)) full ??= withoutPrefix(plain);
      isContinued &&= weight === 'cause' && npmContinuation.test(plain);
      if (isContinued) first = `${first ?? ''} ${withoutPrefix(plain)}`;
      if (weight === 'cause' && first === undefined) {
        first = withoutPrefix(plain);
        isContinued = npmPrefix.test(plain);
      }
      if (weight === 'context' && !/^npm (?:error|ERR!)\s*(?:A complete log.*)?$/.test(plain)) {
        context ??= withoutPrefix(plain);
      }
    },
    cause: (): string | undefined => full ?? first ?? context ?? excerpt.cause(),
  };
}

const withoutPrefix = (line: string): string =>
  prefixes.reduce((rest, prefix) => rest.replace(prefix, ''), line.trimEnd()).trim();
