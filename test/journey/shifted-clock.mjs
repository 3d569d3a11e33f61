// Moves the time of day of the process that loads it by the milliseconds in a file, as a machine's clock would jump.
// What measures by performance.now() and timers goes on as before, as it does on a real machine.
import { readFileSync } from 'node:fs';

const file = process.env.LANDFALL_SHIFT_FILE ?? globalThis.landfallShiftFile;
const RealDate = Date;
let offset = 0;
const look = () => {
  offset = Number(readFileSync(file, 'utf8'));
};
look();
setInterval(look, 20).unref();
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + offset] : args));
  }
  static now() {
    return RealDate.now() + offset;
  }
};
