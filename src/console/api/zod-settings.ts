import * as z from 'zod';

// Do not compile schemas: the Content-Security-Policy forbids eval, and the browser logs each attempt.
z.config({ jitless: true });
