import { runLocalProgram } from './local-command.ts';

await runLocalProgram(process.argv.slice(2));
