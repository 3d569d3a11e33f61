import { refunds } from './refunds.ts';

export const graph = refunds();
