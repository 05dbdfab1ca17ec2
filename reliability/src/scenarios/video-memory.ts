import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { callApi } from '../../../server/testing/call.ts'
import { startFileStore } from '../../../server/testing/file-store.ts'
import { until } from '../../../server/testing/until.ts'
import { upload } from '../../../server/testing/uploads.ts'
import { openPostgres } from '../lib/postgres.ts'
import type { Scenario } from '../lib/scenario.ts'
import { openShop } from '../lib/shop.ts'

const videoBytes = 16_000_000
/** Videos at the same time: no more than a workspace may have in progress, which is half of 16. */
const videoCount = 6
/** Holding the videos that are in progress would take 96 MB, and copies of them more. */
const growthMaxMB = 75

/** The most memory that a process has had, in megabytes. */
const peakMemoryMB = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Receives, serves, uploads and sends videos, and returns by how many megabytes the memory of the service grew. */
async function measure(env: Record<string, string>, say: (line: string) => void) {
  const postgres = await openPostgres()
  const shop = await openShop(postgres.connection)
  const { control, db, secret } = shop
  const { url, child } = await shop.start(env)
  const pid = child.pid ?? 0
  const phoneNumber = control.numbers.list().find(({ id }) => id === shop.phoneNumberId)?.phoneNumber ?? ''
  const sender = await db.first<{ id: string }>('select id from senders where phone_number_id = $1', [
    shop.phoneNumberId,
  ])
  const bytes = randomBytes(videoBytes)
  const base64 = bytes.toString('base64')
  const phoneOf = (index: number) => String(16_505_551_000 + index)
  const problems: string[] = []
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem)
  }
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers: { authorization: `Bearer ${secret}`, ...headers } })
  const fetchedFrom = (phone: string) =>
    db.first<{ id: string }>(
      `select m.id from inbound_messages m join flow_files f on f.message_id = m.id
       where m.sent_by = $1 and f.state = 'fetched' ${env.PARLEY_FILES_URL ? 'and f.object_key is not null' : ''}`,
      [phone],
    )

  async function passOn(index: number): Promise<void> {
    const { id } = await until('the video is stored', () => fetchedFrom(phoneOf(index)), 120_000)
    const path = `/v1/inbound_messages/msg_${id}/media`
    const part = Buffer.from(await (await get(path, { range: 'bytes=7999000-8001000' })).arrayBuffer())
    check(part.equals(bytes.subarray(7_999_000, 8_001_001)), `the part of video ${index} is wrong`)
    const whole = Buffer.from(await (await get(path)).arrayBuffer())
    check(sha256(whole) === sha256(bytes), `video ${index} is wrong`)
    const { status, body: media } = await upload({ url, secret }, whole, { mimeType: 'video/mp4' })
    check(status === 201 && media.sha256 === sha256(bytes), `the upload of video ${index} got ${status}`)
    const body = { sender_id: `snd_${sender?.id}`, to: phoneOf(index), type: 'video', video: { id: media.id } }
    const sent = await callApi(`${url}/v1/messages`, { method: 'POST', key: secret, body })
    if (sent.status !== 202) throw new Error(`sending a video got ${sent.status}: ${JSON.stringify(sent.body)}`)
    const message = await until('the video has arrived', () =>
      control.phones.messages(phoneOf(index)).find(({ direction }) => direction === 'out'),
    )
    check(/"id":"\d+"/.test(JSON.stringify(message.content)), `video ${index} was not sent by the ID of its upload`)
  }

  /** Passes on these videos, all at the same time. */
  async function pass(indexes: readonly number[]): Promise<void> {
    const video = { to: phoneNumber, base64, mimeType: 'video/mp4' }
    await Promise.all(indexes.map((index) => control.phones.video(phoneOf(index), video)))
    await control.idle()
    await Promise.all(indexes.map(passOn))
  }

  try {
    // Loads all code and fills the caches.
    await pass([0])
    const before = peakMemoryMB(pid)
    await pass(Array.from({ length: videoCount }, (_, index) => index + 1))
    const growth = peakMemoryMB(pid) - before
    say(`from ${Math.round(before)} MB by ${Math.round(growth)} MB`)
    for (const problem of problems) say(problem)
    return { growth, problems: problems.length }
  } finally {
    child.kill('SIGKILL')
    await shop.close()
    await postgres.close()
  }
}

/** Videos are stored in the database, and then in a file store. */
export const scenario: Scenario = {
  name: 'video-memory',
  wanted: `memory grows by less than ${growthMaxMB} MB while ${videoCount} videos of 16 MB are received, served, uploaded and sent; all arrive whole`,
  async run(say) {
    const inDatabase = await measure({}, say)
    const store = await startFileStore()
    try {
      const inStore = await measure(store.env, say)
      return {
        figure: `by ${Math.round(inDatabase.growth)} MB, with a file store by ${Math.round(inStore.growth)} MB; ${inDatabase.problems + inStore.problems} problems`,
        ok: [inDatabase, inStore].every(({ growth, problems }) => growth < growthMaxMB && problems === 0),
      }
    } finally {
      await store.remove()
    }
  },
}
