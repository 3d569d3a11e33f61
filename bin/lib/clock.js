// src/clock.ts
/** The machine's own time. A sleeping clock keeps the process alive. */
const systemClock = {
	now: () => Date.now(),
	sleep: (ms, signal) => new Promise((resolve, reject) => {
		if (signal?.aborted) {
			reject(signal.reason);
			return;
		}
		const wake = () => {
			signal?.removeEventListener("abort", stop);
			resolve();
		};
		const timer = setTimeout(wake, ms);
		const stop = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		signal?.addEventListener("abort", stop, { once: true });
	})
};
export { systemClock as t };
