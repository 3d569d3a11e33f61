import { runCommandLine } from './command-line.ts';
import { processStreams } from './terminal.ts';

// The reader of a pipe may close it, as `head` does. That changes neither a run nor its exit code, but a command that
// only goes on printing ends.
const closed = new AbortController();
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout) closed.abort();
  });
}
process.exitCode = await runCommandLine(process.argv.slice(2), {
  ...processStreams,
  closed: closed.signal,
});
