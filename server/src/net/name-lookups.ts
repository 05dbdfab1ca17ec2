import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { deleteOldest } from '../lib/delete-oldest.ts'
import { FairQueue } from '../sharing/fair-queue.ts'
import type { Counters } from '../telemetry/counters.ts'
import type { Logger } from '../telemetry/logger.ts'
import { silentLogger } from '../telemetry/silent-logger.ts'
import { LookupError } from './lookup-error.ts'
import { type Address, SystemNames } from './system-names.ts'

export interface LookupOptions {
  /** `address` or `address:port`; none for those of the system. */
  servers?: readonly string[]
  log?: Logger
  /** Counts look-ups by outcome under `name lookups`. */
  metrics?: Counters
  deadlineMs?: number
  hostsFile?: string
  resolvConfFile?: string
}

/** Together with `lineMaxMs` and `againMaxMs` this is less than the ten seconds of an attempt. */
const lookupMaxMs = 4_000
/** How long a look-up waits for another of its workspace to end. */
const lineMaxMs = 2_000
/** How long the question whether the resolver works may take. */
const checkMaxMs = 2_000
/** Meanwhile the name is asked for again, a little longer: if the resolver only stalled, it responds to both. */
const againMaxMs = checkMaxMs + 500
/** Once there are IPv4 addresses, those of IPv6 get this long. */
const otherFamilyMs = 500

/** Names that one workspace may have in progress. Each takes `lookupMaxMs` and `againMaxMs` if its name server hangs. */
const perWorkspaceMax = 16
const perWorkspaceWaitingMax = 1_000

const cachedMax = 10_000
/** A name with more addresses is looked up each time, so that the cache stays small. */
const cachedAddressesMax = 32
const ttlMinMs = 5_000
/** A moved endpoint is reached at its new address after at most this long, whatever its TTL says. */
const ttlMaxMs = 300_000
/** Short, because people correct a name and try again. */
const failureTtlMs = 5_000

/** Names whose zones are asked whether the resolver works. */
const knownMax = 100
/** A made-up name below a longer one would be too long: c-ares rejects it without asking. */
const knownLengthMax = 200
const askedMax = 3
const checkValidMs = 2_000
const logEveryMs = 60_000

type Outcome = Address[] | LookupError

interface CachedOutcome {
  outcome: Outcome
  untilMs: number
}

/**
 * Looks up host names that customers chose, through c-ares: unlike the system's `getaddrinfo` it needs no thread for each
 * name, so names that hang do not delay others. See docs/project/decisions/name-lookups.md.
 */
export class NameLookups {
  readonly #options: LookupOptions & { log: Logger }
  readonly #system: SystemNames
  readonly #cache = new Map<string, CachedOutcome>()
  readonly #inProgress = new Map<string, Promise<Outcome>>()
  readonly #queue = new FairQueue({
    runningPerOwner: perWorkspaceMax,
    waitingPerOwner: perWorkspaceWaitingMax,
    waitMs: lineMaxMs,
    refusal: () => new LookupError('too_many'),
  })
  /** Names that were resolved, the latest last. */
  readonly #known = new Map<string, true>()
  #resolver: Resolver | undefined
  #resolverVersion = ''
  #check: { isWorking: Promise<boolean>; untilMs: number } | undefined
  #isDown = false
  #loggedMs = Number.NEGATIVE_INFINITY

  constructor(options: LookupOptions = {}) {
    this.#options = { log: silentLogger, ...options }
    this.#system = new SystemNames(options)
  }

  /** All addresses of a name, IPv4 first. Throws a LookupError. `workspaceId` is who is charged for it. */
  readonly resolve = async (hostname: string, workspaceId = ''): Promise<Address[]> => {
    const name = hostname.toLowerCase()
    const local = this.#system.addressesOf(name.replace(/\.$/, ''))
    if (local) return local
    const outcome = this.#cached(name) ?? (await (this.#inProgress.get(name) ?? this.#inLine(name, workspaceId)))
    if (outcome instanceof LookupError) throw outcome
    return outcome
  }

  #cached(name: string): Outcome | undefined {
    const cached = this.#cache.get(name)
    return cached && performance.now() < cached.untilMs ? cached.outcome : undefined
  }

  /** Waits until the workspace has fewer than `perWorkspaceMax` names in progress. */
  async #inLine(name: string, workspaceId: string): Promise<Outcome> {
    const lookUp = async () => this.#cached(name) ?? this.#inProgress.get(name) ?? this.#begin(name)
    try {
      return await this.#queue.run(workspaceId, lookUp)
    } catch (error) {
      if (!(error instanceof LookupError)) throw error
      this.#options.metrics?.add('name lookups', error.reason)
      return error
    }
  }

  #begin(name: string): Promise<Outcome> {
    const lookup = this.#lookUp(name).finally(() => this.#inProgress.delete(name))
    this.#inProgress.set(name, lookup)
    return lookup
  }

  async #lookUp(name: string): Promise<Outcome> {
    const maxMs = this.#options.deadlineMs ?? lookupMaxMs
    let { response, candidate } = await this.#askInOrder(name, maxMs)
    let isWorking = true
    if (response === 'no_response') {
      const check = this.#isWorking(candidate)
      ;({ response, candidate } = await this.#askInOrder(name, Math.min(maxMs, againMaxMs)))
      isWorking = response !== 'no_response' || (await check)
    }
    const outcome = outcomeOf(response, isWorking)
    if (typeof response === 'object') this.#remember(candidate)
    else if (response === 'no_response' && isWorking) this.#known.delete(candidate)
    if (response !== 'no_response') this.#onWorking()
    if (!isWorking) this.#onDown()
    this.#options.metrics?.add('name lookups', outcome instanceof LookupError ? outcome.reason : 'found')
    this.#keep(name, outcome, typeof response === 'object' ? response.ttlMs : failureTtlMs)
    return outcome
  }

  /** Asks for the candidates of a name until one is not "not found". */
  async #askInOrder(name: string, maxMs: number): Promise<{ response: DnsResponse; candidate: string }> {
    const deadlineMs = performance.now() + maxMs
    let asked: { response: DnsResponse; candidate: string } = { response: 'not_found', candidate: name }
    for (const candidate of this.#system.candidatesOf(name)) {
      asked = { response: await this.#ask(candidate, deadlineMs), candidate }
      if (asked.response !== 'not_found') break
    }
    return asked
  }

  #remember(candidate: string): void {
    if (candidate.length > knownLengthMax) return
    this.#known.delete(candidate)
    this.#known.set(candidate, true)
    deleteOldest(this.#known, knownMax)
  }

  #keep(name: string, outcome: Outcome, ttlMs: number): void {
    this.#cache.delete(name)
    // A name that fails because of us is asked for again by the next attempt: each takes a while, and that is its pace.
    if (outcome instanceof LookupError ? outcome.isOurs : outcome.length > cachedAddressesMax) return
    this.#cache.set(name, { outcome, untilMs: performance.now() + Math.min(ttlMaxMs, Math.max(ttlMinMs, ttlMs)) })
    deleteOldest(this.#cache, cachedMax)
  }

  /**
   * Whether the resolver responds for other names than `candidate`. It is asked for made-up names below names that it has
   * resolved, because a resolver that cannot reach other name servers any more still returns what it has cached. A process
   * that has resolved no other name asks below the top-level domain of this one.
   */
  #isWorking(candidate: string): Promise<boolean> {
    const nowMs = performance.now()
    if (!this.#check || this.#check.untilMs < nowMs) {
      const others = [...this.#known.keys()].filter((name) => name !== candidate)
      const topLevel = candidate.includes('.') ? [candidate.slice(candidate.lastIndexOf('.') + 1)] : []
      const parents = others.length > 0 ? pickSome(others, askedMax) : topLevel
      const names = parents.map((name) => `parley-${randomHex()}.${name}`)
      const asked = names.length > 0 ? names.map((name) => this.#ask(name, nowMs + checkMaxMs)) : [this.#askRoot()]
      const isWorking = firstTrue(asked.map(async (response) => (await response) !== 'no_response'))
      this.#check = { isWorking, untilMs: nowMs + checkValidMs }
    }
    return this.#check.isWorking
  }

  /** For a name without a dot, in a process that has resolved no other. */
  async #askRoot(): Promise<DnsResponse> {
    const asked = this.#currentResolver()
      .resolveNs('.')
      .then(() => 'not_found' as const, responseOf)
    return (await within(checkMaxMs, asked)) ?? 'no_response'
  }

  /**
   * Both address families. If only one has addresses, those are used. IPv4 is waited for until the deadline,
   * because many machines reach no other: without it, a lost packet would make a healthy endpoint fail.
   */
  async #ask(name: string, deadlineMs: number): Promise<DnsResponse> {
    const resolver = this.#currentResolver()
    const found = (family: number) => (records: { address: string; ttl: number }[]) => ({
      addresses: records.map(({ address }) => ({ address, family })),
      ttlMs: Math.min(...records.map(({ ttl }) => ttl * 1000)),
    })
    const v4: Promise<DnsResponse> = resolver.resolve4(name, { ttl: true }).then(found(4), responseOf)
    const v6: Promise<DnsResponse> = resolver.resolve6(name, { ttl: true }).then(found(6), responseOf)
    const leftMs = () => Math.max(0, deadlineMs - performance.now())
    const a = (await within(leftMs(), v4)) ?? 'no_response'
    const b = (await within(typeof a === 'object' ? otherFamilyMs : leftMs(), v6)) ?? 'no_response'
    return merge(a, b)
  }

  /** A new one whenever /etc/resolv.conf has changed: c-ares reads it only once. */
  #currentResolver(): Resolver {
    const { servers = [] } = this.#options
    const version = this.#system.resolvConfVersion
    if (this.#resolver && this.#resolverVersion === version) return this.#resolver
    // c-ares waits a quarter of a second if the server is usually fast, then doubles it: five tries take over 5 seconds.
    this.#resolver = new Resolver({ timeout: 1_000, maxTimeout: 2_000, tries: 5 })
    if (servers.length > 0) this.#resolver.setServers(servers)
    this.#resolverVersion = version
    return this.#resolver
  }

  #onDown(): void {
    this.#isDown = true
    const { log } = this.#options
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < logEveryMs) return
    this.#loggedMs = nowMs
    const fields = { event: 'resolver.no_response', servers: this.#currentResolver().getServers() } as const
    log.warn(fields, 'the name servers of this installation do not respond; deliveries wait')
  }

  #onWorking(): void {
    if (!this.#isDown) return
    this.#isDown = false
    this.#loggedMs = Number.NEGATIVE_INFINITY
    const { log } = this.#options
    log.info({ event: 'resolver.recovered' }, 'the name servers of this installation respond again')
  }
}

type DnsResponse = { addresses: Address[]; ttlMs: number } | 'not_found' | 'no_response'

const notFoundCodes = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY', 'ERR_INVALID_ARG_VALUE'])

const responseOf = (error: NodeJS.ErrnoException): DnsResponse =>
  notFoundCodes.has(error.code ?? '') ? 'not_found' : 'no_response'

/** A name without a response is our failure unless the resolver works for others. */
function outcomeOf(response: DnsResponse, isWorking: boolean): Outcome {
  if (typeof response === 'object') return response.addresses
  return new LookupError(isWorking ? response : 'resolver_down')
}

function merge(v4: DnsResponse, v6: DnsResponse): DnsResponse {
  const found = [v4, v6].filter((each) => typeof each === 'object')
  if (found.length > 0) {
    return {
      addresses: found.flatMap(({ addresses }) => addresses),
      // The other family may have addresses too: it is asked for again soon.
      ttlMs: v4 === 'no_response' || v6 === 'no_response' ? 0 : Math.min(...found.map(({ ttlMs }) => ttlMs)),
    }
  }
  return v4 === 'no_response' || v6 === 'no_response' ? 'no_response' : 'not_found'
}

const randomHex = (): string => randomBytes(6).toString('hex')

function pickSome<Item>(items: Item[], count: number): Item[] {
  const picked: Item[] = []
  while (picked.length < count && items.length > 0) {
    picked.push(...items.splice(Math.floor(Math.random() * items.length), 1))
  }
  return picked
}

const firstTrue = (promises: Promise<boolean>[]): Promise<boolean> =>
  Promise.any(
    promises.map(async (each) => {
      if (!(await each)) throw new Error('no response')
      return true
    }),
  ).catch(() => false)

async function within<Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([value, late]).finally(() => clearTimeout(timer))
}
