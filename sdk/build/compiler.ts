import { execFile } from 'node:child_process'
import { join } from 'node:path'

const tsc = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc')

/**
 * Compiles a project, and returns the errors. In one thread: several threads derive the same types again, and take more than
 * twice the CPU time.
 */
export const compile = (...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [tsc, '--singleThreaded', ...args], (error, stdout, stderr) =>
      resolve(error ? stdout + stderr || error.message : stdout),
    )
  })
