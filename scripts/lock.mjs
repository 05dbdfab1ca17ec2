import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const beatMs = 2000

/** No child works this long after its parent was killed; the number belongs to another program by then. */
const childMaxMs = 600_000

/**
 * Does the work while no other process does it. The lock is a file with the numbers of the processes that hold it, touched
 * every two seconds: where all of them are gone, or it has not been touched for long (their numbers may be others' by
 * now), it does not count. `work` is given a way to name a child that works on if this process is killed.
 */
export async function withLock(file, onWait, work, timeoutMs = 15_000) {
  await take(file, onWait, timeoutMs)
  const beat = setInterval(() => touch(file), beatMs)
  beat.unref()
  const drop = () => rmSync(file, { force: true })
  process.once('exit', drop)
  try {
    return await work((child) => writeFileSync(file, `${process.pid} ${child}`))
  } finally {
    clearInterval(beat)
    process.off('exit', drop)
    drop()
  }
}

async function take(file, onWait, timeoutMs) {
  for (let told = false; ; await sleep(100)) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      // Of two that cleared away the same dead lock, the later may have cleared away the earlier's new one.
      await sleep(50)
      if (readFileSync(file, 'utf8') === String(process.pid)) return
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
    }
    if (!isHeld(file, timeoutMs)) {
      rmSync(file, { force: true })
    } else if (!told) {
      onWait()
      told = true
    }
  }
}

function isHeld(file, timeoutMs) {
  try {
    const [holder, ...children] = readFileSync(file, 'utf8').split(' ').map(Number)
    const ageMs = Date.now() - statSync(file).mtimeMs
    if (ageMs < childMaxMs && children.some(isAlive)) return true
    // 0: made but not yet written, which is a matter of an instant. Our own number is that of an earlier life.
    return ageMs < timeoutMs && (holder === 0 || (holder !== process.pid && isAlive(holder)))
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

function touch(file) {
  try {
    utimesSync(file, new Date(), new Date())
  } catch {
    // Somebody took it away; the work goes on all the same.
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
