import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { text, webhookOf } from '../../../server/testing/network-app.ts'
import { newWamid, postBody } from '../lib/network-posts.ts'
import { openPostgres } from '../lib/postgres.ts'
import type { Scenario } from '../lib/scenario.ts'
import { openShop, secondsUntil } from '../lib/shop.ts'

const seconds = 30
const clients = 32
/** A client that gets no response leaves after this time, and posts the next webhook. */
const patienceMs = 2_000
/** The bodies of a process may take 64 MiB. Each is in memory up to three times: as bytes, as objects and as a statement. */
const growthMaxMb = 400

/** PostgreSQL is stopped with SIGSTOP while webhooks of 4 MB keep coming. */
export const scenario: Scenario = {
  name: 'postgres-frozen-4mb',
  wanted: `memory grows by at most ${growthMaxMb} MB, 503 with Retry-After, 200 afterwards`,
  async run(say) {
    const postgres = await openPostgres()
    const shop = await openShop(postgres.connection)
    const { url, child } = await shop.start()
    const bodies = Array.from({ length: 8 }, () => bodyOfFourMegabytes(shop.phoneNumberId))
    const post = (n: number, timeoutMs: number) => postBody(shop.app, url, bodies[n % bodies.length] ?? '', timeoutMs)
    await secondsUntil(async () => (await post(0, 20_000)).status === 200)
    const before = memoryMb(child.pid)
    const resume = postgres.freeze()
    const counts: Record<string, number> = {}
    let withoutRetryAfter = 0
    const end = performance.now() + seconds * 1000
    let posted = 0
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (performance.now() < end) {
          const { status, retryAfter } = await post(++posted, patienceMs)
          counts[status] = (counts[status] ?? 0) + 1
          if (status === 503 && retryAfter === null) withoutRetryAfter++
          if (status !== 0) await sleep(patienceMs / 4)
        }
      }),
    )
    const growth = memoryMb(child.pid, 'VmHWM') - before
    resume()
    const back = await secondsUntil(async () => (await post(0, 20_000)).status === 200)
    say(
      `statuses ${JSON.stringify(counts)} (0: no response within ${patienceMs / 1000} s), 200 again after ${back.toFixed(1)} s`,
    )
    child.kill('SIGKILL')
    await shop.close()
    await postgres.close()
    return {
      figure: `from ${before.toFixed(0)} MB by ${growth.toFixed(0)} MB; ${counts[503] ?? 0} of ${posted} got 503, ${withoutRetryAfter} without Retry-After; 200 after ${back.toFixed(1)} s`,
      ok: growth <= growthMaxMb && (counts[503] ?? 0) > 0 && withoutRetryAfter === 0 && back < 30,
    }
  },
}

/** Some messages, each with as much text as fits. */
function bodyOfFourMegabytes(phoneNumberId: string): string {
  const filler = 'x'.repeat(65_000)
  const messages = Array.from({ length: 61 }, () => text(newWamid(), filler))
  return JSON.stringify(webhookOf(phoneNumberId, messages))
}

const memoryMb = (pid: number | undefined, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
