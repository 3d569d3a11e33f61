import { beLocal } from './local-command.ts';

await beLocal(process.argv.slice(2));
