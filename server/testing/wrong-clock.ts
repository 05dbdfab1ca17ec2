// Preloaded into a process to make its wall clock wrong. The file in PARLEY_TEST_CLOCK_FILE contains by how many
// milliseconds the clock is ahead; SIGUSR2 reads it again. The monotonic clock stays correct, as on a real machine.
import { readFileSync } from 'node:fs'

const RealDate = Date
const file = process.env.PARLEY_TEST_CLOCK_FILE as string
const readAhead = () => Number(readFileSync(file, 'utf8'))
let aheadMs = readAhead()

class WrongDate extends RealDate {
  static override now(): number {
    return RealDate.now() + aheadMs
  }

  // biome-ignore lint/suspicious/noExplicitAny: Date has several signatures.
  constructor(...given: any[]) {
    // @ts-expect-error A rest argument for a constructor with several signatures.
    super(...(given.length === 0 ? [WrongDate.now()] : given))
  }
}

globalThis.Date = WrongDate as DateConstructor
process.on('SIGUSR2', () => {
  aheadMs = readAhead()
})
