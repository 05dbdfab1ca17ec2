import type { AuditEntry } from '@parley/contract/console/audit'
import type { OperatedPerson, Price } from '@parley/contract/console/operator'
import type { HandedLink } from '@parley/contract/console/team'
import type { OperatedWorkspace } from '@parley/contract/console/workspace'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useList, useWhole } from '../../lib/query.ts'
import { useRenewSession } from '../../lib/session.ts'

export type { AuditEntry, HandedLink, OperatedPerson, OperatedWorkspace, Price }

const workspaces = 'operator/workspaces'
const prices = 'operator/prices'

export const useWorkspaces = () => useWhole<OperatedWorkspace>(workspaces)
export const usePeople = () => useWhole<OperatedPerson>('operator/people')
export const usePrices = () => useWhole<Price>(prices)
export const useInstanceLog = () => useList<AuditEntry>('operator/audit')

/** What the operator does with workspaces; each asks for what it changed anew. */
export function useOperatorDeeds() {
  const client = useQueryClient()
  const renewSession = useRenewSession()
  const renewed = async <Answer>(answer: Promise<Answer>, path = workspaces): Promise<Answer> => {
    const given = await answer
    await Promise.all([
      client.invalidateQueries({ queryKey: [path] }),
      client.invalidateQueries({ queryKey: ['operator/audit'] }),
      renewSession(),
    ])
    return given
  }
  const post = <Answer>(id: string, deed: string, body?: object) =>
    renewed(api<Answer>(`${workspaces}/${id}/${deed}`, { method: 'POST', body }))
  return {
    create: (name: string) => renewed(api<{ id: string }>(workspaces, { method: 'POST', body: { name } })),
    suspend: (id: string, reason: string) => post(id, 'suspend', { reason }),
    resume: (id: string) => post(id, 'resume'),
    credit: (id: string, amount: number, note: string) => post<{ balance: number }>(id, 'credits', { amount, note }),
    inviteAdmin: (id: string, email: string) => post<HandedLink>(id, 'invites', { email }),
    resetLink: (personId: string) =>
      renewed(api<HandedLink>(`operator/people/${personId}/reset-link`, { method: 'POST' }), 'operator/people'),
    removePasskey: (personId: string, id: string) =>
      renewed(api(`operator/people/${personId}/passkeys/${id}`, { method: 'DELETE' }), 'operator/people'),
    setPrice: (item: string, credits: number) =>
      renewed(api<Price>(`${prices}/${encodeURIComponent(item)}`, { method: 'PUT', body: { credits } }), prices),
  }
}
