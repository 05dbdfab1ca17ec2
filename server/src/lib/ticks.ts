import { createHook } from 'node:async_hooks'

/** Numbers in a tick grow with every request, and a shape ends when they outgrow it; by then the next one is kept. */
const renewMs = 60_000

/** Held here and read by nobody. */
const kept: { tick?: object; renewing?: NodeJS.Timeout } = {}

/**
 * Node makes an object for every `process.nextTick`, and several for every request. When V8 collects garbage while there
 * is not one of them, as in any pause, it forgets what they look like, and does not learn it a second time: from then on
 * each takes eight times as long to make. So one of them is kept for ever (docs/decisions/ticks.md).
 */
export function keepTicksQuick(): void {
  keepOne()
  kept.renewing ??= setInterval(keepOne, renewMs).unref()
}

function keepOne(): void {
  const init = (_id: number, type: string, _trigger: number, resource: object) => {
    if (type === 'TickObject') kept.tick = resource
  }
  const hook = createHook({ init, trackPromises: false }).enable()
  process.nextTick(() => {})
  hook.disable()
}
