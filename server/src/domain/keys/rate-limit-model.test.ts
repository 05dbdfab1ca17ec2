import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { changeKey } from './keys.ts'
import { secondsLeft } from './rate-limit.ts'

fc.configureGlobal({ seed: 20_261_115 })

const server = useTestServer()

test('secondsLeft is a whole number from 1 to 60, rounded up', () => {
  fc.assert(
    fc.property(fc.integer({ min: -5_000, max: 65_000 }), (msLeft) => {
      const seconds = secondsLeft(msLeft)
      expect(Number.isInteger(seconds)).toBe(true)
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(60)
      // A client that waits this long returns after the window ended, and less than a second late.
      if (msLeft > 0 && msLeft <= 60_000) {
        expect(seconds * 1000).toBeGreaterThanOrEqual(msLeft)
        expect(seconds * 1000 - msLeft).toBeLessThan(1000)
      }
    }),
  )
})

type Step = { kind: 'request'; times: number } | { kind: 'wait'; ms: number } | { kind: 'change'; limit: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('request' as const), times: fc.integer({ min: 1, max: 9 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        ms: fc.oneof(fc.constantFrom(1, 999, 1000, 59_999, 60_000), fc.integer({ min: 1, max: 70_000 })),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('change' as const), limit: fc.integer({ min: 1, max: 12 }) }),
    },
  ),
  { minLength: 3, maxLength: 12 },
)

/** The rate limit as a simple reference model. */
class Model {
  limit: number
  used = 0
  opened = Number.NEGATIVE_INFINITY

  constructor(limit: number) {
    this.limit = limit
  }

  request(now: number): string {
    if (now >= this.opened + 60_000) {
      this.opened = now
      this.used = 0
    }
    const passes = this.used < this.limit
    if (passes) this.used++
    const reset = Math.ceil((this.opened + 60_000 - now) / 1000)
    return `${passes ? 200 : 429} ${this.limit} ${Math.max(0, this.limit - this.used)} ${reset}`
  }
}

test('any sequence of requests, pauses and limit changes matches the reference model', async () => {
  const workspace = await newWorkspace(server)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 12 }), steps, async (limit, sequence) => {
      const { key, secret } = await workspace.newKey({ rateLimitPerMin: limit })
      const model = new Model(limit)
      for (const step of sequence) {
        if (step.kind === 'wait') server.clock.forward({ ms: step.ms })
        else if (step.kind === 'change') {
          await changeKey(server.db, server.clock, key.id, { rateLimitPerMin: step.limit })
          model.limit = step.limit
        } else {
          const now = server.clock.now().getTime()
          const expected = Array.from({ length: step.times }, () => model.request(now))
          const actual = await Promise.all(
            expected.map(async () => {
              const { status, headers } = await server.call('/v1/me', { key: secret })
              const [limit, left, reset] = ['limit', 'remaining', 'reset'].map((each) =>
                headers.get(`ratelimit-${each}`),
              )
              return `${status} ${limit} ${left} ${reset}`
            }),
          )
          expect(actual.sort()).toEqual(expected.sort())
        }
      }
    }),
    { numRuns: 20 },
  )
})
