import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { withLock } from './lock.mjs'

/** Installs the dependencies if they are missing, incomplete, or different from the lock file. */
export async function ensureInstalled(root) {
  if (isCurrent(root)) return
  const waiting = () => print('Another process is installing the dependencies; waiting for it…')
  try {
    await withLock(join(root, '.installing'), waiting, async (registerChild) => {
      if (!isCurrent(root)) await install(root, registerChild)
    })
  } catch (error) {
    if (!error.syscall) throw error
    throw new Error(`The dependencies are missing or out of date and cannot be installed: ${error.message}`)
  }
}

/**
 * npm writes node_modules/.package-lock.json at the end of an installation. The dependencies are current if that file has
 * every package of the lock file that this platform needs, in the same version, and their folders exist.
 */
export function isCurrent(root, { platform, arch } = process) {
  const locked = readPackages(join(root, 'package-lock.json'))
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (!locked || !present) return false
  const isForPlatform = ({ os, cpu }) => allows(os, platform) && allows(cpu, arch)
  const all = Object.entries(locked).every(([path, entry]) => {
    if (!path.includes('node_modules/') || !isForPlatform(entry)) return true
    // npm's list may leave out packages in the node_modules of a workspace.
    const found =
      present[path] ?? (path.startsWith('node_modules/') ? undefined : readJson(join(root, path, 'package.json')))
    // Only npm knows which C library this platform has; packages for the other one are missing.
    if (!found) return Boolean(entry.libc) || (entry.optional === true && !entry.os && !entry.cpu)
    // A link has no version, but the folder of its workspace.
    const isSame = entry.link ? found.resolved === entry.resolved : found.version === entry.version
    return isSame && existsSync(join(root, path, 'package.json'))
  })
  const bringsNode = Object.values(locked).some((entry) => entry.bin?.node && isForPlatform(entry))
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

async function install(root, registerChild) {
  const isReinstall = existsSync(join(root, 'node_modules'))
  print(isReinstall ? 'The dependencies are out of date. Installing them…' : 'First start: installing dependencies…')
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  const progress = setInterval(() => print(`  still installing (${seconds()} s)`), 10_000)
  // npm empties the folder in no particular order. If it is interrupted, the folder must not look complete.
  rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true })
  try {
    await npmCi(root, registerChild)
  } finally {
    clearInterval(progress)
  }
  if (!isCurrent(root)) {
    throw new Error('npm finished, but some dependencies are still missing. Delete node_modules and start again.')
  }
  print(`Dependencies installed (${seconds()} s).`)
}

function npmCi(root, registerChild) {
  const args = [
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    // Give up after about 30 seconds when offline, instead of retrying silently for a long time.
    '--fetch-retries=3',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=15000',
  ]
  // Inside an npm script, use the npm that runs it.
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []]
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid) registerChild(child.pid)
  // On a signal, npm has to end before the lock is released. Otherwise the next start would install into the same folder.
  let received
  const onSignal = (signal) => {
    received = signal
    child.kill('SIGKILL')
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  let output = ''
  const keep = (chunk) => {
    output = (output + chunk).slice(0, 20_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`npm could not be run: ${error.message}`)))
    child.on('close', (code) => {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
      if (received) process.exit(128 + constants.signals[received])
      if (code === 0) resolve()
      else reject(new Error(explainNpm(output)))
    })
  })
}

/** npm's error without its usage text. The most common causes, such as an unreachable registry, get a message of their own. */
export function explainNpm(output) {
  const lines = output
    .split('\n')
    .filter((line) => line.startsWith('npm error'))
    .map((line) => line.slice('npm error'.length).trim())
  const usageStart = lines.findIndex((line) => /^(Clean install a project|A complete log of this run)/.test(line))
  const errorLines = (usageStart < 0 ? lines : lines.slice(0, usageStart)).filter(Boolean)
  const code = errorLines.find((line) => line.startsWith('code '))?.slice('code '.length) ?? ''
  const networkErrors =
    /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)$/
  if (networkErrors.test(code)) {
    return `The dependencies could not be installed: the npm registry cannot be reached (${code}). Check your network connection and "npm config get registry", then start again.`
  }
  if (code === 'ENOSPC')
    return 'The dependencies could not be installed: the disk is full. Free some space and start again.'
  const shown = errorLines.length > 0 ? errorLines.slice(0, 12) : [output.trim().slice(-1000)]
  return ['The dependencies could not be installed. npm reported:', ...shown.map((line) => `  ${line}`)].join('\n')
}

/** Prints to standard error, because standard output belongs to the program that runs afterwards. */
function print(line) {
  process.stderr.write(`${line}\n`)
}
