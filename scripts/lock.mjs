import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const heartbeatMs = 2000

/** No child runs this long after its parent was killed; by then, its PID belongs to another program. */
const childMaxMs = 600_000

/**
 * Runs `work` while no other process runs it. The lock is a file with the PIDs of its holders, touched every two seconds. It
 * is stale if all of them are gone, or if it has not been touched for long, because the PIDs may have been reused. `work` can
 * register the PID of a child process that keeps running if this process is killed.
 */
export async function withLock(file, onWait, work, timeoutMs = 15_000) {
  await take(file, onWait, timeoutMs)
  const heartbeat = setInterval(() => touch(file), heartbeatMs)
  heartbeat.unref()
  const release = () => rmSync(file, { force: true })
  process.once('exit', release)
  try {
    return await work((child) => writeFileSync(file, `${process.pid} ${child}`))
  } finally {
    clearInterval(heartbeat)
    process.off('exit', release)
    release()
  }
}

async function take(file, onWait, timeoutMs) {
  for (let hasWaited = false; ; await sleep(100)) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      // If two processes remove the same stale lock, the second may remove the new lock of the first. So check again.
      await sleep(50)
      if (readFileSync(file, 'utf8') === String(process.pid)) return
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
    }
    if (!isHeld(file, timeoutMs)) {
      rmSync(file, { force: true })
    } else if (!hasWaited) {
      onWait()
      hasWaited = true
    }
  }
}

function isHeld(file, timeoutMs) {
  try {
    const [holder, ...children] = readFileSync(file, 'utf8').split(' ').map(Number)
    const ageMs = Date.now() - statSync(file).mtimeMs
    if (ageMs < childMaxMs && children.some(isAlive)) return true
    // 0: created, but the PID is not written yet. Our own PID is from an earlier process with the same PID.
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
    // The file was removed; the work continues.
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
