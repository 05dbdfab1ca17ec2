import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Installs the dependencies if they are missing, were cut short, or are not those of the lock file. */
export async function ensureInstalled(root) {
  if (isCurrent(root)) return
  const lock = join(root, '.installing')
  await takeLock(lock)
  try {
    if (!isCurrent(root)) await install(root)
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * npm writes node_modules/.package-lock.json as the last thing of an installation. It is current if it has every package
 * of the lock file that this platform needs, in the same version.
 */
function isCurrent(root) {
  const wanted = readPackages(join(root, 'package-lock.json'))
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (!wanted || !present) return false
  return Object.entries(wanted).every(([path, { version, link, os, cpu, libc, optional }]) => {
    if (!path.startsWith('node_modules/') || link) return true
    if (!allows(os, process.platform) || !allows(cpu, process.arch)) return true
    const there = present[path]
    // Which C library this is, npm finds out; a package for the other one is simply not there.
    if (!there) return Boolean(libc) || (optional === true && !os && !cpu)
    return there.version === version
  })
}

const allows = (list, value) => !list || list.includes(value)

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

async function install(root) {
  const again = existsSync(join(root, 'node_modules'))
  say(again ? 'The dependencies have changed; installing them…' : 'First start: installing the dependencies…')
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  const progress = setInterval(() => say(`  still installing (${seconds()} s)`), 10_000)
  try {
    await npmCi(root)
  } finally {
    clearInterval(progress)
  }
  if (!isCurrent(root)) {
    throw new Error('npm finished, but some dependencies are still missing. Delete node_modules and try again.')
  }
  say(`Dependencies installed (${seconds()} s).`)
}

function npmCi(root) {
  const args = [
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  // Within an npm script this is the npm that runs it.
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let words = ''
  const keep = (chunk) => {
    words = (words + chunk).slice(-4000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`npm could not be run: ${error.message}`)))
    child.on('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`The dependencies could not be installed; npm said:\n${words.trim()}`))
    })
  })
}

/** One installation at a time; the lock of a process that is gone does not count. */
async function takeLock(file) {
  for (let told = false; ; await sleep(500)) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw new Error(`The dependencies cannot be installed here: ${error.message}`)
    }
    if (!isAlive(Number(readOwner(file)))) {
      rmSync(file, { force: true })
    } else if (!told) {
      say('Another process is installing the dependencies; waiting for it…')
      told = true
    }
  }
}

function readOwner(file) {
  try {
    return readFileSync(file, 'utf8') || process.pid
  } catch {
    return process.pid
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** On standard error: standard output belongs to the program that runs afterwards. */
function say(line) {
  process.stderr.write(`${line}\n`)
}
