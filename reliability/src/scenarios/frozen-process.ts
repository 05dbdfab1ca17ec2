import { setTimeout as sleep } from 'node:timers/promises'
import { postWebhook, statusWebhook } from '../lib/network-posts.ts'
import { openPostgres } from '../lib/postgres.ts'
import type { Scenario } from '../lib/scenario.ts'
import { isReady, type LoadedShop, list, openShop, secondsUntil } from '../lib/shop.ts'

const rounds = 20
const wantedSeconds = 10
/** Statuses of as many messages are posted again and again, in webhooks of ten, in any order. */
const reported = 50

/**
 * Two processes receive, send, and get the statuses of the same messages, as when the network repeats a webhook. One is frozen with
 * SIGSTOP at a random moment, perhaps in a transaction. The other has to continue with all of it.
 */
export const scenario: Scenario = {
  name: 'frozen-process',
  wanted: `the other continues within ${wantedSeconds} s, statuses included, nothing lost`,
  async run(say) {
    const postgres = await openPostgres()
    const shop = await openShop(postgres.connection)
    // The statuses come from here, not from the simulated network.
    const never = 3_600_000
    shop.control.switches.set({ sentAfterMs: never, deliveredAfterMs: never, readAfterMs: null, respondAfterMs: 0 })
    const frozen = await shop.start()
    const other = await shop.start()
    let worst: number[] = []
    let isBack = true
    for (let n = 0; n < 20; n++) await shop.send(other.url)
    for (let round = 1; round <= rounds; round++) {
      const report = await newReport(shop)
      let isOver = false
      const works = [shop.receive, shop.send, report, report]
      const loads = [frozen.url, other.url].flatMap((url) =>
        works.map(async (work) => {
          while (!isOver) if (!(await work(url))) await sleep(20)
        }),
      )
      await sleep(100 + Math.random() * 500)
      frozen.child.kill('SIGSTOP')
      // Several of each, because only some may need what the frozen process has locked.
      const times = (work: (url: string) => Promise<boolean>, count: number) =>
        Promise.all(Array.from({ length: count }, () => secondsUntil(() => work(other.url))))
      const seconds = (await Promise.all([times(shop.receive, 5), times(shop.send, 5), times(report, 10)])).map(
        (each) => Math.max(...each),
      )
      isOver = true
      frozen.child.kill('SIGCONT')
      await Promise.all(loads)
      isBack &&= (await secondsUntil(() => isReady(frozen.url))) < 30
      worst = seconds.map((each, index) => Math.max(each, worst[index] ?? 0))
      say(`round ${round}, seconds: ${list(seconds)} (receives, sends, statuses)`)
    }
    const { problems, summary } = await shop.prove(say)
    for (const { child } of [frozen, other]) child.kill('SIGKILL')
    await shop.close()
    await postgres.close()
    return {
      figure: `receives, sends, statuses after ${list(worst)} s at most; ${summary}`,
      ok: isBack && Math.max(...worst) <= wantedSeconds && problems.length === 0,
    }
  },
}

/** Posts the status of ten of the latest messages. Returns whether it was acknowledged. */
async function newReport({ db, app, phoneNumberId }: LoadedShop): Promise<(url: string) => Promise<boolean>> {
  const messages = await db.rows<{ wamid: string; id: string; to: string }>(
    `select wa_message_id as wamid, 'msg_' || id as id, recipient as to from messages where wa_message_id is not null
     order by created_at desc limit ${reported}`,
  )
  return async (url) => {
    const shuffled = messages.map((message) => ({ message, order: Math.random() })).sort((a, b) => a.order - b.order)
    const some = shuffled.slice(0, 10).map(({ message }) => message)
    const status = Math.random() < 0.5 ? 'delivered' : 'read'
    return (await postWebhook(app, url, statusWebhook(phoneNumberId, some, status), 30_000)) === 200
  }
}
