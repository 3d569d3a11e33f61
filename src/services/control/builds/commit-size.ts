import type { CommandEnd, CommandSpec } from './run-command.ts';
import { maxPathLength, defaultTarBounds } from './tar-entries.ts';

/**
 * A script that reads git's list of a commit's entries and stops at the first one beyond the limits: a few trees that
 * reference each other can expand to millions of files. Prints the exceeded limit; exits with 3 where git fails.
 */
const countScript = `
const [entries, bytes, longest] = process.argv.slice(1).map(Number);
let [rest, seen, size] = ['', 0, 0];
const end = (exceeded) => { console.log(exceeded); process.exit(0); };
// git quotes a path that holds odd bytes, and writes each of these as an escape.
const pathOf = (line) => {
  const path = line.slice(line.indexOf('\\t') + 1);
  return path[0] === '"' ? path.slice(1, -1).replace(/\\\\([0-7]{3}|.)/g, 'x') : path;
};
process.stdin.setEncoding('latin1').on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    if (line === 'failed') process.exit(3);
    seen += 1;
    size += parseInt(line.slice(0, 100).split(/ +/)[3]) || 0;
    if (seen > entries) end('entries');
    if (size > bytes) end('bytes');
    if (pathOf(line).length > longest) end('path');
  }
  if (rest.length > 20000) end('path');
});`;
const countCommand = '{ git ls-tree -r -t -l "$1" || echo failed; } | "$2" -e "$3" "$4" "$5" "$6"';

/** Checks a commit against the limits of a tarball, by a command in its repository, before it is checked out. */
export async function commitSize(
  commit: string,
  run: (spec: Pick<CommandSpec, 'command' | 'args'>) => Promise<CommandEnd>,
): Promise<CommandEnd | { kind: 'exceeds'; reason: string }> {
  const { entries, unpackedBytes } = defaultTarBounds;
  const limits = [entries, unpackedBytes, maxPathLength].map(String);
  const args = ['-c', countCommand, 'sh', commit, process.execPath, countScript, ...limits];
  const end = await run({ command: '/bin/sh', args });
  if (end.kind !== 'done') return end;
  const bounds: Readonly<Record<string, string>> = {
    entries: `more than ${entries} files and folders`,
    bytes: `more than ${unpackedBytes} bytes`,
    path: 'a path that is too long',
  };
  // The output may include warnings of git and Node.js.
  const excess = end.output.map((line) => bounds[line]).find((found) => found !== undefined);
  if (excess === undefined) return end;
  const reason = `Commit ${commit} holds ${excess}, so it is not checked out. Remove from the repository what the agent does not need, then deploy again.`;
  return { kind: 'exceeds', reason };
}
