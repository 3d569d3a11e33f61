import { Webhooks } from '@octokit/webhooks';
import { silentLogger } from '../../../src/kit/logger.ts';
import { listen } from '../../../app/server/http-server.ts';
import { verifySignature, webhookRoutes } from '../../../app/server/webhook-route.ts';
import { systemClock } from '../../../src/kit/clock.ts';

// A process that takes webhooks and reports its peak memory growth: { port }, then { grown, stored }.
let stored = 0;
const server = await listen({
  host: '127.0.0.1',
  port: 0,
  clock: systemClock,
  log: silentLogger,
  routes: webhookRoutes({
    verify: verifySignature([new Webhooks({ secret: 'a-secret-of-our-own-0123456789' })]),
    store: async () => {
      stored += 1;
      return 'stored';
    },
    clock: systemClock,
    log: silentLogger,
  }),
});
const before = process.memoryUsage().rss;
let most = before;
setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss);
}, 5);
process.on('message', () => process.send?.({ grown: most - before, stored }));
process.send?.({ port: server.port });
