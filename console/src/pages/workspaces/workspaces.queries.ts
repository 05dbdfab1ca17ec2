import type { AuditEntry } from '@parley/contract/console/audit'
import type { OperatedPerson, Price } from '@parley/contract/console/operator'
import type { CreatedLink } from '@parley/contract/console/team'
import type { OperatedWorkspace } from '@parley/contract/console/workspace'
import type { Query, Send } from '../../lib/api.ts'
import { formatCredits } from '../../lib/format.ts'
import { useData, useList, useUnpagedList } from '../../lib/query.ts'
import { useAction } from '../../lib/use-action.ts'
import type { AuditFacets } from '../../parts/audit-filters.ts'
import { priceLabel } from '../../parts/price-columns.tsx'

export type { AuditEntry, CreatedLink, OperatedPerson, OperatedWorkspace, Price }

const workspaces = 'operator/workspaces'
const prices = 'operator/prices'

export const useWorkspaces = () => useUnpagedList<OperatedWorkspace>(workspaces)
export const usePeople = () => useUnpagedList<OperatedPerson>('operator/people')
export const usePrices = () => useUnpagedList<Price>(prices)
export const useInstallationLog = (filters: Query) => useList<AuditEntry>('operator/audit', filters)
export const useInstallationFacets = () => useData<AuditFacets>('operator/audit/facets')

/** An action by an operator. Refetches the operator pages and the session, which lists the workspaces. */
const useOperatorAction = <Input = void, Result = unknown>(
  perform: (send: Send, input: Input) => Promise<Result>,
  done?: (result: Result, input: Input) => string,
) => useAction(perform, { refetch: ['operator/', 'session'], ...(done ? { done } : {}) })

export const useCreateWorkspace = () =>
  useOperatorAction(
    (send, name: string) => send<{ id: string }>('POST', workspaces, { name }),
    (_, name) => `${name} created. Invite its first admin next.`,
  )

export const useSuspend = ({ id, name }: OperatedWorkspace) =>
  useOperatorAction(
    (send, reason: string) => send('POST', `${workspaces}/${id}/suspend`, { reason }),
    () => `${name} suspended`,
  )

export const useResume = ({ id, name }: OperatedWorkspace) =>
  useOperatorAction(
    (send) => send('POST', `${workspaces}/${id}/resume`),
    () => `${name} resumed`,
  )

export const useCredit = ({ id, name }: OperatedWorkspace) =>
  useOperatorAction(
    (send, entry: { amount: number; note: string }) =>
      send<{ balance: number }>('POST', `${workspaces}/${id}/credits`, entry),
    ({ balance }) => `${name} now has ${formatCredits(balance)} credits`,
  )

export const useInviteAdmin = ({ id }: OperatedWorkspace) =>
  useOperatorAction((send, email: string) => send<CreatedLink>('POST', `${workspaces}/${id}/invites`, { email }))

export const useResetLink = () =>
  useOperatorAction(async (send, person: OperatedPerson) => {
    const link = await send<CreatedLink>('POST', `operator/people/${person.id}/reset-link`)
    return { person, link }
  })

export const useDisable = () =>
  useOperatorAction(
    (send, { id }: OperatedPerson) => send('POST', `operator/people/${id}/disable`),
    (_, { email }) => `${email} disabled`,
  )

export const useEnable = () =>
  useOperatorAction(
    (send, { id }: OperatedPerson) => send('POST', `operator/people/${id}/enable`),
    (_, { email }) => `${email} enabled`,
  )

export const useRemovePasskey = (person: OperatedPerson | null) =>
  useOperatorAction(
    (send, id: string) => send('DELETE', `operator/people/${person?.id}/passkeys/${id}`),
    () => 'Passkey removed',
  )

export const useSetPrice = (item: string) =>
  useOperatorAction(
    (send, credits: number) => send<Price>('PUT', `${prices}/${encodeURIComponent(item)}`, { credits }),
    (_, credits) => `Price saved: ${priceLabel(item)} ${formatCredits(credits)}`,
  )
