import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { demo } from './demo.ts';

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
process.exitCode = await demo({
  root: dirname(dirname(import.meta.dirname)),
  keep: values.keep,
  write: (text) => void process.stdout.write(text),
});
