import { withoutControls, withoutFullStop } from '../../../kit/plain-text.ts';
import type { LogLevel } from '../compute/log-line.ts';
import { outputExcerpt } from '../compute/output-excerpt.ts';
import { isDiskFullMessage } from './free-space.ts';
import { pythonDetails, pythonPrefixes, unreachableIndex, weighPython, withoutMark } from './python-cause.ts';

/** How well a line explains why a command failed. `script`: npm repeats the output of a script that it ran. */
type Weight = 'cause' | 'script' | 'context' | undefined;

/** What package managers print before their own errors and those of the scripts that they run. */
const npmPrefix = /^npm (?:error|ERR!) ?/;
/** The word for the error's code with which npm begins each line of an error. */
const npmWord = /^(?:engine|notsup|notarget|enoent|JSON\.parse) (?=\S)/;
/** The prefix of newer Yarn for the output of a script. */
const yarnScript = /^➤ YN0000: │ \S+ STD(?:ERR|OUT) ?/;
const prefixes = [
  npmPrefix,
  npmWord,
  yarnScript,
  /^\s*(E[A-Z_]+)\s{1,2}(?=\1: )/,
  /^error (?=\S)/,
  /^✘ \[ERROR\] /,
  /^➤ YN\d{4}: [│└┌·] ?/,
  /^\s*ERROR\s{1,2}(?=\S)/,
  ...pythonPrefixes,
];

/** Lines of npm's errors that surround the cause. */
const npmContext =
  /^(?:code |errno |syscall |path |command |command failed|engine Unsupported engine$|signal |dest |network |location |workspace |Lifecycle script|A complete log|A full report|For a full report|node -v|npm -v|$)/;

/** A line that continues a sentence that npm has wrapped: neither a stack nor a repetition of the code. */
const npmContinuation = /^npm (?:error|ERR!) (?!\d+(?:\s|$))\S/;

/** Numbers of Yarn's messages that fail an install: the others inform or warn. */
const yarnErrors = new Set([1, 16, 18, 28, 35, 41, 46, 47, 56, 62, 71, 78, 80, 81, 82, 83]);

/** Errors of compilers, of Node.js and of shells. */
const causes = [
  /^\S.*\(\d+,\d+\): error TS\d+: /,
  /^\S.*:\d+:\d+ - error TS\d+: /,
  /^error TS\d+: /,
  /^✘ \[ERROR\] /,
  /^\s*ERR_PNPM_\w+\s/,
  // pnpm prints a system error as its code and stack. ELIFECYCLE is about a script, which has printed the cause itself.
  /^pnpm: \S/,
  /^\s(?!ERROR|ELIFECYCLE)E[A-Z_]{3,}\s{1,2}\S/,
  /^(?:Usage|Internal) Error: /,
  /^(?:\S+: )?(?:fatal )?error: \S/,
  /^(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: \S/,
  /^(?:\/bin\/)?(?:sh|bash): (?:line )?\d+: .+: (?:command )?not found$/,
  /^fatal: /,
];

function weighLine(line: string, isOfScript = false): Weight {
  if (npmPrefix.test(line)) {
    const said = line.replace(npmPrefix, '');
    if (said.startsWith('A complete log')) return 'context';
    if (isOfScript) return causes.some((cause) => cause.test(said)) ? 'cause' : 'script';
    return npmContext.test(said) ? 'context' : 'cause';
  }
  if (yarnScript.test(line)) return weighLine(line.replace(yarnScript, ''));
  const yarn = /^➤ YN(\d{4}): /.exec(line);
  if (yarn) return weighYarn(Number(yarn[1]), line.slice(yarn[0].length));
  const python = weighPython(line);
  if (python !== undefined) return python;
  if (/^error (?:Command failed|.*:$)/.test(line)) return 'context';
  if (/^error \S/.test(line) || causes.some((cause) => cause.test(line))) return 'cause';
  return /^(?:gyp ERR! |make(?:\[\d+\])?: \*\*\* |\s*ELIFECYCLE\s|\s*ERROR\s{1,2}\S)/.test(line)
    ? 'context'
    : undefined;
}

/** In a changed lock file, each line of the diff has the error's number. The cause of a failed build is printed before. */
function weighYarn(number: number, said: string): Weight {
  if (number === 9) return 'context';
  return yarnErrors.has(number) && !/^│ [+-]/.test(said) ? 'cause' : undefined;
}

/** The system's messages about a full disk. A line with the code alone may come from a test. */
const diskFull = /(?:ENOSPC|EDQUOT): |No space left on device|Disk quota exceeded/i;

/** The line with the command of a failed script: below it, npm repeats the script's output. */
const npmScript = /^npm (?:error|ERR!) command (?!failed$)/;
/** Causes that name neither a package nor a version, and the lines further down that do. */
const details: readonly [cause: RegExp, detail: RegExp][] = [
  [/^ERESOLVE /, /^(?:Found: \S|peer(?:Optional)? \S+ from \S)/],
  [/^`npm ci` can only install /, /^(?:Missing|Invalid): /],
  [/^Not compatible with /, /^(?:Required|Actual): /],
  [/^ERR_PNPM_OUTDATED_LOCKFILE/, /^\* \d+ dependencies /],
  [/^ERR_PNPM_UNSUPPORTED_ENGINE/, /^(?:Expected version|Got): /],
  ...pythonDetails,
];
const maxDetails = 2;

/** The length (characters) from which no further lines are joined to a sentence of npm. */
const maxSentenceLength = 1_000;

/** The level of a line that a build's command prints: `error` or `warning` where the line shows it. */
export function levelOf(line: string, level: LogLevel): LogLevel {
  const plain = withoutControls(line);
  if (weighLine(plain) !== undefined || weighLine(pnpmScriptLine(plain)?.text ?? '') === 'cause') return 'error';
  return /^(?:npm (?:warn|WARN) |warning |WARNING: |\s*WARN\s{1,2}\S)/.test(plain) ? 'warning' : level;
}

/** Keeps the line that explains a failed command best: the first cause, because later ones mostly follow from it. */
export function commandCause() {
  const excerpt = outputExcerpt();
  const index = unreachableIndex();
  const scripts = pnpmScripts((text) => weighLine(text) === 'cause');
  let firstCause: string | undefined;
  let context: string | undefined;
  let diskFullLine: string | undefined;
  let script: string | undefined;
  let isOfScript = false;
  let isContinued = false;
  const detailLines: string[] = [];
  return {
    add(line: string): void {
      if (line.trim() === '') return;
      const plain = withoutControls(line);
      if (!plain.startsWith('➤ YN0000: · Failed with errors')) excerpt.add('error', line);
      scripts.add(plain);
      index.add(plain);
      const weight = weighLine(plain, isOfScript);
      isOfScript ||= npmScript.test(plain);
      // git first names the file that it couldn't write, then the full disk.
      if (isDiskFullMessage(plain) && (weight !== undefined || diskFull.test(plain)))
        diskFullLine ??= withoutPrefix(plain);
      isContinued &&= weight === 'cause' && npmContinuation.test(plain) && !npmWord.test(plain.replace(npmPrefix, ''));
      isContinued &&= (firstCause?.length ?? 0) < maxSentenceLength;
      if (isContinued) firstCause = `${firstCause ?? ''} ${withoutPrefix(plain)}`;
      const said = withoutPrefix(plain);
      const isDetail = details.some(([cause, detail]) => cause.test(firstCause ?? '') && detail.test(said));
      if (isDetail && detailLines.length < maxDetails) detailLines.push(withoutMark(said));
      if (weight === 'cause' && firstCause === undefined) {
        firstCause = withoutPrefix(plain);
        isContinued = npmPrefix.test(plain) && !isOfScript;
      }
      if (weight === 'script' && !isAroundSource(plain)) script ??= withoutPrefix(plain);
      if (weight === 'context' && !/^npm (?:error|ERR!)\s*(?:A complete log.*)?$/.test(plain)) {
        context ??= withoutPrefix(plain);
      }
    },
    cause: (): string | undefined =>
      diskFullLine ??
      index.cause() ??
      withDetails(firstCause, detailLines) ??
      scripts.cause() ??
      script ??
      context ??
      excerpt.cause(),
  };
}

const withDetails = (cause: string | undefined, detailed: readonly string[]): string | undefined =>
  cause === undefined || detailed.length === 0 ? cause : [withoutFullStop(cause), ...detailed].join('. ');

/** A line that only points at the source, as Node.js prints it before an error. */
function isAroundSource(line: string): boolean {
  const said = line.replace(npmPrefix, '');
  return said.startsWith('  ') || /^ ?\^*$/.test(said) || /^[^\s:]+:\d+$/.test(said);
}

const withoutPrefix = (line: string): string =>
  prefixes.reduce((rest, prefix) => rest.replace(prefix, ''), line.trimEnd()).trim();

const scriptLine = /^(\S+) ((?:pre|post)?(?:install|prepare|prepublish|build|compile|generate)): (.*)$/;

/** A line that a package's script printed, as pnpm shows it: `apps/agent postinstall: Error: ...`. */
function pnpmScriptLine(line: string): { script: string; text: string } | undefined {
  const [, folder, script, text] = scriptLine.exec(line) ?? [];
  if (folder === undefined || script === undefined || text === undefined) return undefined;
  return folder === '.' || folder.includes('/') ? { script: `${folder} ${script}`, text } : undefined;
}

/** Keeps the line that explains the last failed script: its first cause, else its last line. */
function pnpmScripts(isCause: (text: string) => boolean) {
  const running = new Map<string, { first: string | undefined; last: string | undefined }>();
  let failed: string | undefined;
  return {
    add(line: string): void {
      const { script, text } = pnpmScriptLine(line) ?? {};
      if (script === undefined || text === undefined || text.trim() === '') return;
      const before = running.get(script);
      if (text === 'Failed') failed = before?.first ?? before?.last ?? failed;
      else running.set(script, { first: before?.first ?? (isCause(text) ? text : undefined), last: text });
    },
    cause: (): string | undefined => failed,
  };
}
