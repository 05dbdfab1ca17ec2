import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { withLock } from './lock.mjs'

/** Installs the dependencies if they are missing, were cut short, or are not those of the lock file. */
export async function ensureInstalled(root) {
  if (isCurrent(root)) return
  const waiting = () => say('Another process is installing the dependencies; waiting for it…')
  try {
    await withLock(join(root, '.installing'), waiting, async (nameChild) => {
      if (!isCurrent(root)) await install(root, nameChild)
    })
  } catch (error) {
    if (!error.syscall) throw error
    throw new Error(`The dependencies are missing or out of date, and cannot be installed here: ${error.message}`)
  }
}

/**
 * npm writes node_modules/.package-lock.json as the last thing of an installation. The dependencies are current if it has
 * every package of the lock file that this platform needs, in the same version, and their folders are there.
 */
export function isCurrent(root, { platform, arch } = process) {
  const wanted = readPackages(join(root, 'package-lock.json'))
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (!wanted || !present) return false
  const forThis = ({ os, cpu }) => allows(os, platform) && allows(cpu, arch)
  const all = Object.entries(wanted).every(([path, entry]) => {
    if (!path.includes('node_modules/') || !forThis(entry)) return true
    // npm's list may leave out what lies within a workspace's own node_modules.
    const there =
      present[path] ?? (path.startsWith('node_modules/') ? undefined : readJson(join(root, path, 'package.json')))
    // Which C library this is, npm finds out; a package for the other one is simply not there.
    if (!there) return Boolean(entry.libc) || (entry.optional === true && !entry.os && !entry.cpu)
    return there.version === entry.version && existsSync(join(root, path, 'package.json'))
  })
  const bringsNode = Object.values(wanted).some((entry) => entry.bin?.node && forThis(entry))
  return all && (!bringsNode || existsSync(join(root, 'node_modules', '.bin', 'node')))
}

const allows = (list, value) => !list || [list].flat().includes(value)

const readPackages = (file) => readJson(file)?.packages

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

async function install(root, nameChild) {
  const again = existsSync(join(root, 'node_modules'))
  say(
    again
      ? 'The dependencies are not those of the lock file; installing them…'
      : 'First start: installing the dependencies…',
  )
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  const progress = setInterval(() => say(`  still installing (${seconds()} s)`), 10_000)
  // npm empties the folder in no particular order: cut short, it must not look whole.
  rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true })
  try {
    await npmCi(root, nameChild)
  } finally {
    clearInterval(progress)
  }
  if (!isCurrent(root)) {
    throw new Error('npm finished, but some dependencies are still missing. Delete node_modules and try again.')
  }
  say(`Dependencies installed (${seconds()} s).`)
}

function npmCi(root, nameChild) {
  const args = [
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    // An hour's silence helps nobody who is offline: some 30 seconds of trying.
    '--fetch-retries=3',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=15000',
  ]
  // Within an npm script this is the npm that runs it.
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []]
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid) nameChild(child.pid)
  // Told to stop: npm has to be gone before the lock is, or the next start would install into the same folder beside it.
  let told
  const onSignal = (signal) => {
    told = signal
    child.kill('SIGKILL')
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  let words = ''
  const keep = (chunk) => {
    words = (words + chunk).slice(0, 20_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`npm could not be run: ${error.message}`)))
    child.on('close', (code) => {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
      if (told) process.exit(128 + constants.signals[told])
      if (code === 0) resolve()
      else reject(new Error(explainNpm(words)))
    })
  })
}

/** What npm said, without its manual; that it could not reach the registry comes first, for that is what it mostly is. */
export function explainNpm(words) {
  const lines = words
    .split('\n')
    .filter((line) => line.startsWith('npm error'))
    .map((line) => line.slice('npm error'.length).trim())
  const manual = lines.findIndex((line) => /^(Clean install a project|A complete log of this run)/.test(line))
  const said = (manual < 0 ? lines : lines.slice(0, manual)).filter(Boolean)
  const code = said.find((line) => line.startsWith('code '))?.slice('code '.length) ?? ''
  const away = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)$/
  if (away.test(code)) {
    return `The dependencies could not be installed: the npm registry cannot be reached (${code}). Check the network, or "npm config get registry", and start again.`
  }
  if (code === 'ENOSPC')
    return 'The dependencies could not be installed: the disk is full. Free some space and start again.'
  const shown = said.length > 0 ? said.slice(0, 12) : [words.trim().slice(-1000)]
  return ['The dependencies could not be installed; npm said:', ...shown.map((line) => `  ${line}`)].join('\n')
}

/** On standard error: standard output belongs to the program that runs afterwards. */
function say(line) {
  process.stderr.write(`${line}\n`)
}
