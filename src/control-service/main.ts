import { beLocal } from './local-program.ts';

await beLocal(process.argv.slice(2));
