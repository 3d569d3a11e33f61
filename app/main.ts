import { beApp } from './program.ts';
import { makeWork } from './work-of.ts';

await beApp(makeWork);
