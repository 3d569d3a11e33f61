import * as z from 'zod';

// A program that parses each shape once or twice, such as a step, takes less time for that than for compiling parsers.
// A page may not compile any: its Content-Security-Policy forbids eval, and the browser logs each attempt.
// Schemas read this setting when they are created, so this module is loaded before all that create some.
z.config({ jitless: true });
