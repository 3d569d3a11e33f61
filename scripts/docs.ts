// Builds the guide, a site of static files with relative links that can be served from any path. Without a folder it
// goes where the control service serves it from.
//   npm run docs
//   npm run docs -- FOLDER
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { outputs } from '../rolldown.config.ts';
import { writeGuide } from './guide/write.ts';

const [named] = process.argv.slice(2);
const folder = resolve(named ?? join(outputs(dirname(import.meta.dirname)).cli, 'guide'));
// A folder that is named may hold other files.
if (named === undefined) await rm(folder, { recursive: true, force: true });
await writeGuide(folder);
console.log(`The guide is in ${folder}. Serve it as static files, or open /docs/guide/ of the control service.`);
