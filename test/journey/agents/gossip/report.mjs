// Prints what a build could leak: its whole environment, and which secrets are in it.
import { existsSync, readFileSync } from 'node:fs';

console.log(process.env);
console.error(JSON.stringify(process.env));
const secrets = Object.keys(process.env).filter((name) => name.startsWith('CANARY'));
console.log(`secrets of the build: ${secrets.join(', ') || 'none'}`);
// A secret in a committed file.
if (existsSync('committed.txt')) throw new Error(`not with this: ${readFileSync('committed.txt', 'utf8')}`);
