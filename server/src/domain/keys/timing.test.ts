import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { useHouse } from '../../../testing/house.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { toBase62 } from '../../lib/ids.ts'
import { newSecret } from './secret.ts'

/** Some ten seconds on a machine with nothing else to do, and not reliable on one that has: PARLEY_TIMING=1. */
const wanted = Boolean(process.env.PARLEY_TIMING)
const rounds = 5_000

const house = useHouse()

/** A real key with its last random character changed, and the checksum made right again. */
function nearMiss(secret: string): string {
  const head = secret.slice(0, 40) + (secret[40] === 'a' ? 'b' : 'a')
  return head + toBase62(crc32(head), 6)
}

function welch(left: number[], right: number[]): number {
  const mean = (all: number[]) => all.reduce((sum, each) => sum + each, 0) / all.length
  const error = (all: number[]) =>
    all.reduce((sum, each) => sum + (each - mean(all)) ** 2, 0) / (all.length - 1) / all.length
  return (mean(left) - mean(right)) / Math.sqrt(error(left) + error(right))
}

/** Without the slowest tenth, which are pauses of the machine and not of the code. */
const trimmed = (all: number[]) => all.toSorted((a, b) => a - b).slice(0, Math.floor(all.length * 0.9))

test.skipIf(!wanted)(
  'a key that nearly is one takes no longer than one that is not at all',
  async () => {
    const { secret } = await newWorkspace(house)
    const near = nearMiss(secret)
    const times: Record<'near' | 'far', number[]> = { near: [], far: [] }
    const far = newSecret()
    const ask = async (which: 'near' | 'far', keep: boolean) => {
      const start = performance.now()
      const answer = await fetch(`${house.url}/v1/me`, {
        headers: { authorization: `Bearer ${which === 'near' ? near : far}` },
      })
      await answer.arrayBuffer()
      if (keep) times[which].push(performance.now() - start)
      expect(answer.status).toBe(401)
    }
    for (let round = 0; round < rounds + 500; round++) {
      if (round % 200 === 0) house.clock.forward({ minutes: 1 })
      // In random order, so that whatever follows a pause is as often the one as the other.
      const order = Math.random() < 0.5 ? (['near', 'far'] as const) : (['far', 'near'] as const)
      for (const which of order) await ask(which, round >= 500)
    }
    expect(Math.abs(welch(trimmed(times.near), trimmed(times.far)))).toBeLessThan(4)
  },
  120_000,
)
