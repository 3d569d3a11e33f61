import { runCommandLine } from './command-line.ts';
import { processStreams } from './terminal.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), processStreams);
