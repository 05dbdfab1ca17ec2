import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

export interface Address {
  address: string
  family: number
}

/** Larger files are not read: reading blocks the process. */
const fileMaxBytes = 1024 * 1024
const checkEveryMs = 1_000
/** As many as the system's resolver tries. */
const searchMax = 6

/** What the machine knows about names without asking a name server: /etc/hosts and the search domains. */
export class SystemNames {
  readonly #hosts: WatchedFile<Map<string, Address[]>>
  readonly #resolvConf: WatchedFile<string[]>

  constructor({ hostsFile = '/etc/hosts', resolvConfFile = '/etc/resolv.conf' } = {}) {
    this.#hosts = new WatchedFile(hostsFile, parseHosts)
    this.#resolvConf = new WatchedFile(resolvConfFile, parseSearch)
  }

  /** The addresses of a name in /etc/hosts. `localhost` and names under it always have addresses. */
  addressesOf(name: string): Address[] | undefined {
    const isLocal = /(^|\.)localhost$/.test(name)
    const found = this.#hosts.read().get(isLocal ? 'localhost' : name)
    return found ?? (isLocal ? loopbackAddresses : undefined)
  }

  /** Changes whenever /etc/resolv.conf does. */
  get resolvConfVersion(): string {
    this.#resolvConf.read()
    return this.#resolvConf.version
  }

  /**
   * The names to ask for, in order. A name with a dot is usually a public one and is asked for as it is first, whatever
   * `ndots` says; with the order of `ndots:5` (Kubernetes) each public name would cost several queries that find nothing.
   */
  candidatesOf(name: string): string[] {
    if (name.endsWith('.')) return [name.slice(0, -1)]
    const searched = this.#resolvConf.read().map((domain) => `${name}.${domain}`)
    return name.includes('.') ? [name, ...searched] : [...searched, name]
  }
}

const loopbackAddresses: Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** A small file that is read again when it has changed. A file that cannot be read is empty. */
class WatchedFile<Content> {
  readonly #path: string
  readonly #parse: (text: string) => Content
  #content: Content
  #checkedMs = Number.NEGATIVE_INFINITY
  version = ''

  constructor(path: string, parse: (text: string) => Content) {
    this.#path = path
    this.#parse = parse
    this.#content = parse('')
  }

  read(): Content {
    const nowMs = performance.now()
    if (nowMs - this.#checkedMs < checkEveryMs) return this.#content
    this.#checkedMs = nowMs
    const stat = statSync(this.#path, { throwIfNoEntry: false })
    const version = stat?.isFile() && stat.size <= fileMaxBytes ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : ''
    if (version !== this.version) {
      this.version = version
      this.#content = this.#parse(version === '' ? '' : readText(this.#path))
    }
    return this.#content
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const wordsOf = (line: string): string[] =>
  line
    .replace(/[#;].*/, '')
    .trim()
    .split(/\s+/)

function parseHosts(text: string): Map<string, Address[]> {
  const hosts = new Map<string, Address[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line)
    const family = isIP(address)
    if (family === 0 || address.includes('%')) continue
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '')
      const known = hosts.get(key) ?? []
      if (!known.some((each) => each.address === address)) hosts.set(key, [...known, { address, family }])
    }
  }
  return hosts
}

/** The last `search` or `domain` line counts, as in the system's resolver. */
function parseSearch(text: string): string[] {
  let domains: string[] = []
  for (const line of text.split('\n')) {
    const [keyword, ...words] = wordsOf(line)
    if (keyword === 'search') domains = words
    else if (keyword === 'domain') domains = words.slice(0, 1)
  }
  return domains.slice(0, searchMax).flatMap((domain) => domain.toLowerCase().replace(/^\.|\.$/g, '') || [])
}
