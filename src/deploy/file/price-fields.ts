import * as z from 'zod';
import type { Prices, SmokeTest } from './smoke-test.ts';

const mostModels = 20;
const price = z.number().min(0).max(1_000_000);

/** What the deploy file says of the models that agents use. This is no input of the Action. */
export const priceFields = z.object({
  prices: z
    .record(z.string().trim().min(1).max(200), z.strictObject({ input: price, output: price }))
    .refine((prices) => Object.keys(prices).length <= mostModels, `must have at most ${mostModels} models`)
    .exactOptional(),
});

/** Each test with the prices by which the cost of its answers is counted. */
export const priced = (tests: readonly SmokeTest[], prices: Prices | undefined): readonly SmokeTest[] =>
  prices === undefined ? tests : tests.map((test) => ({ ...test, prices }));
