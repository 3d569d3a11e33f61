import { runCommandLine } from './command-line.ts';
import { processStreams } from './terminal.ts';

// The reader of a pipe may close it, as `head` does. That must change neither the run nor its exit code.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await runCommandLine(process.argv.slice(2), processStreams);
