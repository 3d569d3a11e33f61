/**
 * A write of a run that is not this process's any more was refused. The engine looks at a step's writes once the step is
 * over: until then such a failure seems to be one that nobody takes.
 */
export class NotKept extends Error {
  override name = 'NotKept';
}
