import * as z from 'zod';

// Schemas must not be compiled: the page's policy forbids code made of text, and the browser reports each attempt.
z.config({ jitless: true });
