import type { Clock } from '../../lib/clock.ts'
import { type Deprecation, defaultGraphVersion, deprecations, graphVersions } from '../../whatsapp/graph/versions.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** Time to change a setting, or to update. */
const warningMs = 90 * 86_400_000

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

export function checkGraphVersion(clock: Clock, set: string | null): Finding {
  const version = set ?? defaultGraphVersion
  const end = graphVersions.get(version)
  const latest = [...graphVersions.keys()].at(-1) ?? ''
  const remedy = `Update Parley, or set PARLEY_GRAPH_VERSION to ${latest} in every process.`
  if (end === undefined) {
    return warning('Graph version', `The end of version ${version} is not known to this version of Parley.`, { remedy })
  }
  if (end === null) return ok('Graph version', `Requests use ${version}. Meta has not set its end.`)
  const leftMs = end.getTime() - clock.now().getTime()
  if (leftMs > warningMs) return ok('Graph version', `Requests use ${version}, until ${dayOf(end)}.`)
  const effect = 'After that day, Meta uses the oldest version that is left. Its responses may differ.'
  if (leftMs > 0) return warning('Graph version', `Meta ends version ${version} on ${dayOf(end)}.`, { effect, remedy })
  return problem('Graph version', `Meta ended version ${version} on ${dayOf(end)}.`, { effect, remedy })
}

export function checkDeprecations(clock: Clock, all: readonly Deprecation[] = deprecations): Finding {
  const near = all.filter(
    ({ ends, remedy }) => remedy !== null && ends !== null && ends.getTime() - clock.now().getTime() < warningMs,
  )
  const details = all.map(
    ({ what, ends, effect }) => `${what}: ${ends ? `ends on ${dayOf(ends)}` : 'no end set'}. ${effect}`,
  )
  if (near.length === 0) return ok('deprecations', `${count(all.length, 'deprecation')} at Meta, nothing to do.`)
  return warning('deprecations', `${count(near.length, 'part')} of the API ends soon.`, {
    details,
    remedy: near.map(({ remedy }) => remedy).join(' '),
  })
}
