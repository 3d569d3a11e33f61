import { dirname } from 'node:path';
import { demo } from './demo.ts';

const usage =
  'npm run demo            shows the main job on this machine\nnpm run demo -- --keep  leaves everything running';

const args = process.argv.slice(2);
if (args.some((each) => each !== '--keep')) {
  const isHelp = args.every((each) => each === '--help' || each === '-h');
  console.error(isHelp ? usage : `The demo takes --keep and nothing else, not ${args.join(' ')}.\n${usage}`);
  process.exitCode = isHelp ? 0 : 2;
} else {
  process.exitCode = await demo({
    root: dirname(dirname(import.meta.dirname)),
    keepRunning: args.length > 0,
    write: (text) => void process.stdout.write(text),
  });
}
