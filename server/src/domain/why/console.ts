import { can, type Role } from '@parley/contract/console/permissions'
import type { WhyReport } from '@parley/contract/console/why'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { type ConnectionFacts, inspectConnection } from '../connections/configure/inspect.ts'
import type { Network } from '../connections/network.ts'
import { explain, locate, type Report } from './why.ts'

export interface WhyParts {
  network: Network
  publicUrl: string
  inspect: typeof inspectConnection
}

/** Long enough that no one can use up what all share at Meta: each inspection makes four calls or more. */
const sharedMs = 30_000

/** Inspects a connection once for all who ask within half a minute. */
export function newSharedInspection(): typeof inspectConnection {
  const recent = new Map<string, { at: number; facts: Promise<ConnectionFacts> }>()
  return (network, connectionId) => {
    const now = network.clock.now().getTime()
    for (const [id, { at }] of recent) if (Math.abs(now - at) >= sharedMs) recent.delete(id)
    const found = recent.get(connectionId) ?? { at: now, facts: inspectConnection(network, connectionId) }
    recent.set(connectionId, found)
    return found.facts
  }
}

interface Viewer {
  db: Db
  clock: Clock
  workspaceId: string
  role: Role
  person: { operator: boolean }
}

/** A workspace sees verdicts. URLs, IDs and Meta's words about the app and the account are for operators. */
export async function explainInConsole(parts: WhyParts, viewer: Viewer, about: string): Promise<WhyReport> {
  const { db, clock, role, workspaceId } = viewer
  const subject = (await locate(db, workspaceId, about)) ?? refuse('not_found')
  if (subject.kind === 'event' && !can(role, 'deliveries:read')) refuse('not_permitted')
  const report = await explain({ ...parts, db, clock, role }, workspaceId, subject)
  return toReport(report, { isConsole: true, isOperator: viewer.person.operator })
}

export const toReport = (
  { about, verdict, conclusion, remedy, consoleRemedy, stations, unseen }: Report,
  { isConsole, isOperator }: { isConsole: boolean; isOperator: boolean },
): WhyReport => ({
  object: 'why',
  about,
  verdict,
  conclusion,
  remedy: isConsole ? consoleRemedy : remedy,
  stations: stations.map((each) => ({
    station: each.station,
    verdict: each.verdict,
    at: each.at?.toISOString() ?? null,
    message: each.message,
    remedy: isConsole ? each.consoleRemedy : each.remedy,
    details: isOperator ? [...each.details] : [],
  })),
  unseen,
})
