import type { Logger } from './logger.ts'

/** For programs that log nothing. Apart from `logger.ts`, so that the command line need not load pino: it takes long. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
