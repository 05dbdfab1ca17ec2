// Preloaded into a process whose clock is to be wrong: its wall clock is so many milliseconds ahead as the file named by
// PARLEY_TEST_CLOCK_FILE says, read anew on SIGUSR2. The monotonic clock is right, as it is on a real machine.
import { readFileSync } from 'node:fs'

const RealDate = Date
const file = process.env.PARLEY_TEST_CLOCK_FILE as string
const readAhead = () => Number(readFileSync(file, 'utf8'))
let aheadMs = readAhead()

class WrongDate extends RealDate {
  static override now(): number {
    return RealDate.now() + aheadMs
  }

  // biome-ignore lint/suspicious/noExplicitAny: as many kinds of arguments as Date itself takes.
  constructor(...given: any[]) {
    // @ts-expect-error A rest argument for a constructor with several signatures.
    super(...(given.length === 0 ? [WrongDate.now()] : given))
  }
}

globalThis.Date = WrongDate as DateConstructor
process.on('SIGUSR2', () => {
  aheadMs = readAhead()
})
