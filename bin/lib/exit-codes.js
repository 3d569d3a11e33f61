// src/cli/exit-codes.ts
/** How a command ends: 0 exactly where the outcome passes, 2 where nothing was tried because what was asked is wrong. */
const exitCodes = {
	passes: 0,
	fails: 1,
	wrongUsage: 2
};
export { exitCodes as t };
