import { runCommandLine } from './command-line.ts';
import { processStreams } from './terminal.ts';

// Whoever reads along may stop reading, as `head` does; that ends neither the story nor its exit code.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await runCommandLine(process.argv.slice(2), processStreams);
