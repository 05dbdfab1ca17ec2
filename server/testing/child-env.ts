import { join } from 'node:path'

/** What a process that a test starts inherits: little, so that the test says what it is set to. */
export const childEnv = {
  PATH: process.env.PATH ?? '',
  /** As `npm start` has it: a start takes half the time. */
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'parley'),
}
