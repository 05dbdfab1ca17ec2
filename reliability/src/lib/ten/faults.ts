import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CountingReceiver } from '../counting-receiver.ts'
import type { Postgres } from '../postgres.ts'
import type { Fleet, Member } from './fleet.ts'

interface Fault {
  name: string
  strike(): Promise<void>
}

const frozenMs = 15_000
const postgresFrozenMs = 10_000
const receiverGoneMs = 20_000
/** Documented: exit with 0 within 15 seconds. */
const stopMs = 15_000

export interface Faults {
  /** In the order in which they happen, again and again. */
  all: Fault[]
  /** When PostgreSQL crashed, in milliseconds. */
  crashes: number[]
  /** What a fault itself showed to be wrong. */
  problems: string[]
}

export function newFaults(postgres: Postgres, fleet: Fleet, receiver: CountingReceiver): Faults {
  const crashes: number[] = []
  const problems: string[] = []
  /** With a process to which nothing else happens. */
  const withMember = async (strike: (member: Member) => Promise<void>) => {
    const free = fleet.members.filter(({ isStruck }) => !isStruck)
    const member = free[Math.floor(Math.random() * free.length)]
    if (!member) return
    member.isStruck = true
    await strike(member).finally(() => {
      member.isStruck = false
    })
  }
  const proxies = fleet.members.flatMap(({ proxy }) => proxy ?? [])
  let turn = 0
  const nextProxy = () => proxies[turn++ % proxies.length]
  const fault = (name: string, strike: () => Promise<void>): Fault => ({ name, strike })
  return {
    crashes,
    problems,
    all: [
      fault('kill -9 of a process', () =>
        withMember(async (member) => {
          const { child } = member.service
          child.kill('SIGKILL')
          await once(child, 'exit')
          await fleet.replace(member)
        }),
      ),
      fault('a process is frozen', () =>
        withMember(async ({ service: { child } }) => {
          child.kill('SIGSTOP')
          await sleep(frozenMs)
          child.kill('SIGCONT')
        }),
      ),
      fault('the connections of a process are cut', async () => {
        const proxy = nextProxy()
        proxy?.cut()
        proxy?.restore()
      }),
      fault('the connections of a process go silent', async () => nextProxy()?.silence()),
      fault('PostgreSQL crashes', async () => {
        crashes.push(Date.now())
        await postgres.crash()
      }),
      fault('PostgreSQL is frozen', async () => {
        const resume = postgres.freeze()
        await sleep(postgresFrozenMs)
        resume()
      }),
      fault('SIGTERM of a process', () =>
        withMember(async (member) => {
          const began = performance.now()
          const code = await member.service.stop()
          const tookMs = performance.now() - began
          if (code !== 0 || tookMs > stopMs)
            problems.push(`a process exited with ${code} ${(tookMs / 1000).toFixed(1)} s after SIGTERM`)
          await fleet.replace(member)
        }),
      ),
      fault('the receivers are gone', async () => {
        receiver.cut()
        await sleep(receiverGoneMs)
        await receiver.restore()
      }),
    ],
  }
}
