import { ingressPath, requireApp } from '../connections/apps.ts'
import { type ConnectionFacts, inspectConnection, isCallbackOf } from '../connections/configure/inspect.ts'
import { type Connection, listConnections } from '../connections/connections.ts'
import type { Network } from '../connections/network.ts'
import { accountChecks } from './account-checks.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'
import { faultOf } from './network.ts'
import { type Station, wrong } from './station.ts'

/** Asks Meta about every account. One finding for each check. */
export async function checkAccounts(
  network: Network,
  publicUrl: string,
  onProgress: (done: number, all: number) => void,
): Promise<Finding[]> {
  const connections = await listConnections(network.db)
  const found: { connection: Connection; station: Station }[] = []
  for (const [index, connection] of connections.entries()) {
    onProgress(index, connections.length)
    const inspection = inspectConnection(network, connection.id)
    const stations = await accountStations(network, publicUrl, connection, null, inspection)
    for (const station of stations) found.push({ connection, station })
  }
  return accountChecks.map(({ name, failed, passed }) => {
    if (connections.length === 0) return ok(name, 'No accounts connected yet.')
    const own = found.filter(({ station }) => station.station === name)
    const affected = own.filter(({ station: { verdict } }) => verdict === 'warning' || verdict === 'problem')
    const unknown = own.filter(({ station }) => station.verdict === 'unknown')
    const accounts = (rows: typeof own) =>
      `${new Set(rows.map(({ connection }) => connection.id)).size} of ${count(connections.length, 'account')}`
    if (affected.length === 0) {
      if (unknown.length === 0) return ok(name, passed)
      return ok(name, `Not checked for ${accounts(unknown)}.`, { details: unknown.map(lineOf) })
    }
    const isProblem = affected.some(({ station }) => station.verdict === 'problem')
    return (isProblem ? problem : warning)(name, `${failed} ${accounts(affected)}.`, {
      details: affected.map(lineOf),
      remedy: distinct(affected.map(({ connection, station }) => station.remedy?.replaceAll(connection.id, 'ID'))),
      consoleRemedy: distinct(affected.map(({ station }) => station.consoleRemedy)),
    })
  })
}

const lineOf = ({ connection: { id, wabaId }, station }: { connection: Connection; station: Station }): string =>
  [`${id} (account ${wabaId}): ${station.message}`, ...station.details].join(' ')

const distinct = (texts: readonly (string | null | undefined)[]): string | null =>
  [...new Set(texts.filter((text) => typeof text === 'string'))].join(' ') || null

/** What Meta says about an account, or about one of its numbers, by check. */
export async function accountStations(
  network: Network,
  publicUrl: string,
  connection: Connection,
  phoneNumberId: string | null,
  inspection: Promise<ConnectionFacts>,
): Promise<Station[]> {
  const { appId } = connection
  const stations: Station[] = []
  const fault = await faultOf(async () => {
    const meta = await inspection
    const app = await requireApp(network.db, appId)
    const isOurs = (url: string) => isCallbackOf(app, publicUrl, url)
    const callbackUrl = publicUrl + ingressPath(appId)
    const facts = { now: network.clock.now(), connection, phoneNumberId, callbackUrl, isOurs, meta }
    stations.push(...accountChecks.flatMap(({ run }) => run(facts)))
    return null
  })
  return fault === null ? stations : [wrong('access tokens', 'The account could not be checked.', { details: [fault] })]
}
