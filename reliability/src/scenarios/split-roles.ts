import { compareRoles } from '../../../bench/src/roles.ts'

/** An `api` process and a worker, compared with one process that does both: the time to the receiver, and the throughput. */
export const scenario = {
  name: 'split-roles',
  wanted:
    'the p50 from WhatsApp’s webhook to the delivery is at most 3 times the p50 of one process; nothing lost or twice',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const figures = await compareRoles(say, { rounds: 3, withTwoWorkers: false })
    const all = figures.get('all')
    const split = figures.get('api + worker')
    if (!all || !split) throw new Error('a setup was not measured')
    const slower = split.p50Ms / all.p50Ms
    const throughput = split.perSecond / all.perSecond
    const faults = split.missing + split.repeats
    return {
      figure: `p50 ${split.p50Ms.toFixed(1)} ms, ${slower.toFixed(1)} times; throughput ${throughput.toFixed(2)} times; missing ${split.missing}, repeats ${split.repeats}`,
      ok: slower <= 3 && faults === 0,
    }
  },
}
